--[[ Give a new lane the store's incarnation. A lane that has one keeps it.
  KEYS     meta, live, drain
  ARGV     incarnation
  RETURNS  FOUNDED ]]
local meta, live, drain, incarnation = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
-- Longer than a compact list takes: with it the set is never one, and adding to it costs the same however many there are.
local ANCHOR = string.rep('anchor ', 10)
if redis.call('HSETNX', meta, 'incarnation', incarnation) == 1 then
  redis.call('HSET', meta, 'epoch', '1', 'policyVersion', '0', 'cancelSequence', '0', 'auditSequence', '0',
    'liveBytes', '0', 'retainedBytes', '0')
  redis.call('HSET', drain, 'drained', '0')
end
redis.call('ZADD', live, '+inf', ANCHOR)
return { 'FOUNDED', redis.call('HGET', meta, 'incarnation') }
