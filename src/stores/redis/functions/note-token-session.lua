--[[ Record a session that a gateway opened for a token, so that it is revoked with the token. The answer is ENDED for a token that is unknown,
  expired or revoked. Sessions that have expired are removed from the list.
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
-- The list expires with its last session: a shorter session that is added later must not delete the others from the list.
redis.call('PEXPIREAT', sessions, redis.call('ZREVRANGE', sessions, 0, 0, 'WITHSCORES')[2])
return 'NOTED'
