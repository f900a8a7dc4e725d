--[[ Accept calls of one lane. Key, session, limits and queue are checked and written in one step, so that a repeated accept gives the same call.
  `head` is what many calls of a batch share (see shared/caller.lua): the first call has its text, later ones have its number. A call id may
  occur only once in a batch. Everything that can fail is checked before the first write. A single word is the answer for all calls.
  KEYS     meta, live, calls
  ARGV     incarnation, lane, liveCalls, liveBytes, retainedBytes, window, backlog
  EACH     callId, head, digest, envelope, correlation
  RETURNS  ACCEPTED | ATTACHED | REPLAYED | CONFLICT | UNAUTHENTICATED | OVERLOADED ]]
local meta, live, calls = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane = ARGV[1], ARGV[2]
-- After the number in `backlog` come the shares of the subject. A caller of an earlier release does not send them.
local window, limits = ARGV[6], shares.limits(ARGV[3], ARGV[4], ARGV[5], ARGV[7])
local FIRST, STRIDE = 8, 5
local MAX_WAITERS = 1000

local known_incarnation, epoch, live_bytes, retained_bytes, audit_sequence, audit_admits, parked_bytes = unpack(redis.call('HMGET', meta,
  'incarnation', 'epoch', 'liveBytes', 'retainedBytes', 'auditSequence', 'auditAdmits', 'parkedBytes'), 1, 7)
if known_incarnation ~= incarnation then return REPLACED end
local now = now_ms()
local now_text = text(now)
-- What the lane holds. Minus one: the anchor in the sorted set `live` (see found-lane.lua) is not a call.
local held = { lane = lane, now = now, calls = redis.call('ZCARD', live) - 1, bytes = tonumber(live_bytes) or 0,
  retained = tonumber(retained_bytes) or 0, parked = tonumber(parked_bytes) or 0,
  audit_late = audit_is_late(audit_sequence or '0', audit_admits, now) }
local calls_before = held.calls

local heads, head_of = {}, {}
for at = FIRST, #ARGV, STRIDE do
  local number, head = #head_of + 1, ARGV[at + 1]
  if #head > 4 then
    heads[#heads + 1] = open_head(lane, head, now, now_text, epoch, window)
    head_of[number] = heads[#heads]
  else
    head_of[number] = heads[tonumber(head)] or { ending = 'unknown' }
  end
end
local ids, earlier = agents.call_ids(head_of, ARGV, FIRST, STRIDE)
local stored = redis.call('HMGET', calls, unpack(ids))
local counts, uses = window_counts(lane, heads, live, now)
local run_names, runs = open_runs(lane, heads)

local answers, fresh, deadlines, seen = {}, {}, {}, {}
local added_bytes, fresh_fields = 0, 0

local function save_fresh()
  if fresh_fields == 0 then return end
  redis.call('HSET', calls, unpack(fresh))
  redis.call('ZADD', live, unpack(deadlines))
  fresh, deadlines, fresh_fields = {}, {}, 0
end

-- Adds the caller to the waiters of a call. Returns false when the call already has the max number of waiters.
local function attach(head, correlation, found)
  local record, caller, events = found.record, head.shape.caller, head.shape.events
  if caller == '' then return true end
  if record[CALLER] == caller and record[CORRELATION] == correlation then return true end
  local waiter = caller .. '\n' .. correlation .. '\n'
  if string.find('\n' .. record[OTHERS], '\n' .. waiter, 1, true) then return true end
  local _, lines = string.gsub(record[OTHERS], '\n', '\n')
  if (lines + 1) / 3 >= MAX_WAITERS - 1 then return false end
  if record[CALLER] == '' then
    record[CALLER], record[CORRELATION], record[EVENTS] = caller, correlation, events
  else
    record[OTHERS] = (record[OTHERS] == '' and '' or record[OTHERS] .. '\n') .. waiter .. events
  end
  save_record(lane, found.id, record)
  return true
end

local function answer_known(known, head, digest, correlation)
  if not agents.own(known, head.identity) then return { 'UNAUTHENTICATED', 'unknown' } end
  -- The record was overwritten by hand: it is not known which agents made the call, so no agent gets the key.
  if not known.record or known.record[DIGEST] ~= digest then return { 'CONFLICT', known.id } end
  if known.ending then return { 'REPLAYED', known.id, known.ending.outcome } end
  if not attach(head, correlation, known) then return { 'OVERLOADED', 'waiters of this call', text(shares.SOON_MS) } end
  return { 'ATTACHED', known.id, STATE_NAMES[known.record[STATE]] }
end

local function enqueue(call_id, head, digest, envelope, correlation)
  local shape, frame, places, size, waits, front = head.shape, head.frame, head.window, #envelope, false, head.frame.waiting
  if not shape.passes_window then
    local standing = places.standing
    places.changed = true
    if standing >= head.limit then
      waits = true
      places.waiting = places.waiting + 1
    else
      places.standing = standing + 1
      front = frame.standing
    end
  end
  -- `save_fresh` stores the calls that this batch has accepted so far, because a history that is read now must include them.
  local sequence, tool_sequence, watched, history = add_attempt(lane, head, call_id, digest, save_fresh)
  local numbers, bytes = sequences(sequence, tool_sequence), nil
  local stated = digest .. numbers .. (watched and WATCHED or '') .. head.run_facts
  if not waits and size <= LARGE_BODY then
    local entry = history and redis.call('XADD', head.stream, '*', call_id, head.facts, stated, envelope, 'h', history)
      or redis.call('XADD', head.stream, '*', call_id, head.facts, stated, envelope)
    bytes = framed_record(front, frame, head.framed_facts, size, numbers, entry, correlation, digest)
  else
    bytes = framed_record(front, frame, head.framed_facts, size, numbers, '', correlation, digest)
    local record = read_record(bytes)
    if waits then
      redis.call('SET', body_key(lane, call_id), envelope)
      redis.call('RPUSH', backlog_key(lane, shape.pool, shape.group), call_id)
    else
      add_entry(lane, call_id, record, envelope, string.sub(stated, #digest + 1), history)
    end
    bytes = write_record(record)
  end
  local at = fresh_fields
  fresh[at + 1], fresh[at + 2] = call_id, bytes
  deadlines[at + 1], deadlines[at + 2] = head.deadline, call_id
  fresh_fields = at + 2
  added_bytes, held.bytes, held.calls = added_bytes + size, held.bytes + size, held.calls + 1
  head.use.live, head.use.changed = head.use.live + size, true
  head.accepted = true
end

local function accept(number, at)
  local own, head = ids[number], head_of[number]
  local asked, digest, envelope, correlation = ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  if head.ending and not head.rest_ms then return { 'UNAUTHENTICATED', head.ending } end
  -- Refuse an id that is not under the agents of this session: a caller must not reach a call of other agents or subjects. Also refuse an id
  -- that occurs twice in the batch.
  if string.find(own, head.own_prefix, 1, true) ~= 1 or seen[own] then return { 'UNAUTHENTICATED', 'unknown' } end
  seen[own] = true
  local call_id, continues, known = own, nil, nil
  if stored[number] then
    known, call_id, continues = find_call(lane, own, stored[number])
  else
    known = agents.earlier_call(lane, asked, earlier[number] and stored[earlier[number]], head.identity)
  end
  if known then return answer_known(known, head, digest, correlation) end
  -- Loop detection ended this run. Nothing is written, so refused calls neither extend the time without a new run nor fill the store. The
  -- third word says for how many ms the conversation still gets no new run; callers of an earlier release read only the first two words.
  if head.rest_ms then return { 'UNAUTHENTICATED', 'run-unknown', text(head.rest_ms) } end
  local what, room_ms = shares.overload_call(held, limits, head, #envelope)
  if what then return { 'OVERLOADED', what, room_ms and text(room_ms) or '' } end
  enqueue(call_id, head, digest, envelope, correlation)
  if continues then redis.call('HSET', calls, own, continues) end
  return call_id ~= asked and { 'ACCEPTED', call_id } or 'ACCEPTED'
end

for number = 1, #head_of do answers[number] = accept(number, FIRST + (number - 1) * STRIDE) end
if held.calls > calls_before then
  save_fresh()
  redis.call('HINCRBY', meta, 'liveBytes', text(added_bytes))
  write_window_counts(lane, counts, uses)
  write_runs(lane, run_names, runs)
  mark_seen(lane, heads, now)
end
return one_for_all(answers)
