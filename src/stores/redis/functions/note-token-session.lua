--[[ Note a session that a gateway opened for a token, so that it ends with the token. A token that does not work takes none. Those
  that have expired make room.
  KEYS     record, token, sessions
  ARGV     incarnation, session, lifetimeMs
  RETURNS  NOTED | ENDED ]]
local record, token, sessions = KEYS[1], KEYS[2], KEYS[3]
local incarnation, session, lifetime_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local REMOVED_AT_ONCE = 100

if not admission.same_store(record, incarnation) then return REPLACED end
local now = now_ms()
local known = admission.read(token)
if not known[1] or known[5] or now >= tonumber(known[4]) then return 'ENDED' end
local expired = redis.call('ZRANGEBYSCORE', sessions, '-inf', text(now), 'LIMIT', 0, REMOVED_AT_ONCE)
if #expired > 0 then redis.call('ZREM', sessions, unpack(expired)) end
redis.call('ZADD', sessions, text(now + lifetime_ms), session)
-- As long as the session that lives longest: a shorter one that is noted later must not make the others forgotten.
redis.call('PEXPIREAT', sessions, redis.call('ZREVRANGE', sessions, 0, 0, 'WITHSCORES')[2])
return 'NOTED'
