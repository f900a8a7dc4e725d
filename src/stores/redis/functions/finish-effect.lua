--[[ Report how the delivery of a claimed effect ended. Only the gateway that claimed it last can do this: `attempts` is the number of that claim.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, key, gateway, attempts, ending, answer, problem, keep, afterMs, retentionMs, maxKeptBytes
  RETURNS  FINISHED | LOST ]]
local meta = KEYS[1]
local incarnation, lane, key, gateway, attempts, ending = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local answer, problem, keep, after_ms = ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10])
local kept = { retention = ARGV[11], most = ARGV[12] }

if not same_incarnation(meta, incarnation) then return REPLACED end
local effect = outbound.key(lane, key)
local found = redis.call('HMGET', effect, 'state', 'claimedBy', 'attempts', 'platform')
if found[2] ~= gateway or found[3] ~= attempts then return 'LOST' end
if found[1] ~= 'claimed' then
  -- The gateway repeats its report because the answer was lost.
  return found[1] == (ending == 'retry' and 'queued' or ending) and 'FINISHED' or 'LOST'
end
local now = now_ms()
if ending == 'retry' then
  redis.call('HSET', effect, 'problem', problem)
  redis.call('ZREM', outbound.list(lane, 'claimed'), key)
  outbound.make_due(lane, key, found[4], now + after_ms)
else
  local delivered = ending == 'delivered'
  outbound.finish(lane, meta, now, key, { state = ending, answer = answer, problem = not delivered and problem or nil,
    keep = not delivered or keep == '1' }, kept)
end
return 'FINISHED'
