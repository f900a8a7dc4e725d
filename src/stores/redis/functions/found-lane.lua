--[[ Create a lane with the store's incarnation. A lane that has an incarnation keeps it.
  KEYS     meta, live, drain
  ARGV     incarnation
  RETURNS  FOUNDED ]]
local meta, live, drain, incarnation = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
-- The anchor: a member of the sorted set `live` that is not a call. It is too long for the compact encoding that Redis uses for small sets,
-- so the set never has that encoding, and an insert costs about the same for any number of calls.
local ANCHOR = string.rep('anchor ', 10)
if redis.call('HSETNX', meta, 'incarnation', incarnation) == 1 then
  redis.call('HSET', meta, 'epoch', '1', 'policyVersion', '0', 'cancelSequence', '0', 'auditSequence', '0',
    'liveBytes', '0', 'retainedBytes', '0')
  redis.call('HSET', drain, 'drained', '0')
end
redis.call('ZADD', live, '+inf', ANCHOR)
return { 'FOUNDED', redis.call('HGET', meta, 'incarnation') }
