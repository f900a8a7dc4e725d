--[[ Store what is wrong with a lane's audit, and which records are missing, as `from to`. Only the drainer that has the right to drain can do
  this. No record is deleted, and the bounds stay as they are.
  FLAGS    allow-oom
  KEYS     meta, drain
  ARGV     incarnation, drainer, fence, problem, gap
  RETURNS  ALARMED | FENCED ]]
local meta, drain = KEYS[1], KEYS[2]
local incarnation, drainer, fence, problem, gap = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not same_incarnation(meta, incarnation) then return REPLACED end
if not journal.drains(journal.facts(meta, drain), drainer, fence) then return 'FENCED' end
redis.call('HSET', drain, 'alarm', problem, 'gap', gap)
return 'ALARMED'
