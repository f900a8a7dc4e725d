--[[ Write a policy version into a lane, if it is higher than the lane's version. Raises the epoch, so that queued calls are checked against the
  new policy at their claim. A version that was written by hand is always replaced: one that is no number, or that equals `overwritten`.
  `overwritten` is empty if the lane's version was not written by hand; builds of revision 4 do not send it.
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
