--[[ Take a token back, now. Again changes nothing. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     record, token, ends
  ARGV     incarnation, id, keptMs
  RETURNS  REVOKED | UNKNOWN ]]
local record, token, ends = KEYS[1], KEYS[2], KEYS[3]
local incarnation, id, kept_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])

if not admission.same_store(record, incarnation) then return REPLACED end
local known = admission.read(token)
if not known[1] then return 'UNKNOWN' end
if known[5] then return 'REVOKED' end
local now = now_ms()
redis.call('HSET', token, 'revokedAt', text(now))
-- One that has expired before keeps its earlier end.
local forget_at = text(math.min(now, tonumber(known[4])) + kept_ms)
redis.call('PEXPIREAT', token, forget_at)
redis.call('ZADD', ends, forget_at, id)
return 'REVOKED'
