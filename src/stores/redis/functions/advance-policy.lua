--[[ Tell a lane about a policy version. Moves the epoch, so that queued calls meet the new policy at their claim. What is no
  number was written by hand, and so was `overwritten`, if it is not empty and still there: the version takes its place. Builds of
  revision 4 do not send it.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, version, overwritten
  RETURNS  ADVANCED ]]
local meta, incarnation, version, overwritten = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if not same_incarnation(meta, incarnation) then return REPLACED end
local found = redis.call('HGET', meta, 'policyVersion')
local current = string.match(found or '', '^%d+$') and tonumber(found)
if not current or tonumber(version) > current or found == overwritten then
  redis.call('HSET', meta, 'policyVersion', version)
  redis.call('HINCRBY', meta, 'epoch', 1)
end
return 'ADVANCED'
