--[[ Send an event to the waiters that asked for events. A worker that lost the call sends nothing.
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, event
  RETURNS  SENT | FENCED ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence, event = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
for at = 1, #record.waiters, 3 do
  if record.waiters[at + 2] == '1' then
    local key = reply_key(lane, record.waiters[at])
    redis.call('XADD', key, '*', 'e' .. record.waiters[at + 1], event)
    redis.call('PEXPIRE', key, REPLY_LEASE_MS)
  end
end
return 'SENT'
