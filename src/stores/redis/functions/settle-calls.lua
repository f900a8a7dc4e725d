--[[ Store outcomes once, answer every waiter, write the audit and end the leases. One script: a crash between two of these
  would run a tool again, or leave somebody waiting.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, worker
  EACH     callId, pool, entry, fence, outcome, release, detail, retentionMs
  RETURNS  SETTLED | FENCED | ABSENT ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, worker = ARGV[1], ARGV[2], ARGV[3]
local FIRST, STRIDE = 4, 8

if not same_incarnation(meta, incarnation) then return REPLACED end
local keys = {}
for at = FIRST, #ARGV, STRIDE do keys[#keys + 1] = call_key(lane, ARGV[at]) end
local stored = redis.call('MGET', unpack(keys))
local settlement = new_settlement(lane, now_ms())
local answers, done = {}, {}

for number = 1, #keys do
  local at = FIRST + (number - 1) * STRIDE
  local call_id, entry, fence, outcome = ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local answer = 'FENCED'
  if not stored[number] then
    answer = 'ABSENT'
  elseif not done[call_id] then
    local record, offset = read_record(stored[number])
    if record.state == 'settled' then
      -- The same owner repeats itself after a lost answer.
      if record.entry == entry and record.fence == fence and string.sub(stored[number], offset + 1) == outcome then
        answer = 'SETTLED'
      end
    elseif owns(lane, record, worker, entry, fence) then
      settle_record(settlement, call_id, record, outcome,
        { event = 'call.settled', audit = ARGV[at + 6], fence = fence, release = ARGV[at + 5], retention = ARGV[at + 7] })
      done[call_id] = true
      answer = 'SETTLED'
    end
  end
  answers[number] = answer
end
write_settlement(settlement, meta, live, audit)
return answers
