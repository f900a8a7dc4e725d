--[[ Number a lane's records from 1 on, because its store has become another one: the chain of that one begins with what waits here.
  KEYS     meta, drain, audit
  ARGV     incarnation
  RETURNS  NUMBERED ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
if not same_incarnation(meta, ARGV[1]) then return REPLACED end
local fence, waiting = journal.facts(meta, drain).fence, redis.call('LLEN', audit)
redis.call('DEL', drain)
redis.call('HSET', drain, 'drained', '0', 'fence', text(fence))
redis.call('HSET', meta, 'auditSequence', text(waiting))
return { 'NUMBERED', text(waiting) }
