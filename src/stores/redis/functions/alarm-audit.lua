--[[ Say what is wrong with a lane's audit. Nothing is deleted, and the bounds stay where they are.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, drainer, fence, problem
  RETURNS  ALARMED | FENCED ]]
local meta = KEYS[1]
local incarnation, drainer, fence, problem = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if not same_incarnation(meta, incarnation) then return REPLACED end
if not drains(meta, drainer, fence) then return 'FENCED' end
redis.call('HSET', meta, 'auditAlarm', problem)
return 'ALARMED'
