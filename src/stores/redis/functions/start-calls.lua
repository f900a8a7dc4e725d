--[[ Write start marks. Nothing of an unsafe tool runs before this answers STARTED, so a lost worker can be told from one that never began.
  FLAGS    allow-oom
  KEYS     meta, audit
  ARGV     incarnation, lane, worker
  EACH     callId, entry, fence, effect, maxAttempts, intent
  RETURNS  STARTED | FENCED | CANCELLED | EXPIRED | ENDED | MAY_HAVE_RUN | USED_UP ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, lane, worker = ARGV[1], ARGV[2], ARGV[3]
local FIRST, STRIDE = 4, 6
-- Started twice and never settled: the call is to blame.
local POISON_STARTS = 2

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local answers, intents = {}, {}

local function start(call)
  local record = load_record(lane, call.id)
  if not record or not owns(lane, record, worker, call.entry, call.fence) then return { 'FENCED' } end
  local starts = tonumber(record.starts) or 0
  if record.startFence == call.fence then return { 'STARTED', record.starts } end
  if starts > 0 and (record.effect == 'unsafe' or call.effect == 'unsafe') then return { 'MAY_HAVE_RUN' } end
  if record.cancel == '1' then return { 'CANCELLED' } end
  if starts > 0 and starts >= math.min(POISON_STARTS, call.max_attempts) then return { 'USED_UP', record.starts } end
  if now >= tonumber(meta_field(record, 'deadline')) then return { 'EXPIRED' } end
  local _, ending = live_session(lane, meta_field(record, 'session'), meta_field(record, 'run'), now)
  if ending then return { 'ENDED', ending } end
  record.state, record.starts = 'running', text(starts + 1)
  record.startFence, record.effect = call.fence, call.effect
  save_record(lane, call.id, record)
  if call.intent ~= '' then
    add_audit(intents, 'call.intended', call.id, record, call.intent)
  end
  return { 'STARTED', record.starts }
end

for at = FIRST, #ARGV, STRIDE do
  answers[#answers + 1] = start({ id = ARGV[at], entry = ARGV[at + 1], fence = ARGV[at + 2], effect = ARGV[at + 3],
    max_attempts = tonumber(ARGV[at + 4]), intent = ARGV[at + 5] })
end
if #intents > 0 then write_audit(meta, audit, text(now), intents) end
return answers
