--[[ Write start marks. No code of an unsafe tool runs before the answer STARTED, so a worker that was lost while it ran a call can be
  distinguished from one that never began. All calls are of one pool; `first` and `last` are the lowest and the highest entry id. STARTED
  without a number is the first start. A single word is the answer for all calls.
  FLAGS    allow-oom
  KEYS     meta, audit, calls
  ARGV     incarnation, lane, worker, pool, first, last
  EACH     callId, entry, fence, effect, maxAttempts, intent
  RETURNS  STARTED | FENCED | CANCELLED | EXPIRED | ENDED | AUDIT_LATE | MAY_HAVE_RUN | USED_UP ]]
local meta, audit, calls = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, worker, pool, first, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local FIRST, STRIDE = 7, 6
-- A call that was started twice and never settled is not started again: it probably kills its workers.
local POISON_STARTS = 2

if not same_incarnation(meta, incarnation) then return REPLACED end
local ids = {}
for at = FIRST, #ARGV, STRIDE do ids[#ids + 1] = ARGV[at] end
local stored = redis.call('HMGET', calls, unpack(ids))
local records = read_records(stored, PACKED)
local held = held_by(lane, pool, worker, first, last, #ids)
local now = now_ms()
local answers, changed, intents, endings = {}, {}, {}, {}

-- Returns how the session or run has ended, or false. Cached, because many calls of a batch are of one session.
local function session_ending(session, run)
  local name = session .. '\n' .. run
  if endings[name] == nil then
    local _, _, _, ending = live_session(lane, session, run, now)
    endings[name] = ending or false
  end
  return endings[name]
end

local late
-- Whether the audit's sink is so far behind that privileged calls must not start. Read once per batch, and only if a call of the batch has
-- an intent.
local function audit_late()
  if late == nil then
    local sequence, bound = unpack(redis.call('HMGET', meta, 'auditSequence', 'auditStarts'), 1, 2)
    late = audit_is_late(sequence or '0', bound, now)
  end
  return late
end

local function start(number, at)
  local call_id, entry, fence, effect = ids[number], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local max_attempts, intent = ARGV[at + 4], ARGV[at + 5]
  local record = records[number]
  local deliveries = record and deliveries_of(held, lane, pool, worker, entry)
  if not deliveries or not has_fence(record, entry, deliveries, fence) then return { 'FENCED' } end
  local starts = tonumber(extra(record, 'starts')) or 0
  if extra(record, 'startFence') == fence then return { 'STARTED', text(starts) } end
  if starts > 0 and (extra(record, 'effect') == 'unsafe' or effect == 'unsafe') then return { 'MAY_HAVE_RUN' } end
  if extra(record, 'cancel') == '1' then return { 'CANCELLED' } end
  if starts > 0 and starts >= math.min(POISON_STARTS, tonumber(max_attempts)) then return { 'USED_UP', text(starts) } end
  local facts = lines_of(record[FACTS])
  if now >= tonumber(facts[DEADLINE]) then return { 'EXPIRED' } end
  local ending = session_ending(facts[SESSION], facts[RUN])
  if ending then return { 'ENDED', ending } end
  if intent ~= '' and audit_late() then return { 'AUDIT_LATE' } end
  mark_started(record, starts + 1, fence, effect)
  local bytes = write_record(record)
  changed[#changed + 1] = call_id
  changed[#changed + 1] = bytes
  if intent ~= '' then add_audit(intents, 'call.intended', call_id, bytes, intent) end
  return starts == 0 and 'STARTED' or { 'STARTED', text(starts + 1) }
end

for number = 1, #ids do answers[number] = start(number, FIRST + (number - 1) * STRIDE) end
if #intents > 0 then write_audit(meta, audit, text(now), intents) end
if #changed > 0 then redis.call('HSET', calls, unpack(changed)) end
return one_for_all(answers)
