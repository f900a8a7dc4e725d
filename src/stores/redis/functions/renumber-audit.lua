--[[ Number a lane's records from 1 on, because its store has become another one: the chain of that one begins with what waits here.
  `records` is how many of the elements are records, as the drain decodes them: roles can append garbage that begins like a record, and
  the drain would miss what was counted too much. A release before this argument gives none; then every element is counted.
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
