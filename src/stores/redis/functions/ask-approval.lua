--[[ Park a call with its exact bytes and store the question about it. Then no worker holds the call, its place in the subject's window is
  free (a serial call keeps it), and the old fence is invalid. Both happen in one step: for a question without a parked call, the decision
  would have no effect; for a parked call without a question, no person would be asked.
  KEYS     meta, live, audit
  ARGV     incarnation, lane, worker, callId, entry, fence, approval, timeoutMs, question, binding, decisions, quorum, requester, mayHaveRun, wantsCallback, detail, masked, shares
  RETURNS  ASKED | FENCED | CANCELLED | EXPIRED | ENDED | SHARE_FULL ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, worker, call_id, entry, fence = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local id, timeout_ms, question, detail = ARGV[7], ARGV[8], ARGV[9], ARGV[16]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = approval_key(lane, id)
local asked = redis.call('HMGET', key, 'fence', 'expiresAt')
-- The worker repeats its request after a lost answer: the first request has stored the question, which may have been resolved since.
if asked[1] then return asked[1] == fence and { 'ASKED', asked[2] } or { 'FENCED' } end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return { 'FENCED' } end
if extra(record, 'cancel') == '1' then return { 'CANCELLED' } end
local now = now_ms()
local left_ms = tonumber(fact(record, DEADLINE)) - now
if left_ms <= 0 then return { 'EXPIRED' } end
local session_id = fact(record, SESSION)
local session, _, _, ending = live_session(lane, session_id, fact(record, RUN), now)
if ending then return { 'ENDED', ending } end
local envelope = read_envelope(lane, call_id, record)
-- The call's envelope no longer exists, so no question is stored. The call is settled at its deadline.
if not envelope then return { 'FENCED' } end
-- A worker of an earlier release sends no shares.
local live_share, parked_share, pending_share = string.match(ARGV[18] or '', '^(%d+) (%d+) (%d+)$')
local use = live_share and shares.load(lane, shares.scope_of_place(record[PLACE]))
local full = use and shares.overload_parked(use, #question, record[BYTES] + #question,
  { live = tonumber(live_share), parked = tonumber(parked_share), pending = tonumber(pending_share) })
if full then return { 'SHARE_FULL', full } end
redis.call('ZCARD', approvals_key(lane, 'pending'))
redis.call('SCARD', parked_key(lane, session_id))

local expires_at = text(parked_until(now + tonumber(timeout_ms), session))
local previous = extra(record, 'approval') or ''
set_extra(record, 'approval', id)
local records = {}
add_audit(records, 'approval.requested', call_id, write_record(record), detail)
write_audit(meta, audit, text(now), records)
redis.call('SET', body_key(lane, call_id), envelope)
drop_entry(lane, record, fence)
-- A serial call keeps its place while a person is asked, so that no later call overtakes it. Any other call frees its place for the
-- subject's next call.
if record[STANDING] == '1' and not extra(record, 'serial') then
  record[STANDING] = '0'
  set_extra(record, 'leftWindow', '1')
  leave_windows(lane, { [record[PLACE]] = 1 })
end
record[STATE] = PARKED
record[BYTES] = record[BYTES] + #question
shares.change(lane, record, #question, record[BYTES], 1)
set_fact(record, DEADLINE, expires_at)
set_extra(record, 'resumed', nil)
set_extra(record, 'asked', text((tonumber(extra(record, 'asked')) or 0) + #question))
local bytes = write_record(record)
redis.call('HSET', calls_key(lane), call_id, bytes)
redis.call('HINCRBY', meta, 'liveBytes', text(#question))
redis.call('ZADD', live, expires_at, call_id)
redis.call('HSET', key, 'state', 'pending', 'call', call_id, 'question', question, 'binding', ARGV[10], 'decisions', ARGV[11],
  'quorum', ARGV[12], 'requester', ARGV[13], 'mayHaveRun', ARGV[14], 'wantsCallback', ARGV[15], 'askedBy', worker, 'fence', fence,
  'requestedAt', text(now), 'expiresAt', expires_at, 'leftMs', text(left_ms), 'votes', '', 'callback', 'none', 'previous', previous,
  'record', bytes, 'masked', ARGV[17] or '', 'revealedBy', '')
redis.call('ZADD', approvals_key(lane, 'pending'), expires_at, id)
redis.call('SADD', parked_key(lane, session_id), call_id)
return { 'ASKED', expires_at }
