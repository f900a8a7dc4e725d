--[[ Settle calls past their deadline. A call that a worker holds gets `overdueMs` more, so that the worker can settle it. A parked call ends with
  its approval, also when its session or run has ended. Callbacks that were not finished in time are given up.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, limit, overdueMs, retentionMs, expired, timedOut, mayHaveRun, bodyLost, approvalExpired, sessionEnded, detail
  RETURNS  REAPED ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, limit, overdue_ms, retention = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local expired, timed_out, may_have_run, body_lost, detail = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[12]
local approval_expired, session_ended = ARGV[10], ARGV[11]

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local settlement = new_settlement(lane, now, retention)
local gone, overdue, looked_at = {}, {}, {}

local function body_is_gone(record)
  if record[ENTRY] == '' then return false end
  return #redis.call('XRANGE', stream_key(lane, pool_of(record)), record[ENTRY], record[ENTRY]) == 0
end

local function outcome_of(record, deadline)
  local starts = extra(record, 'starts')
  if body_is_gone(record) then return body_lost end
  local held = holder(lane, record) ~= nil
  if held and now < deadline + overdue_ms then return nil end
  if starts and extra(record, 'effect') == 'unsafe' then return may_have_run end
  -- A tool that is not unsafe is first started without a start mark. So it is certain that nothing ran only for a call that no worker ever
  -- held, that all workers handed back, or that no worker has touched since it was allowed.
  local begun = extra(record, 'base') ~= extra(record, 'handedBack') and not is_untouched(record)
  if held or starts or begun then return timed_out end
  return expired
end

-- Returns the outcome, the audit event and, for a parked call, the state with which its approval ends. If the call goes on, returns only the
-- fourth value: when to look at it again.
local function end_of(record, deadline)
  if record[STATE] ~= PARKED then
    local outcome = outcome_of(record, deadline)
    -- Look again when the extra time is over. Until then the call is sorted behind other calls, so that it takes no place among the first
    -- `limit`.
    if not outcome then return nil, nil, nil, deadline + overdue_ms end
    return outcome, 'call.expired'
  end
  local state, look_again = due_state(lane, record, now)
  if not state then return nil, nil, nil, look_again end
  local over = state == 'cancelled'
  local outcome = over and session_ended or approval_expired
  if may_have_run_before(lane, record) then
    outcome = extra(record, 'effect') == 'unsafe' and may_have_run or timed_out
  end
  return outcome, over and 'call.settled' or 'call.expired', state
end

for _, call_id in ipairs(redis.call('ZRANGEBYSCORE', live, '-inf', text(now), 'LIMIT', 0, limit)) do
  local record = load_record(lane, call_id)
  local deadline = record and tonumber(fact(record, DEADLINE))
  if not deadline then
    looked_at[call_id] = false
  else
    local outcome, event, state, look_again = end_of(record, deadline)
    if outcome then
      local nothing_ran = outcome == expired or (state and not extra(record, 'starts'))
      local list = nothing_ran and gone or overdue
      list[#list + 1] = call_id
      local bytes = write_record(record)
      if state then end_parked(settlement, call_id, record, state, detail) end
      settle_record(settlement, call_id, record, bytes, outcome, event, detail, '', '0')
    else
      looked_at[call_id] = text(look_again)
    end
  end
end
give_up_callbacks(lane, meta, audit, now, limit)
write_settlement(settlement, meta, live, audit)
for call_id, look_again in pairs(looked_at) do
  if look_again then redis.call('ZADD', live, look_again, call_id) else redis.call('ZREM', live, call_id) end
end
return { 'REAPED', gone, overdue }
