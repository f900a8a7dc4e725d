--[[ Number a lane's records from 1 on, because its store has become another one: the chain of that one begins with what waits here.
  KEYS     meta, drain, audit
  ARGV     incarnation
  RETURNS  NUMBERED ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
if not same_incarnation(meta, ARGV[1]) then return REPLACED end
local fence, waiting = journal.facts(meta, drain).fence, 0
-- What a role has appended by hand is no record, and gets no number.
for index = 0, redis.call('LLEN', audit) - 1 do
  if string.sub(redis.call('LINDEX', audit, index), 1, 2) == 'J1' then waiting = waiting + 1 end
end
redis.call('DEL', drain)
redis.call('HSET', drain, 'drained', '0', 'fence', text(fence))
redis.call('HSET', meta, 'auditSequence', text(waiting))
return { 'NUMBERED', text(waiting) }
