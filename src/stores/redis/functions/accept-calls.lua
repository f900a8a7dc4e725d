--[[ Accept calls of one lane: key, session, limits and queue in one step, so that a repeated accept is the same call.
  `who` is session, run, proof and what vouches for it; `where` is pool, serial and tool; `waiter` is caller, correlation and events,
  or nothing. Each is lines of text: most calls of a batch share them, and equal text is looked at once.
  KEYS     meta, live
  ARGV     incarnation, lane, liveCalls, liveBytes, retainedBytes, window, backlog
  EACH     callId, digest, who, where, envelope, deadlineMs, waiter
  RETURNS  ACCEPTED | ATTACHED | REPLAYED | CONFLICT | UNAUTHENTICATED | OVERLOADED ]]
local meta, live = KEYS[1], KEYS[2]
local incarnation, lane = ARGV[1], ARGV[2]
local limits = { calls = tonumber(ARGV[3]), bytes = tonumber(ARGV[4]), retained = tonumber(ARGV[5]) }
local window, backlog = tonumber(ARGV[6]), tonumber(ARGV[7])
local FIRST, STRIDE = 8, 7
local MOST_WAITERS = 1000

local facts = redis.call('HMGET', meta, 'incarnation', 'epoch', 'liveBytes', 'retainedBytes')
if facts[1] ~= incarnation then return REPLACED end
local epoch, live_bytes, retained = facts[2], tonumber(facts[3]) or 0, tonumber(facts[4]) or 0
local live_count = redis.call('ZCARD', live)
local now = now_ms()
local now_text = text(now)

local keys = {}
for at = FIRST, #ARGV, STRIDE do keys[#keys + 1] = call_key(lane, ARGV[at]) end
local stored = redis.call('MGET', unpack(keys))

-- What this batch has read or made already: a second request for the same call must not see it as it was before the first.
local callers, places, known_calls, groups = {}, {}, {}, {}
local answers, deadlines = {}, {}
local added_bytes = 0

local function place_of(where)
  local pool, serial, tool = string.match(where, '^(.-)\n(.-)\n(.*)$')
  return { pool = pool, serial = serial == '1', tool = tool }
end

-- False when the call has as many waiters as it may have.
local function attach(call, found)
  if call.waiter == '' then return true end
  local known = '\n' .. found.record.waiters
  local who_waits = string.match(call.waiter, '^(.*\n)') or call.waiter
  if string.find(known, '\n' .. who_waits, 1, true) then return true end
  local _, lines = string.gsub(found.record.waiters, '\n', '\n')
  if lines + 1 >= MOST_WAITERS * 3 then return false end
  found.record.waiters = found.record.waiters == '' and call.waiter or (found.record.waiters .. '\n' .. call.waiter)
  save_record(lane, found.id, found.record)
  return true
end

local function group_of(call)
  local name = call.place.pool .. call.group
  local group = groups[name]
  if not group then
    local counts = redis.call('HMGET', window_key(lane, call.place.pool), call.group, 'b:' .. call.group)
    group = { pool = call.place.pool, name = call.group, standing = tonumber(counts[1]) or 0,
      waiting = tonumber(counts[2]) or 0, entered = 0 }
    groups[name] = group
  end
  return group
end

local function overload(call)
  if live_count >= limits.calls then return 'calls' end
  if live_bytes + added_bytes + #call.envelope > limits.bytes then return 'bytes of calls' end
  if retained > limits.retained then return 'bytes of outcomes' end
  if call.passes_window then return nil end
  if call.counts.standing >= call.limit and call.counts.waiting >= backlog then return 'calls of this subject' end
end

local function enqueue(call)
  local caller, place, counts = call.caller, call.place, call.counts
  local deadline = text(now + tonumber(call.deadline_ms))
  local events = string.sub(call.waiter, -2) == '\n1' and '1' or '0'
  local record = { state = 'queued', pool = place.pool, group = call.group, window = call.limit_text, entry = '',
    bytes = text(#call.envelope), waiters = call.waiter,
    meta = caller.trusted .. deadline .. '\n' .. events .. '\n' .. caller.run .. '\n' .. call.digest .. '\n' .. place.tool }
  if place.serial then record.serial = '1' end
  if call.passes_window then
    add_entry(lane, call.id, record, call.envelope)
  elseif counts.standing < call.limit then
    counts.standing, counts.entered = counts.standing + 1, counts.entered + 1
    record.standing = '1'
    add_entry(lane, call.id, record, call.envelope)
  else
    counts.waiting = counts.waiting + 1
    redis.call('SET', body_key(lane, call.id), call.envelope)
    redis.call('RPUSH', backlog_key(lane, place.pool, call.group), call.id)
    redis.call('HINCRBY', window_key(lane, place.pool), 'b:' .. call.group, 1)
  end
  save_record(lane, call.id, record)
  -- Without expiry while a later generation is under way; settling that one sets it again.
  if call.continues then redis.call('SET', call_key(lane, call.asked), call.continues) end
  known_calls[call.asked] = { id = call.id, record = record }
  deadlines[#deadlines + 1] = deadline
  deadlines[#deadlines + 1] = call.id
  added_bytes = added_bytes + #call.envelope
  live_count = live_count + 1
  caller.accepted = true
end

local window_text = text(window)

local function accept(call, who, where, bytes)
  call.caller = callers[who] or authenticate(lane, who, now, epoch)
  callers[who] = call.caller
  if call.caller.ending then return { 'UNAUTHENTICATED', call.caller.ending } end
  -- The key belongs to this subject, or nobody's business is touched.
  local prefix = call.caller.prefix
  if not prefix or string.sub(call.id, 1, #prefix) ~= prefix then return { 'UNAUTHENTICATED', 'unknown' } end
  local known = known_calls[call.asked]
  if not known then
    known = find_call(lane, call, bytes)
    known_calls[call.asked] = known
  end
  if known then
    if meta_field(known.record, 'digest') ~= call.digest then return { 'CONFLICT', known.id } end
    if known.outcome then return { 'REPLAYED', known.id, known.outcome } end
    if not attach(call, known) then return { 'OVERLOADED', 'waiters of this call' } end
    return { 'ATTACHED', known.id, known.record.state }
  end
  call.place = places[where] or place_of(where)
  places[where] = call.place
  call.group, call.limit, call.limit_text = call.caller.scope, window, window_text
  if call.place.serial then call.group, call.limit, call.limit_text = call.group .. '/' .. call.place.tool, 1, '1' end
  -- A nested call never waits behind its own parent's subject: that could wait for ever.
  call.passes_window = call.caller.nested and not call.place.serial
  call.counts = group_of(call)
  local what = overload(call)
  if what then return { 'OVERLOADED', what } end
  enqueue(call)
  return { 'ACCEPTED', call.id }
end

for number = 1, #keys do
  local at = FIRST + (number - 1) * STRIDE
  local call = { asked = ARGV[at], id = ARGV[at], digest = ARGV[at + 1], envelope = ARGV[at + 4], deadline_ms = ARGV[at + 5],
    waiter = ARGV[at + 6] }
  answers[number] = accept(call, ARGV[at + 2], ARGV[at + 3], stored[number])
end
if #deadlines > 0 then
  redis.call('ZADD', live, unpack(deadlines))
  redis.call('HINCRBY', meta, 'liveBytes', text(added_bytes))
end
for _, group in pairs(groups) do
  if group.entered > 0 then enter_window(lane, group.pool, group.name, group.entered) end
end
for _, caller in pairs(callers) do
  -- An idle expiry needs no finer time than this, and a write per call would cost more than it tells.
  if caller.accepted and now - caller.seen_at >= math.min(1000, caller.idle_ms / 10) then
    redis.call('HSET', session_key(lane, caller.session_id), 'lastSeenAt', now_text)
  end
end
return answers
