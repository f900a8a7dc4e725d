--[[ Accept calls of one lane: key, session, limits and queue in one step, so that a repeated accept is the same call.
  KEYS     meta, live
  ARGV     incarnation, lane, liveCalls, liveBytes, retainedBytes, window, backlog
  EACH     callId, digest, session, run, proof, vouches, tool, pool, serial, envelope, deadlineMs, caller, correlation, events
  RETURNS  ACCEPTED | ATTACHED | REPLAYED | CONFLICT | UNAUTHENTICATED | OVERLOADED ]]
local meta, live = KEYS[1], KEYS[2]
local incarnation, lane = ARGV[1], ARGV[2]
local limits = { calls = tonumber(ARGV[3]), bytes = tonumber(ARGV[4]), retained = tonumber(ARGV[5]) }
local window, backlog = tonumber(ARGV[6]), tonumber(ARGV[7])
local FIRST, STRIDE = 8, 14

local facts = redis.call('HMGET', meta, 'incarnation', 'epoch', 'liveBytes', 'retainedBytes')
if facts[1] ~= incarnation then return REPLACED end
local epoch, live_bytes, retained = facts[2], tonumber(facts[3]) or 0, tonumber(facts[4]) or 0
local live_count = redis.call('ZCARD', live)
local now = now_ms()

local keys = {}
for at = FIRST, #ARGV, STRIDE do keys[#keys + 1] = call_key(lane, ARGV[at]) end
local stored = redis.call('MGET', unpack(keys))

-- What this batch has read or made already: a second request for the same call must not see it as it was before the first.
local sessions, seen, known_calls, standing = {}, {}, {}, {}
local answers, deadlines = {}, {}
local added_bytes = 0

local function authenticate(call)
  local name = call.session .. '\n' .. call.run
  local known = sessions[name]
  if not known then
    local session, ending = live_session(lane, call.session, call.run, now)
    known = { session = session, ending = ending }
    sessions[name] = known
  end
  local session = known.session
  if not session then return nil, 'unknown' end
  if call.proof == 'token' then
    if known.proven ~= call.vouches then
      if redis.sha1hex(call.vouches) ~= session.token then return nil, 'unknown' end
      known.proven = call.vouches
    end
  else
    -- A nested call: whoever holds the running parent vouches for it, in the parent's session only.
    local parent_id, worker, entry, fence = string.match(call.vouches, '^(.-)\n(.-)\n(.-)\n(.-)$')
    local parent = parent_id and load_record(lane, parent_id)
    if not parent or meta_field(parent, 'session') ~= call.session or not owns(lane, parent, worker, entry, fence) then
      return nil, 'unknown'
    end
  end
  if known.ending then return nil, known.ending end
  -- The key belongs to this subject, or nobody's business is touched.
  local prefix = scope_prefix(call.session)
  if not prefix or string.sub(call.id, 1, #prefix) ~= prefix then return nil, 'unknown' end
  return session
end

-- A released key continues under the next generation of its id; the first generation knows the latest one.
local function find_record(call, bytes)
  if not bytes then return nil end
  local record, offset = read_record(bytes)
  if record.released ~= '1' then return record, bytes, offset end
  local latest = tonumber(record.next or '1')
  if latest > 1 then
    call.id = call.asked .. '~' .. text(latest)
    local latest_bytes = redis.call('GET', call_key(lane, call.id))
    if latest_bytes then
      local latest_record, latest_offset = read_record(latest_bytes)
      if latest_record.released ~= '1' then return latest_record, latest_bytes, latest_offset end
    end
  end
  call.id = call.asked .. '~' .. text(latest + 1)
  record.next = text(latest + 1)
  call.continues = cmsgpack.pack(record) .. string.sub(bytes, offset + 1)
end

local function attach(call, record)
  if call.caller == '' then return end
  for at = 1, #record.waiters, 3 do
    if record.waiters[at] == call.caller and record.waiters[at + 1] == call.correlation then return end
  end
  local waiters = record.waiters
  waiters[#waiters + 1] = call.caller
  waiters[#waiters + 1] = call.correlation
  waiters[#waiters + 1] = call.events
  save_record(lane, call.id, record)
end

local function overload(call)
  if live_count >= limits.calls then return 'calls' end
  if live_bytes + added_bytes + #call.envelope > limits.bytes then return 'bytes of calls' end
  if retained > limits.retained then return 'bytes of outcomes' end
  if call.passes_window then return nil end
  if call.counts.standing >= call.limit and call.counts.waiting >= backlog then return 'calls of this subject' end
end

local function group_counts(call)
  local name = call.pool .. '\n' .. call.group
  if not standing[name] then
    local counts = redis.call('HMGET', window_key(lane, call.pool), call.group, 'b:' .. call.group)
    standing[name] = { standing = tonumber(counts[1]) or 0, waiting = tonumber(counts[2]) or 0 }
  end
  return standing[name]
end

local function enqueue(call, session)
  local record = { state = 'queued', digest = call.digest, pool = call.pool, group = call.group, serial = call.serial,
    window = text(call.limit), entry = '', base = '0', starts = '0', bytes = text(#call.envelope), waiters = {} }
  if call.caller ~= '' then record.waiters = { call.caller, call.correlation, call.events } end
  local deadline = now + tonumber(call.deadline_ms)
  record.meta = table.concat({ session.identity, call.session, epoch, text(session.expires_at), text(now), text(deadline),
    call.events, call.run, call.digest, call.tool }, '\n')
  local counts = call.counts
  if call.passes_window then
    add_entry(lane, call.id, record, call.envelope)
  elseif counts.standing < call.limit then
    counts.standing = counts.standing + 1
    record.standing = '1'
    enter_window(lane, call.pool, call.group)
    add_entry(lane, call.id, record, call.envelope)
  else
    counts.waiting = counts.waiting + 1
    redis.call('SET', body_key(lane, call.id), call.envelope)
    redis.call('RPUSH', backlog_key(lane, call.pool, call.group), call.id)
    redis.call('HINCRBY', window_key(lane, call.pool), 'b:' .. call.group, 1)
  end
  save_record(lane, call.id, record)
  -- Without expiry while a later generation is under way; settling that one sets it again.
  if call.continues then redis.call('SET', call_key(lane, call.asked), call.continues) end
  known_calls[call.asked] = { record = record, id = call.id }
  deadlines[#deadlines + 1] = text(deadline)
  deadlines[#deadlines + 1] = call.id
  added_bytes = added_bytes + #call.envelope
  live_count = live_count + 1
  seen[call.session] = true
end

local function accept(call, bytes)
  local session, ending = authenticate(call)
  if not session then return { 'UNAUTHENTICATED', ending } end
  local known = known_calls[call.asked]
  if not known then
    local record, whole, offset = find_record(call, bytes)
    if record then
      known = { record = record, id = call.id, outcome = record.state == 'settled' and string.sub(whole, offset + 1) }
      known_calls[call.asked] = known
    end
  end
  if known then
    local record = known.record
    call.id = known.id
    if record.digest ~= call.digest then return { 'CONFLICT', call.id } end
    if known.outcome then return { 'REPLAYED', call.id, known.outcome } end
    attach(call, record)
    return { 'ATTACHED', call.id, record.state }
  end
  call.group = string.match(call.id, '^%d+%.([^.]+)%.')
  call.limit = window
  -- A nested call never waits behind its own parent's subject: that could wait for ever.
  call.passes_window = call.proof ~= 'token' and call.serial ~= '1'
  if call.serial == '1' then call.group, call.limit = call.group .. '/' .. call.tool, 1 end
  call.counts = group_counts(call)
  local what = overload(call)
  if what then return { 'OVERLOADED', what } end
  enqueue(call, session)
  return { 'ACCEPTED', call.id }
end

for number = 1, #keys do
  local at = FIRST + (number - 1) * STRIDE
  answers[number] = accept({ asked = ARGV[at], id = ARGV[at], digest = ARGV[at + 1], session = ARGV[at + 2], run = ARGV[at + 3],
    proof = ARGV[at + 4], vouches = ARGV[at + 5], tool = ARGV[at + 6], pool = ARGV[at + 7], serial = ARGV[at + 8],
    envelope = ARGV[at + 9], deadline_ms = ARGV[at + 10], caller = ARGV[at + 11], correlation = ARGV[at + 12],
    events = ARGV[at + 13] }, stored[number])
end
if #deadlines > 0 then
  redis.call('ZADD', live, unpack(deadlines))
  redis.call('HINCRBY', meta, 'liveBytes', text(added_bytes))
end
for session in pairs(seen) do redis.call('HSET', session_key(lane, session), 'lastSeenAt', text(now)) end
return answers
