--[[ Put a call aside with its exact bytes: no worker holds it, its subject's place is free, the old fence is dead.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, worker, callId, entry, fence, untilMs, detail
  RETURNS  PARKED | FENCED ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, worker, call_id, entry, fence, until_ms, detail =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if record and record[STATE] == PARKED and extra(record, 'parkedFence') == fence then return 'PARKED' end
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
local now = now_ms()
local envelope = read_envelope(lane, call_id, record)
if not envelope then return 'FENCED' end
redis.call('SET', body_key(lane, call_id), envelope)
drop_entry(lane, record, fence)
if record[STANDING] == '1' and not extra(record, 'serial') then
  record[STANDING] = '0'
  leave_windows(lane, { [record[PLACE]] = 1 })
end
record[STATE] = PARKED
set_extra(record, 'parkedFence', fence)
save_record(lane, call_id, record)
redis.call('ZADD', live, until_ms, call_id)
local records = {}
add_audit(records, 'call.parked', call_id, write_record(record), detail)
write_audit(meta, audit, text(now), records)
return 'PARKED'
