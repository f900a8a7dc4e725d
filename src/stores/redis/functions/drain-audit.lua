--[[ Remove the elements from the journal that the sink has, extend the right to drain, and move the bounds. `position` counts elements since the
  lane was made, so a command that is repeated after a lost answer removes nothing twice. `last` is the digest of the last element to remove:
  if the journal was changed by hand meanwhile, no element is removed that the sink does not have.
  FLAGS    allow-oom
  KEYS     meta, drain, audit
  ARGV     incarnation, drainer, fence, through, position, last, surplus, foreign, leaseMs, privilegedRecords, privilegedLateMs, records, lateMs
  RETURNS  DRAINED | FENCED | CHANGED ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, drainer, fence, through, position, last = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local surplus, foreign, lease_ms = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
if not same_incarnation(meta, incarnation) then return REPLACED end
local facts, now = journal.facts(meta, drain), now_ms()
if not journal.drains(facts, drainer, fence) then return 'FENCED' end
local gone = position - facts.removed
if gone > 0 then
  local element = redis.call('LINDEX', audit, gone - 1)
  if not element or journal.digest(element) ~= last then return 'CHANGED' end
  redis.call('LTRIM', audit, gone, -1)
end
local drained = math.max(through, facts.drained)
redis.call('HSET', drain, 'drained', text(drained), 'removed', text(math.max(position, facts.removed)), 'surplus', text(surplus),
  'drainedAt', text(now), 'until', text(now + lease_ms), 'drainer', lease_ms > 0 and drainer or '')
if foreign > facts.foreign or surplus > facts.surplus then redis.call('HSET', drain, 'foreign', text(foreign), 'foreignAt', text(now)) end
redis.call('HDEL', drain, 'alarm', 'gap')
local count, length = redis.call('HGET', meta, 'auditSequence'), redis.call('LLEN', audit)
local believed = text(journal.believed(count, { drained = drained, surplus = surplus }, length))
if count ~= believed then redis.call('HSET', meta, 'auditSequence', believed) end
write_audit_bounds(meta, drained - surplus, now, ARGV[10], ARGV[11], ARGV[12], ARGV[13])
return 'DRAINED'
