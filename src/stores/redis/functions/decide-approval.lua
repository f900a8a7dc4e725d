--[[ Cast a vote on a pending approval. The first vote that decides wins. In the same step, a yes that completes the quorum queues the call
  again under a higher fence, and a no settles the call. `votes` has one line per vote, with spaces: decision, store time in ms, principal,
  the binding that the principal agreed to, and the comment as JSON text.
  FLAGS    allow-oom
  KEYS     meta, live, audit, calls
  ARGV     incarnation, lane, approval, binding, decision, by, comment, hasEdited, edited, agreed, deadlineMs, denied, deniedMayHaveRun, detail, retentionMs, grant, grantFacts, grantTool, grantMs, grantUses
  RETURNS  DECIDED | COUNTED | ALREADY | MISMATCH | NOT_OFFERED | NOT_YOURS | NOT_REVEALED | UNKNOWN ]]
local meta, live, audit, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local incarnation, lane, id, binding, decision, by = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local has_edited, edited, detail, grant_id = ARGV[8] == '1', ARGV[9], ARGV[14], ARGV[16]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = approval_key(lane, id)
local asked = redis.call('HMGET', key, 'state', 'binding', 'decisions', 'quorum', 'requester', 'votes', 'call', 'expiresAt', 'leftMs',
  'edited', 'grant', 'masked', 'revealedBy')
local state, decisions, quorum, votes, call_id = asked[1], asked[3], tonumber(asked[4]), asked[6], asked[7]
if not state then return { 'UNKNOWN' } end
if asked[2] ~= binding then return { 'MISMATCH' } end

local yes, always, own = 0, decision == 'allow-always', {}
for vote, who in string.gmatch(votes, '([^ \n]+) %d+ ([^ \n]+)[^\n]*') do
  yes, always = yes + 1, always and vote == 'allow-always'
  if who == by then own[#own + 1], own[vote] = vote, true end
end

if state ~= 'pending' then
  -- The same principal repeats the same vote: after a lost answer, or with a second click.
  local agrees = state == (decision == 'deny' and 'denied' or 'allowed')
  local same_bytes = (asked[10] or false) == (has_edited and edited)
  if own[decision] and agrees and same_bytes then return { 'DECIDED', state, asked[11] or '' } end
  return { 'ALREADY', state }
end
-- Edited arguments are possible only with a yes, and only with a quorum of 1: other approvers would not have seen them.
local offered = string.find(' ' .. decisions .. ' ', ' ' .. decision .. ' ', 1, true)
if not offered or (has_edited and (decision == 'deny' or quorum > 1)) then return { 'NOT_OFFERED', decisions } end
if by == asked[5] then return { 'NOT_YOURS' } end
local bytes, now = redis.call('HGET', calls, call_id), now_ms()
local record = not is_settled(bytes) and read_record(bytes)
if not record or record[STATE] ~= PARKED or extra(record, 'approval') ~= id then return { 'UNKNOWN' } end
-- If the call's session or run has ended, or the approval has expired, the next reap will resolve the question. The answer is the same as
-- after that.
local session, _, _, ending = live_session(lane, fact(record, SESSION), fact(record, RUN), now)
if ending then return { 'ALREADY', 'cancelled' } end
if now >= tonumber(asked[8]) then return { 'ALREADY', 'expired' } end
if decision ~= 'deny' and not has_seen_all(asked[12], asked[13], by) then return { 'NOT_REVEALED' } end
if own[decision] then return { 'COUNTED', text(quorum - yes) } end
-- A principal that voted yes can only change the vote to no.
if #own > 0 and decision ~= 'deny' then return { 'ALREADY', 'pending' } end
local envelope = redis.call('GET', body_key(lane, call_id))
if not envelope then return { 'UNKNOWN' } end

local line = decision .. ' ' .. text(now) .. ' ' .. by .. ' ' .. ARGV[10] .. ' ' .. ARGV[7]
local function vote() redis.call('HSET', key, 'votes', votes == '' and line or votes .. '\n' .. line) end
if decision == 'deny' then
  local settlement = new_settlement(lane, now, ARGV[15])
  local outcome = may_have_run_before(lane, record) and ARGV[13] or ARGV[12]
  afterwards(settlement, vote)
  end_parked(settlement, call_id, record, 'denied', detail)
  settle_record(settlement, call_id, record, bytes, outcome, 'call.settled', detail .. ending_facts(outcome), '', '0', DENIED)
  note_refusal(settlement.notes, call_id, record)
  write_settlement(settlement, meta, live, audit)
  return { 'DECIDED', 'denied', '' }
end

local records = {}
if yes + 1 < quorum then
  add_audit(records, 'approval.voted', call_id, bytes, detail)
  write_audit(meta, audit, text(now), records)
  vote()
  return { 'COUNTED', text(quorum - yes - 1) }
end
if not always then grant_id = '' end
add_audit(records, 'approval.decided', call_id, bytes, detail)
if grant_id ~= '' then add_audit(records, 'grant.created', call_id, grants.with_grant(record, grant_id), detail) end
write_audit(meta, audit, text(now), records)
vote()
resolve_approval(lane, call_id, record, 'allowed', always and 'allow-always' or 'allow-once', now)
if has_edited then keep_edited(lane, meta, record, id, edited) end
if grant_id ~= '' then
  redis.call('HSET', key, 'grant', grant_id)
  grants.make(lane, record, { id = grant_id, facts = ARGV[17], tool = ARGV[18], lifetime_ms = ARGV[19], uses_left = ARGV[20],
    call = call_id }, now)
end
local deadline = text(now + math.max(tonumber(asked[9]), tonumber(ARGV[11])))
resume_call(lane, meta, call_id, record, { envelope = envelope, deadline = deadline, session = session, now = now })
redis.call('ZADD', live, deadline, call_id)
return { 'DECIDED', 'allowed', grant_id }
