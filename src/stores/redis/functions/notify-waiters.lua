--[[ Send an event to the waiters that asked for events. A worker that lost the call sends nothing.
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, event
  RETURNS  SENT | FENCED ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence, event = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
for caller, correlation, events in string.gmatch(record.waiters, '([^\n]+)\n([^\n]*)\n([^\n]*)') do
  if events == '1' then
    local key = reply_key(lane, caller)
    redis.call('XADD', key, '*', 'e' .. correlation, event)
    redis.call('PEXPIRE', key, REPLY_LEASE_MS)
  end
end
return 'SENT'
