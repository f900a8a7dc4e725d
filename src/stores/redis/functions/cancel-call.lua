--[[ End a call that has not started; tell the owner of one that has. A held call without a start mark ends here too: its worker's
  settle is fenced then, and nothing of an unsafe tool has run.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, callId, session, tokenDigest, outcome, outcomeIfHeld, detail, retentionMs
  RETURNS  CANCELLED | CANCELLING | SETTLED | UNKNOWN ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, call_id, session, token_digest = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local outcome, outcome_if_held, detail, retention = ARGV[6], ARGV[7], ARGV[8], ARGV[9]

if not same_incarnation(meta, incarnation) then return REPLACED end
if session ~= '' then
  local prefix = scope_prefix(session)
  local known, ending = live_session(lane, session, '', now_ms())
  if not prefix or not known or known.token ~= redis.sha1hex(token_digest) then return 'UNKNOWN' end
  if ending and ending ~= 'run-unknown' then return 'UNKNOWN' end
  if string.sub(call_id, 1, #prefix) ~= prefix then return 'UNKNOWN' end
end
local record = load_record(lane, call_id)
if not record then return 'UNKNOWN' end
if record.state == 'settled' then return 'SETTLED' end
local held = record.state == 'queued' and holder(lane, record) ~= nil
if record.state == 'running' then
  record.cancel = '1'
  save_record(lane, call_id, record)
else
  local settlement = new_settlement(lane, now_ms())
  settle_record(settlement, call_id, record, held and outcome_if_held or outcome,
    { event = 'call.cancelled', audit = detail, fence = '', release = '0', retention = retention })
  write_settlement(settlement, meta, live, audit)
end
if held or record.state == 'running' then redis.call('HINCRBY', meta, 'cancelSequence', 1) end
return record.state == 'running' and 'CANCELLING' or 'CANCELLED'
