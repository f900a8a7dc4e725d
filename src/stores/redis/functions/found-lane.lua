--[[ Give a new lane the store's incarnation. A lane that has one keeps it.
  KEYS     meta
  ARGV     incarnation
  RETURNS  FOUNDED ]]
local meta, incarnation = KEYS[1], ARGV[1]
if redis.call('HSETNX', meta, 'incarnation', incarnation) == 1 then
  redis.call('HSET', meta, 'epoch', '1', 'policyVersion', '0', 'cancelSequence', '0', 'auditSequence', '0',
    'liveBytes', '0', 'retainedBytes', '0')
end
return { 'FOUNDED', redis.call('HGET', meta, 'incarnation') }
