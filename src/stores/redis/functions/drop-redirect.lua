--[[ Delete the redirect of a call: a caller has received the outcome, so it is not sent to the channel.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, callId
  RETURNS  DROPPED | NONE ]]
local meta, incarnation, lane, call_id = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

if not same_incarnation(meta, incarnation) then return REPLACED end
redis.call('DEL', lane .. 'redirect:' .. call_id)
return redis.call('ZREM', lane .. 'redirects', call_id) == 1 and 'DROPPED' or 'NONE'
