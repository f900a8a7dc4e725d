--[[ Set the first bounds of a lane that was never drained. A lane that has bounds keeps them.
  KEYS     meta
  ARGV     incarnation, privilegedRecords, privilegedLateMs, records, lateMs
  RETURNS  BOUND ]]
local meta = KEYS[1]
local incarnation = ARGV[1]
if not same_incarnation(meta, incarnation) then return REPLACED end
if redis.call('HEXISTS', meta, 'auditStarts') == 0 then
  write_audit_bounds(meta, 0, now_ms(), ARGV[2], ARGV[3], ARGV[4], ARGV[5])
end
return 'BOUND'
