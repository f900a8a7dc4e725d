--[[ Record that a claimed callback was invoked. Only the worker that claimed it can do this, and only before the callback was given up.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, approval, worker
  RETURNS  FINISHED | NOT_CLAIMED ]]
local meta, incarnation, lane, id, worker = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = approval_key(lane, id)
local asked = redis.call('HMGET', key, 'callback', 'claimedBy')
if asked[1] ~= 'claimed' or asked[2] ~= worker then return 'NOT_CLAIMED' end
redis.call('HSET', key, 'callback', 'done')
redis.call('ZREM', claimed_key(lane), id)
return 'FINISHED'
