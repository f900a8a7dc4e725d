--[[ Claim callbacks before they are invoked: if the worker is lost meanwhile, no other worker invokes them a second time. Only the worker
  that asked may claim a callback within `leaseMs` after the resolution, unless `free` says that this worker is gone. The caller puts
  callbacks that are claimed already first in the batch. If a repeated request finds its own `claim` among them, it gets the callbacks of
  that claim and claims no others.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, worker, claim, limit, leaseMs
  EACH     approval, free
  RETURNS  CLAIMED ]]
local meta = KEYS[1]
local incarnation, lane, worker, claim, limit, lease_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local FIRST, STRIDE = 7, 2

if not same_incarnation(meta, incarnation) then return REPLACED end
local claimed, now, repeated = { 'CLAIMED' }, now_ms(), false

local function take(id, asked, free)
  if repeated or #claimed > limit or asked[1] ~= 'waiting' then return end
  if asked[3] ~= worker and free ~= '1' and now < tonumber(asked[4]) + lease_ms then return end
  redis.call('HSET', approval_key(lane, id), 'callback', 'claimed', 'claim', claim, 'claimedBy', worker)
  redis.call('ZREM', waiting_key(lane), id .. ' ' .. asked[3])
  redis.call('ZADD', claimed_key(lane), text(now + lease_ms), id)
  claimed[#claimed + 1] = id
end

for at = FIRST, #ARGV, STRIDE do
  local asked = redis.call('HMGET', approval_key(lane, ARGV[at]), 'callback', 'claim', 'askedBy', 'resolvedAt')
  if asked[1] == 'claimed' and asked[2] == claim then
    claimed[#claimed + 1], repeated = ARGV[at], true
  else
    take(ARGV[at], asked, ARGV[at + 1])
  end
end
return claimed
