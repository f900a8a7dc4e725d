--[[ Delete what the sink has, extend the right to drain, and move the bounds. An entry holds the records of a batch and goes only when
  the sink has all of them. By sequence and never by length: what was not drained is not deleted.
  FLAGS    allow-oom
  KEYS     meta, audit
  ARGV     incarnation, drainer, fence, through, leaseMs, privilegedRecords, privilegedLateMs, records, lateMs
  RETURNS  DRAINED | FENCED ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, drainer, fence, through, lease_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
if not same_incarnation(meta, incarnation) then return REPLACED end
if not drains(meta, drainer, fence) then return 'FENCED' end
local now = now_ms()
local drained = math.max(through, tonumber(redis.call('HGET', meta, 'auditDrained')) or 0)
local last = redis.call('XREVRANGE', audit, text(drained), '-', 'COUNT', 1)[1]
if last then
  local first = tonumber(string.match(last[1], '^%d+'))
  local ends = first + (#last[2] - 2) / 4 - 1
  redis.call('XTRIM', audit, 'MINID', '=', text(ends <= drained and drained + 1 or first))
end
redis.call('HSET', meta, 'auditDrained', text(drained), 'auditDrainedAt', text(now), 'auditUntil', text(now + lease_ms))
redis.call('HDEL', meta, 'auditAlarm')
if lease_ms == 0 then redis.call('HSET', meta, 'auditDrainer', '') end
write_audit_bounds(meta, drained, now, ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 'DRAINED'
