--[[ Tell a lane about a policy version. Moves the epoch, so that queued calls meet the new policy at their claim.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, version
  RETURNS  ADVANCED ]]
local meta, incarnation, version = KEYS[1], ARGV[1], ARGV[2]
if not same_incarnation(meta, incarnation) then return REPLACED end
local current = tonumber(redis.call('HGET', meta, 'policyVersion')) or 0
if tonumber(version) > current then
  redis.call('HSET', meta, 'policyVersion', version)
  redis.call('HINCRBY', meta, 'epoch', 1)
end
return 'ADVANCED'
