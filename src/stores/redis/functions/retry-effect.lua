--[[ Queue a failed effect once more, because an operator asked for it. An effect of the kind `call` is never queued
  again (NOT_FAILED): the tool that waited for its result has ended.
  KEYS     meta
  ARGV     incarnation, lane, key
  RETURNS  QUEUED | NOT_FAILED | BODY_GONE | UNKNOWN ]]
local meta, incarnation, lane, key = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

if not same_incarnation(meta, incarnation) then return REPLACED end
local effect = outbound.key(lane, key)
local found = redis.call('HMGET', effect, 'state', 'kind', 'call', 'platform', 'deliverMs', 'bytes', 'attempts', 'body')
if not found[1] then return 'UNKNOWN' end
if found[1] ~= 'failed' or found[2] == 'call' then return 'NOT_FAILED' end
if not found[8] then return 'BODY_GONE' end
outbound.drop_body(lane, meta, key)
redis.call('ZREM', outbound.list(lane, 'forget'), key)
redis.call('HDEL', effect, 'endedAt', 'claim')
redis.call('HSET', effect, 'attemptsBefore', found[7])
outbound.queue(lane, meta, now_ms(), key, found[3], found[4], found[5], found[6])
return 'QUEUED'
