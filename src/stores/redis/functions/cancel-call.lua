--[[ Cancel a call. A call without a start mark ends now, a parked one together with its approval. For a started call, the worker that holds
  it is asked to abort. A call that a worker holds without a start mark ends here too. That worker's later settle is refused as fenced. No
  code of an unsafe tool has run, because such a tool runs only after its start mark.
  FLAGS    allow-oom
  KEYS     meta, live, audit, calls
  ARGV     incarnation, lane, callId, session, tokenDigest, outcome, outcomeIfHeld, outcomeIfParked, detail, retentionMs, unsafeDigest
  RETURNS  CANCELLED | CANCELLING | SETTLED | UNKNOWN ]]
local meta, live, audit, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local incarnation, lane, call_id, session, token_digest = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local outcome, outcome_if_held, outcome_if_parked, detail, retention = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local unsafe_digest = ARGV[11] or ''

-- A call whose envelope has the digest of an unsafe tool runs only after its start mark is written.
local function cannot_have_run(record)
  if unsafe_digest == '' or extra(record, 'starts') then return false end
  local envelope = read_envelope(lane, call_id, record)
  local readable, fields = pcall(cmsgpack.unpack, envelope or '')
  return readable and type(fields) == 'table' and fields.toolDigest == unsafe_digest
end

if not same_incarnation(meta, incarnation) then return REPLACED end
local bytes = redis.call('HGET', calls, call_id)
if session ~= '' then
  local prefix = scope_prefix(session)
  local known, _, _, ending = live_session(lane, session, '', now_ms())
  if not prefix or not known or known.token ~= redis.sha1hex(token_digest) then return 'UNKNOWN' end
  if ending and ending ~= 'run-unknown' then return 'UNKNOWN' end
  if string.sub(call_id, 1, #prefix) ~= prefix or not agents.reach_call(known.identity, call_id, bytes) then return 'UNKNOWN' end
end
if is_settled(bytes) then return 'SETTLED' end
local record = read_record(bytes)
if not record then return 'UNKNOWN' end
local running = record[STATE] == RUNNING
local held = record[STATE] == QUEUED and holder(lane, record) ~= nil
if running then
  set_extra(record, 'cancel', '1')
  save_record(lane, call_id, record)
else
  local settlement = new_settlement(lane, now_ms(), retention)
  local chosen = (held or extra(record, 'starts')) and not cannot_have_run(record) and outcome_if_held or outcome
  if record[STATE] == PARKED then
    chosen = may_have_run_before(lane, record) and outcome_if_held or outcome_if_parked
    end_parked(settlement, call_id, record, 'cancelled', detail)
  end
  settle_record(settlement, call_id, record, bytes, chosen, 'call.cancelled', detail, '', '0')
  write_settlement(settlement, meta, live, audit)
end
if held or running then redis.call('HINCRBY', meta, 'cancelSequence', 1) end
return running and 'CANCELLING' or 'CANCELLED'
