--[[ Publish an effect of a call on a platform, while this worker holds the call. The fence is checked in the same step: a worker that no longer
  holds the call sends nothing. A known key is not published again; while that effect has not ended, this request becomes its waiter.
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, key, kind, platform, channel, origin, body, deliverMs, caller, correlation, maxQueuedBytes
  RETURNS  PUBLISHED | KNOWN | FENCED | CONFLICT | FULL ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local key, kind, platform, channel, origin, body = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local deliver_ms, caller, correlation, most_bytes = ARGV[13], ARGV[14], ARGV[15], tonumber(ARGV[16])

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
local effect = outbound.key(lane, key)
local known = redis.call('HMGET', effect, 'state', 'kind', 'platform', 'channel')
if known[1] then
  if known[2] ~= kind or known[3] ~= platform or known[4] ~= channel then return 'CONFLICT' end
  if known[1] == 'queued' or known[1] == 'claimed' then
    redis.call('HSET', effect, 'caller', caller, 'correlation', correlation)
  end
  return { 'KNOWN', known[1] }
end
if (tonumber(redis.call('HGET', meta, 'outboundBytes')) or 0) + #body > most_bytes then return 'FULL' end
outbound.create(lane, meta, now_ms(), key, { call = call_id, kind = kind, platform = platform, channel = channel, origin = origin,
  body = body, deliver_ms = deliver_ms, call_ends_at = fact(record, DEADLINE), caller = caller, correlation = correlation })
return 'PUBLISHED'
