--[[ Record that a principal saw the masked values of a pending question. The audit record is part of this step, and the text is shown only after
  it: so the audit has every approver who has seen a masked text.
  FLAGS    allow-oom
  KEYS     meta, audit, calls
  ARGV     incarnation, lane, approval, binding, by, detail
  RETURNS  REVEALED | ALREADY | MISMATCH | NOT_YOURS | UNKNOWN ]]
local meta, audit, calls = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, id, binding, by, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = approval_key(lane, id)
local asked = redis.call('HMGET', key, 'state', 'binding', 'requester', 'call', 'expiresAt', 'revealedBy')
local state, call_id, revealed_by = asked[1], asked[4], asked[6] or ''
if not state then return { 'UNKNOWN' } end
if asked[2] ~= binding then return { 'MISMATCH' } end
if state ~= 'pending' then return { 'ALREADY', state } end
if by == asked[3] then return { 'NOT_YOURS' } end
local bytes, now = redis.call('HGET', calls, call_id), now_ms()
local record = not is_settled(bytes) and read_record(bytes)
if not record or record[STATE] ~= PARKED or extra(record, 'approval') ~= id then return { 'UNKNOWN' } end
-- If the call's session or run has ended, or the approval has expired, the next reap will resolve the question. The answer is the same as
-- after that.
local _, _, _, ending = live_session(lane, fact(record, SESSION), fact(record, RUN), now)
if ending then return { 'ALREADY', 'cancelled' } end
if now >= tonumber(asked[5]) then return { 'ALREADY', 'expired' } end
if has_revealed(revealed_by, by) then return { 'REVEALED' } end

local records = {}
add_audit(records, 'approval.revealed', call_id, bytes, detail)
write_audit(meta, audit, text(now), records)
redis.call('HSET', key, 'revealedBy', revealed_by == '' and by or revealed_by .. '\n' .. by)
return { 'REVEALED' }
