--[[ Queue a parked call again, under a higher fence. It passes the subject's window: it has waited already.
  FLAGS    allow-oom
  KEYS     meta, live
  ARGV     incarnation, lane, callId, deadlineMs, with
  RETURNS  RESUMED | NOT_PARKED ]]
local meta, live = KEYS[1], KEYS[2]
local incarnation, lane, call_id, deadline_ms, with = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or record[STATE] ~= PARKED then return 'NOT_PARKED' end
local envelope = redis.call('GET', body_key(lane, call_id))
if not envelope then return 'NOT_PARKED' end
local deadline = text(now_ms() + tonumber(deadline_ms))
record[STATE] = QUEUED
if with ~= '' then
  redis.call('SET', resumed_key(lane, call_id), with)
  set_extra(record, 'resumed', '1')
end
set_fact(record, DEADLINE, deadline)
if record[STANDING] ~= '1' then
  record[STANDING] = '1'
  adjust_window(lane, record[PLACE], 1, 0)
end
redis.call('DEL', body_key(lane, call_id))
add_entry(lane, call_id, record, envelope)
save_record(lane, call_id, record)
redis.call('ZADD', live, deadline, call_id)
return 'RESUMED'
