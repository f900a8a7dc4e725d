--[[ Send an event to the waiters that asked for events. A worker that no longer holds the call sends nothing.
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, event
  RETURNS  SENT | FENCED ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence, event = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end

local function send(caller, correlation)
  local key = reply_key(lane, caller)
  redis.call('XADD', key, '*', 'e' .. string.sub(correlation, 2), event)
  redis.call('PEXPIRE', key, REPLY_LEASE_MS)
end

if record[EVENTS] == '1' and record[CALLER] ~= '' then send(record[CALLER], record[CORRELATION]) end
for caller, correlation, events in string.gmatch(record[OTHERS], '([^\n]+)\n([^\n]*)\n([^\n]*)') do
  if events == '1' then send(caller, correlation) end
end
return 'SENT'
