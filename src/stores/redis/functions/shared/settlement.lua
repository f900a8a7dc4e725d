--[[ Collects what settling a batch has to write, and writes it with as few commands as possible: one for the calls, one per reply stream, one
  for the audit, one XACK and one XDEL per pool; more only where a command would have over 1000 fields. The calling function has already
  checked that the calls may be settled. ]]
local REPLY_LEASE_MS = 60000
local new_settlement, add_audit, write_audit, ending_facts, afterwards, settle_record, write_settlement

-- Lua allows 200 local names in the whole library. The names that only this file uses are local to this block.
do
local INLINE_OUTCOME = 16384
local BUCKETS = 144
local MAX_FIELDS = 1000

function new_settlement(lane, now, retention)
  local forget_at, bucket_ms = now + tonumber(retention), math.max(1, math.floor(tonumber(retention) / BUCKETS))
  return { lane = lane, now_text = text(now), forget_at = forget_at, bucket = text(math.ceil(forget_at / bucket_ms) * bucket_ms),
    prefixes = { ['0'] = {}, ['1'] = {} }, entries = {}, left = {}, ended = {}, replies = {}, audit = {}, notes = {}, settled = {}, ids = {}, gone = {}, later = {}, freed = 0, retained = 0 }
end

-- Adds an audit record to the list `audit`, as four values: call id (empty in an administrative record), the call's packed record at this
-- moment or the lines of `about_session`, event, and the detail of the process that caused it.
function add_audit(audit, event, call_id, bytes, detail)
  local at = #audit
  audit[at + 1], audit[at + 2], audit[at + 3], audit[at + 4] = call_id, bytes, event, detail
end

-- Call this before any other write: an audit record must be written before the change that it describes.
function write_audit(meta_key, audit_key, now_text, audit)
  journal.append(meta_key, journal.key(audit_key), tonumber(now_text), audit)
end

-- Kind, `executed` and error code of the outcome, as MessagePack that is appended to the detail of the record. A process that sent several
-- possible outcomes does not know which of them the function chose, so the function adds these facts.
ending_facts = remember(function(outcome)
  local decoded = cmsgpack.unpack(outcome)
  return cmsgpack.pack({ outcome = decoded.kind, executed = decoded.executed, code = decoded.error and decoded.error.code })
end)

-- Adds a reply for one waiter: its correlation and the outcome. The first letter of a correlation is the kind of the reply: `s` has the outcome,
-- `r` has none because it is larger than 16 KiB and must be read by call id, `e` is an event.
local function add_reply(replies, caller, correlation, outcome)
  local fields = replies[caller]
  if not fields then
    fields = {}
    replies[caller] = fields
  end
  local at = #fields
  if #outcome > INLINE_OUTCOME then
    fields[at + 1], fields[at + 2] = 'r' .. string.sub(correlation, 2), ''
  else
    fields[at + 1], fields[at + 2] = correlation, outcome
  end
end

local function add_replies(settlement, record, outcome)
  if record[CALLER] ~= '' then add_reply(settlement.replies, record[CALLER], record[CORRELATION], outcome) end
  if record[OTHERS] == '' then return end
  for caller, correlation in string.gmatch(record[OTHERS], '([^\n]+)\n([^\n]*)\n[^\n]*') do
    add_reply(settlement.replies, caller, correlation, outcome)
  end
end

local function prefix_of(settlement, fence, released)
  local prefixes = settlement.prefixes[released]
  local prefix = prefixes[fence]
  if not prefix then
    prefix = ending_prefix(settlement.now_text, text(settlement.forget_at), fence, released)
    prefixes[fence] = prefix
  end
  return prefix
end

-- Defers a write until the audit records are written.
function afterwards(settlement, write)
  settlement.later[#settlement.later + 1] = write
end

local function leave_queue(settlement, call_id, record)
  local lane, entry = settlement.lane, record[ENTRY]
  if entry ~= '' then
    local pool = pool_of(record)
    local entries = settlement.entries[pool]
    if not entries then
      entries = {}
      settlement.entries[pool] = entries
    end
    entries[#entries + 1] = entry
  elseif record[STATE] == QUEUED then
    afterwards(settlement, function() leave_backlog(lane, record, call_id) end)
  end
  if record[STANDING] == '1' then
    settlement.left[record[PLACE]] = (settlement.left[record[PLACE]] or 0) + 1
  end
  if entry == '' or extra(record, 'large') then settlement.gone[#settlement.gone + 1] = body_key(lane, call_id) end
end

-- Adds to the sums of the call's subject: the bytes that are freed because the call is no longer live, and the bytes that are kept of it.
local function note_ended(settlement, record, bytes, outcome, asked)
  local scope = shares.scope_of_place(record[PLACE])
  local ended = settlement.ended[scope]
  if not ended then
    ended = { freed = 0, kept = 0 }
    settlement.ended[scope] = ended
  end
  ended.freed = ended.freed + record[BYTES]
  ended.kept = ended.kept + shares.kept_bytes(bytes, outcome, asked)
end

-- If a later generation of a key is settled, its first generation is kept just as long, because it has the number of the latest one.
local function keep_first_generation(settlement, call_id)
  local first = string.match(call_id, '^(.*)~')
  local calls = calls_key(settlement.lane)
  local record_bytes, ending = split_settled(redis.call('HGET', calls, first))
  if not ending then return end
  ending.forget_at = text(settlement.forget_at)
  afterwards(settlement, function() redis.call('HSET', calls, first, write_ending(record_bytes, ending)) end)
  settlement.ids[#settlement.ids + 1] = first
end

-- Settles one call. `bytes` are its packed record. `attempt` is nil if no worker settles the call (it was cancelled or expired): then it counts as
-- refused, and `record` must be unpacked completely.
function settle_record(settlement, call_id, record, bytes, outcome, event, detail, fence, released, attempt)
  if not attempt then
    attempt, detail = REFUSED, detail .. ending_facts(outcome)
    note_refusal(settlement.notes, call_id, record)
  end
  leave_queue(settlement, call_id, record)
  add_replies(settlement, record, outcome)
  add_audit(settlement.audit, event, call_id, bytes, detail)
  local settled, ids = settlement.settled, settlement.ids
  local at, value = #settled, join_settled(bytes, prefix_of(settlement, fence, released), attempt, outcome)
  settled[at + 1], settled[at + 2] = call_id, value
  ids[#ids + 1] = call_id
  local asked = extra(record, 'asked')
  settlement.freed = settlement.freed + record[BYTES]
  settlement.retained = settlement.retained + #value + (asked or 0)
  note_ended(settlement, record, bytes, outcome, asked)
  if string.find(call_id, '~', 1, true) then keep_first_generation(settlement, call_id) end
end

local function in_parts(command, key, list)
  for first = 1, #list, MAX_FIELDS do
    redis.call(command, key, unpack(list, first, math.min(first + MAX_FIELDS - 1, #list)))
  end
end

local function write_replies(lane, replies)
  for caller, fields in pairs(replies) do
    local key = reply_key(lane, caller)
    -- A reply key of another type harms only this caller. The error is ignored, so that all other waiters still get their replies.
    for first = 1, #fields, MAX_FIELDS do
      redis.pcall('XADD', key, '*', unpack(fields, first, math.min(first + MAX_FIELDS - 1, #fields)))
    end
    redis.call('PEXPIRE', key, REPLY_LEASE_MS)
  end
end

-- Adds the calls to the list `forget:<time>`, named by the store time in ms at which all its calls may be deleted. The hash `retained` has the bytes
-- for each of these times. There are about 144 of them within the retention.
local function note_retained(settlement, meta_key)
  local lane, bucket = settlement.lane, settlement.bucket
  in_parts('RPUSH', lane .. 'forget:' .. bucket, settlement.ids)
  redis.call('HINCRBY', lane .. 'retained', bucket, text(settlement.retained))
  redis.call('HINCRBY', meta_key, 'retainedBytes', text(settlement.retained))
  redis.call('HINCRBY', meta_key, 'liveBytes', text(0 - settlement.freed))
end

function write_settlement(settlement, meta_key, live_key, audit_key)
  local lane = settlement.lane
  if #settlement.settled == 0 then return end
  write_audit(meta_key, audit_key, settlement.now_text, settlement.audit)
  in_parts('HSET', calls_key(lane), settlement.settled)
  for pool, ids in pairs(settlement.entries) do
    local stream = stream_key(lane, pool)
    redis.call('XACK', stream, GROUP, unpack(ids))
    redis.call('XDEL', stream, unpack(ids))
  end
  for _, write in ipairs(settlement.later) do write() end
  write_notes(lane, settlement.notes, meta_key, live_key)
  write_replies(lane, settlement.replies)
  redis.call('ZREM', live_key, unpack(settlement.ids))
  note_retained(settlement, meta_key)
  if #settlement.gone > 0 then redis.call('DEL', unpack(settlement.gone)) end
  leave_windows(lane, settlement.left, settlement.ended, tonumber(settlement.now_text))
end
end
