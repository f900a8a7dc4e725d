--[[ Extend leases: reset the idle time of entries that are still the worker's own. XCLAIM alone would steal them back.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane
  EACH     callId, worker, entry, fence
  RETURNS  RENEWED | FENCED | CANCEL ]]
local meta = KEYS[1]
local incarnation, lane = ARGV[1], ARGV[2]
local FIRST, STRIDE = 3, 4

if not same_incarnation(meta, incarnation) then return REPLACED end
local answers = {}
for at = FIRST, #ARGV, STRIDE do
  local record, worker = load_record(lane, ARGV[at]), ARGV[at + 1]
  local answer = 'FENCED'
  if record and owns(lane, record, worker, ARGV[at + 2], ARGV[at + 3]) then
    redis.call('XCLAIM', stream_key(lane, record.pool), GROUP, worker, '0', record.entry, 'JUSTID')
    answer = record.cancel == '1' and 'CANCEL' or 'RENEWED'
  end
  answers[#answers + 1] = answer
end
return answers
