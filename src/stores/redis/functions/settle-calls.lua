--[[ Store outcomes once, answer every waiter, write the audit and end the leases. All this is one step: a crash in the middle would run a
  tool again, or leave a waiter without an answer. All calls are of one pool; `first` and `last` are the lowest and the highest entry id.
  Most calls are plain successes. Every other call has a row of MORE, after the batch and one empty argument: its number in the batch, `1`
  if its key is released, its result for the run's history (empty: a plain success), and what it changes in its run (the note, see
  shared/settled-attempts.lua; `session` is empty if nothing changes). A single word is the answer for all calls.
  FLAGS    allow-oom
  KEYS     meta, live, audit, calls
  ARGV     incarnation, lane, worker, retentionMs, pool, first, last
  EACH     callId, entry, fence, outcome, detail
  MORE     number, releaseKey, attempt, session, run, cost, restMs, stall
  RETURNS  SETTLED | FENCED | ABSENT ]]
local meta, live, audit, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local incarnation, lane, worker, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local pool, first, last = ARGV[5], ARGV[6], ARGV[7]
local FIRST, STRIDE = 8, 5
local MORE_STRIDE = 8

if not same_incarnation(meta, incarnation) then return REPLACED end
local ids, more_of, more_at = {}, {}, #ARGV + 1
for at = FIRST, #ARGV, STRIDE do
  if ARGV[at] == '' then
    more_at = at + 1
    break
  end
  ids[#ids + 1] = ARGV[at]
end
for at = more_at, #ARGV, MORE_STRIDE do
  more_of[tonumber(ARGV[at])] = more_of_call(unpack(ARGV, at + 1, at + MORE_STRIDE - 1))
end
local stored = redis.call('HMGET', calls, unpack(ids))
local records = read_records(stored, PACKED_FRONT)
local held = held_by(lane, pool, worker, first, last, #ids)
local settlement = new_settlement(lane, now_ms(), retention)
local answers = {}

-- Whether this is a repeated request of the worker that settled the call, after a lost answer: entry, fence and outcome are the same.
local function is_repetition(bytes, entry, fence, outcome)
  local record_bytes, ending = split_settled(bytes)
  local record = record_bytes and read_record(record_bytes)
  return record and record[ENTRY] == entry and ending.fence == fence and ending.outcome == outcome
end

local function settle(number, at)
  local call_id, entry, fence, outcome, detail = ids[number], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local more = more_of[number] or PLAIN
  if #fence > 1 and not tonumber(fence) then fence, more = unpack_fence(fence) end
  local record = records[number]
  if not record then
    if not is_settled(stored[number]) then return 'ABSENT' end
    return is_repetition(stored[number], entry, fence, outcome) and 'SETTLED' or 'FENCED'
  end
  local deliveries = deliveries_of(held, lane, pool, worker, entry)
  if not deliveries or not has_fence(record, entry, deliveries, fence) then return 'FENCED' end
  -- If the batch has the same call again, that one is fenced.
  held[entry] = false
  settle_record(settlement, call_id, record, stored[number], outcome, 'call.settled', detail, fence, more.release_key, more.attempt)
  if more.session ~= '' then note_attempt(settlement.notes, call_id, record, more) end
  return 'SETTLED'
end

for number = 1, #ids do answers[number] = settle(number, FIRST + (number - 1) * STRIDE) end
write_settlement(settlement, meta, live, audit)
return one_for_all(answers)
