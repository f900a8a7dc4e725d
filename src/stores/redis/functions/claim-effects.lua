--[[ Claim effects that are due; only the first effect of each call can be due. Before that: fail expired effects, queue the effects of lost
  gateways again (or fail them, where a second delivery could send a second message), and delete old ones. A request that is repeated with the
  same claim gets the same effects.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, gateway, claim, limit, leaseMs, retentionMs, maxKeptBytes
  EACH     platform, redeliver
  RETURNS  CLAIMED ]]
local meta = KEYS[1]
local incarnation, lane, gateway, claim, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local lease_ms, kept = tonumber(ARGV[6]), { retention = ARGV[7], most = ARGV[8] }
local FIRST, STRIDE = 9, 2

if not same_incarnation(meta, incarnation) then return REPLACED end
local now, claimed = now_ms(), { 'CLAIMED', '' }
claimed[2] = text(now)
local claim_key = outbound.list(lane, 'claim:' .. claim)

local function due_in(name)
  return redis.call('ZRANGEBYSCORE', outbound.list(lane, name), '-inf', text(now), 'LIMIT', 0, limit)
end

local function show(key)
  claimed[#claimed + 1] = { key, unpack(redis.call('HMGET', outbound.key(lane, key), unpack(outbound.FIELDS))) }
end

local function take(key, platform, redeliver)
  local effect = outbound.key(lane, key)
  redis.call('HINCRBY', effect, 'attempts', 1)
  redis.call('HSET', effect, 'state', 'claimed', 'claimedBy', gateway, 'claim', claim, 'redeliver', redeliver)
  redis.call('ZREM', outbound.list(lane, 'due:' .. platform), key)
  redis.call('ZADD', outbound.list(lane, 'claimed'), text(now + lease_ms), key)
  redis.call('RPUSH', claim_key, key)
  redis.call('PEXPIRE', claim_key, lease_ms)
  show(key)
end

local before = redis.call('LRANGE', claim_key, 0, -1)
for _, key in ipairs(before) do
  local found = redis.call('HMGET', outbound.key(lane, key), 'state', 'claim')
  if found[1] == 'claimed' and found[2] == claim then show(key) end
end
if #before > 0 then return claimed end

for _, key in ipairs(due_in('expiring')) do
  local found = redis.call('HMGET', outbound.key(lane, key), 'state', 'problem')
  if found[1] == 'queued' then
    local last = found[2] and '; last: ' .. found[2] or ''
    outbound.finish(lane, meta, now, key, { state = 'failed', problem = 'it was not delivered in time' .. last, keep = true }, kept)
  else
    -- A gateway has claimed this effect, so it does not expire now: the gateway will report whether it was delivered. Check again
    -- after one lease time. By then the gateway has reported, or it is lost.
    redis.call('ZADD', outbound.list(lane, 'expiring'), text(now + lease_ms), key)
  end
end
for _, key in ipairs(due_in('claimed')) do
  local found = redis.call('HMGET', outbound.key(lane, key), 'redeliver', 'kind', 'platform')
  if found[1] == '1' and found[2] ~= 'call' then
    redis.call('ZREM', outbound.list(lane, 'claimed'), key)
    outbound.make_due(lane, key, found[3], now)
  else
    local problem = 'the gateway that had it was lost; it may have been delivered'
    outbound.finish(lane, meta, now, key, { state = 'failed', problem = problem, keep = true }, kept)
  end
end
for _, key in ipairs(due_in('forget')) do outbound.forget(lane, meta, key) end
for at = FIRST, #ARGV, STRIDE do
  for _, key in ipairs(due_in('due:' .. ARGV[at])) do
    if #claimed - 2 < limit then take(key, ARGV[at], ARGV[at + 1]) end
  end
end
return claimed
