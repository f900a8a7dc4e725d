--[[ Settle what is past its deadline, and forget what has gone stale. Started calls get `overdueMs` more, for their worker to answer.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, limit, overdueMs, retentionMs, expired, timedOut, mayHaveRun, bodyLost, detail
  RETURNS  REAPED ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, limit, overdue_ms, retention = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local expired, timed_out, may_have_run, body_lost, detail = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local settlement = new_settlement(lane, now)
local gone, overdue = {}, {}

local function body_is_gone(record)
  return record.entry ~= '' and #redis.call('XRANGE', stream_key(lane, record.pool), record.entry, record.entry) == 0
end

local function outcome_of(record)
  if record.state ~= 'parked' and body_is_gone(record) then return body_lost end
  local held = record.state ~= 'parked' and holder(lane, record) ~= nil
  if held and now < tonumber(meta_field(record, 'deadline')) + overdue_ms then return nil end
  if record.starts and record.effect == 'unsafe' then return may_have_run end
  -- A lost first run leaves no mark: only of a call that was never anybody's is it known that nothing ran.
  if held or record.starts or (record.base and record.state ~= 'parked') then return timed_out end
  return expired
end

for _, call_id in ipairs(redis.call('ZRANGEBYSCORE', live, '-inf', text(now), 'LIMIT', 0, limit)) do
  local record = load_record(lane, call_id)
  if not record or record.state == 'settled' then
    redis.call('ZREM', live, call_id)
  else
    local outcome = outcome_of(record)
    if outcome then
      local list = outcome == expired and gone or overdue
      list[#list + 1] = call_id
      settle_record(settlement, call_id, record, outcome,
        { event = 'call.expired', audit = detail, fence = '', release = '0', retention = retention })
    else
      -- Looked at again when its time is up, so that it does not stand before others.
      redis.call('ZADD', live, text(tonumber(meta_field(record, 'deadline')) + overdue_ms), call_id)
    end
  end
end
write_settlement(settlement, meta, live, audit)

local retained, buckets = 0, redis.call('HGETALL', lane .. 'retained')
for at = 1, #buckets, 2 do
  if tonumber(buckets[at]) * RETAINED_BUCKET_MS < now then
    redis.call('HDEL', lane .. 'retained', buckets[at])
  else
    retained = retained + tonumber(buckets[at + 1])
  end
end
redis.call('HSET', meta, 'retainedBytes', text(retained))
redis.call('ZREMRANGEBYSCORE', lane .. 'sessions', '-inf', text(now))
return { 'REAPED', gone, overdue }
