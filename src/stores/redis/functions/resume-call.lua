--[[ Queue a parked call again, under a higher fence. It passes the subject's window: it has waited already.
  FLAGS    allow-oom
  KEYS     meta, live
  ARGV     incarnation, lane, callId, deadlineMs, with
  RETURNS  RESUMED | NOT_PARKED ]]
local meta, live = KEYS[1], KEYS[2]
local incarnation, lane, call_id, deadline_ms, with = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or record.state ~= 'parked' then return 'NOT_PARKED' end
local envelope = redis.call('GET', body_key(lane, call_id))
if not envelope then return 'NOT_PARKED' end
local deadline = text(now_ms() + tonumber(deadline_ms))
record.state = 'queued'
if with ~= '' then record.with = with end
record.meta = with_meta_field(record.meta, 'deadline', deadline)
if not record.standing then
  record.standing = '1'
  enter_window(lane, record.pool, record.group, 1)
end
redis.call('DEL', body_key(lane, call_id))
add_entry(lane, call_id, record, envelope)
save_record(lane, call_id, record)
redis.call('ZADD', live, deadline, call_id)
return 'RESUMED'
