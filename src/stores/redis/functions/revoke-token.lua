--[[ Take a token back, now, in one step with its audit record. Again changes nothing. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     meta, audit, record, token, ends
  ARGV     incarnation, id, keptMs, about, detail
  RETURNS  REVOKED | UNKNOWN ]]
local meta, audit, record, token, ends = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local incarnation, id, kept_ms, about, detail = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

if not admission.same_store(record, incarnation) or not same_incarnation(meta, incarnation) then return REPLACED end
local known = admission.read(token)
if not known[1] then return 'UNKNOWN' end
if known[5] then return 'REVOKED' end
local now = now_ms()
local records = {}
add_audit(records, 'token.revoked', '', about, detail)
write_audit(meta, audit, text(now), records)
redis.call('HSET', token, 'revokedAt', text(now))
-- One that has expired before keeps its earlier end.
local forget_at = text(math.min(now, tonumber(known[4])) + kept_ms)
redis.call('PEXPIREAT', token, forget_at)
redis.call('ZADD', ends, forget_at, id)
return 'REVOKED'
