--[[ Give a call back so that another worker gets it at once.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, handedBack
  RETURNS  ABANDONED | FENCED ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence, handed_back =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if record and extra(record, 'abandonedFence') == fence then return 'ABANDONED' end
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
local envelope = read_envelope(lane, call_id, record)
-- The call's envelope no longer exists, so the call cannot be queued again. It is settled at its deadline.
if not envelope then return 'FENCED' end
drop_entry(lane, record, fence)
set_extra(record, 'abandonedFence', fence)
-- The worker that started the call hands it back in an orderly way, so this start does not count as an attempt. An unsafe tool may have
-- done something, so its start mark stays.
if extra(record, 'startFence') == fence and extra(record, 'effect') ~= 'unsafe' then
  local starts = tonumber(extra(record, 'starts')) - 1
  set_extra(record, 'starts', starts > 0 and text(starts) or nil)
  set_extra(record, 'startFence', nil)
end
record[STATE] = QUEUED
if handed_back == '1' then set_extra(record, 'handedBack', text((tonumber(extra(record, 'handedBack')) or 0) + 1)) end
add_entry(lane, call_id, record, envelope)
save_record(lane, call_id, record)
return 'ABANDONED'
