--[[ Publish the outcomes of redirected calls that are settled. Publishing the message and deleting the redirect are one step: a crash
  between the two would send the message twice, or lose it if the redirect were deleted first.
  KEYS     meta, calls
  ARGV     incarnation, lane, limit, body
  RETURNS  SENT ]]
local meta, calls, incarnation, lane, limit, body = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local LOOK_AGAIN_MS = 500

if not same_incarnation(meta, incarnation) then return REPLACED end
local now, sent = now_ms(), 0
for _, call_id in ipairs(redis.call('ZRANGEBYSCORE', lane .. 'redirects', '-inf', text(now), 'LIMIT', 0, limit)) do
  local bytes = redis.call('HGET', calls, call_id)
  if bytes and not is_settled(bytes) then
    redis.call('ZADD', lane .. 'redirects', text(now + LOOK_AGAIN_MS), call_id)
  else
    local key, redirect = call_id .. '/result', redis.call('HMGET', lane .. 'redirect:' .. call_id, 'platform', 'channel', 'origin', 'deliverMs')
    redis.call('ZREM', lane .. 'redirects', call_id)
    redis.call('DEL', lane .. 'redirect:' .. call_id)
    if bytes and redirect[1] and redis.call('EXISTS', outbound.key(lane, key)) == 0 then
      outbound.create(lane, meta, now, key, { call = call_id, kind = 'result', platform = redirect[1], channel = redirect[2],
        origin = redirect[3], body = body, deliver_ms = redirect[4], call_ends_at = text(now), caller = '', correlation = '' })
      sent = sent + 1
    end
  end
end
return { 'SENT', sent }
