--[[ Store outcomes once, answer every waiter, write the audit and end the leases. One script: a crash between two of these
  would run a tool again, or leave somebody waiting.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, worker, retentionMs
  EACH     callId, entry, fence, outcome, release, detail
  RETURNS  SETTLED | FENCED | ABSENT ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, worker, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local FIRST, STRIDE = 5, 6

if not same_incarnation(meta, incarnation) then return REPLACED end
local keys = {}
for at = FIRST, #ARGV, STRIDE do keys[#keys + 1] = call_key(lane, ARGV[at]) end
local stored = redis.call('MGET', unpack(keys))
local settlement = new_settlement(lane, now_ms())
local answers, done = {}, {}

-- The same owner repeats itself after a lost answer.
local function is_repetition(record, ending, entry, fence, known_outcome, outcome)
  return record.entry == entry and ending.fence == fence and known_outcome == outcome
end

for number = 1, #keys do
  local at = FIRST + (number - 1) * STRIDE
  local call_id, entry, fence, outcome = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local answer = 'FENCED'
  if not stored[number] then
    answer = 'ABSENT'
  elseif not done[call_id] then
    local record, ending, outcome_at = read_record(stored[number])
    if ending then
      if is_repetition(record, ending, entry, fence, string.sub(stored[number], outcome_at + 1), outcome) then
        answer = 'SETTLED'
      end
    elseif owns(lane, record, worker, entry, fence) then
      settle_record(settlement, call_id, record, outcome,
        { event = 'call.settled', audit = ARGV[at + 5], fence = fence, release = ARGV[at + 4], retention = retention })
      done[call_id] = true
      answer = 'SETTLED'
    end
  end
  answers[number] = answer
end
write_settlement(settlement, meta, live, audit)
return answers
