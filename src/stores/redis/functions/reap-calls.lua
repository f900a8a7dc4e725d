--[[ Settle what is past its deadline. Started calls get `overdueMs` more, for their worker to answer.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, limit, overdueMs, retentionMs, expired, timedOut, mayHaveRun, bodyLost, detail
  RETURNS  REAPED ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, limit, overdue_ms, retention = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local expired, timed_out, may_have_run, body_lost, detail = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local settlement = new_settlement(lane, now, retention)
local gone, overdue = {}, {}

local function body_is_gone(record)
  if record[ENTRY] == '' then return false end
  return #redis.call('XRANGE', stream_key(lane, pool_of(record)), record[ENTRY], record[ENTRY]) == 0
end

local function outcome_of(record, deadline)
  local parked, starts = record[STATE] == PARKED, extra(record, 'starts')
  if not parked and body_is_gone(record) then return body_lost end
  local held = not parked and holder(lane, record) ~= nil
  if held and now < deadline + overdue_ms then return nil end
  if starts and extra(record, 'effect') == 'unsafe' then return may_have_run end
  -- A lost first run leaves no mark: only of a call that was never anybody's, or that all handed back, is it known that nothing ran.
  local begun = not parked and extra(record, 'base') ~= extra(record, 'handedBack')
  if held or starts or begun then return timed_out end
  return expired
end

for _, call_id in ipairs(redis.call('ZRANGEBYSCORE', live, '-inf', text(now), 'LIMIT', 0, limit)) do
  local record = load_record(lane, call_id)
  local deadline = record and tonumber(fact(record, DEADLINE))
  if not deadline then
    redis.call('ZREM', live, call_id)
  else
    local outcome = outcome_of(record, deadline)
    if outcome then
      local list = outcome == expired and gone or overdue
      list[#list + 1] = call_id
      settle_record(settlement, call_id, record, write_record(record), outcome, 'call.expired', detail, '', '0')
    else
      -- Looked at again when its time is up, so that it does not stand before others.
      redis.call('ZADD', live, text(deadline + overdue_ms), call_id)
    end
  end
end
write_settlement(settlement, meta, live, audit)
return { 'REAPED', gone, overdue }
