--[[ Number a lane's records from 1 again, because an adoption gave the store a new incarnation: its chain begins with the records that wait here.
  `records` is how many of the elements are records, as the drain decodes them. The attack: a role can append garbage that begins like a record;
  if it were counted, the drain would report a missing record. An earlier release does not send `records`; then every element is counted.
  KEYS     meta, drain, audit
  ARGV     incarnation, records
  RETURNS  NUMBERED ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, records = ARGV[1], ARGV[2]
if not same_incarnation(meta, incarnation) then return REPLACED end
local fence, waiting = journal.facts(meta, drain).fence, records or text(redis.call('LLEN', audit))
redis.call('DEL', drain)
redis.call('HSET', drain, 'drained', '0', 'fence', text(fence))
redis.call('HSET', meta, 'auditSequence', waiting)
return { 'NUMBERED', waiting }
