--[[ What each subject uses of a lane. The hash `windows` has one field per subject: its name is `=` and the subject's scope, its value has
  four numbers with a space between them:
    live     bytes of calls that are not settled (accept_calls and ask_approval add, decide_approval adds edited arguments, settling subtracts)
    kept     bytes of settled calls, as `shares.kept_bytes` counts them (settling adds, forget_calls subtracts)
    parked   the part of `live` that parked calls have (ask_approval adds, the end of the question subtracts)
    pending  questions about calls that wait for an answer (as `parked`)
  A subject that uses nothing has no field. The fields are in the same hash as the windows (queue.lua), so that accept and settle read and
  write both with the commands that they need anyway.
  The field `=` is the store time in ms from which settled calls are counted: 0 in a new lane. In a lane of an earlier release, calls that
  were settled before that time are not counted, and not subtracted when they are forgotten. Without that field nothing is counted yet.
  One table, because Lua limits the local names of a library. ]]
local shares = { FROM = '=', RECOUNTED_AT_ONCE = 1000, SOON_MS = 1000 }

-- The scope is the first part of the group: a group is `<scope>`, or `<scope>/<tool>` for a serial tool.
shares.scope_of_place = remember(function(place) return string.match(place_of(place).group or '', '^[^/]+') or '' end)
shares.scope_of_call = function(call_id) return string.match(call_id, '^%d+%.([^.]+)%.') or '' end
shares.field = function(scope) return '=' .. scope end

function shares.read(value)
  local live, kept, parked, pending = string.match(value or '', '^(%d+) (%d+) (%d+) (%d+)$')
  return { live = tonumber(live) or 0, kept = tonumber(kept) or 0, parked = tonumber(parked) or 0, pending = tonumber(pending) or 0,
    changed = false }
end

-- Adds the current use of a subject to `changes`, or its field to `emptied` if it uses nothing, as `note_window` does for a window.
function shares.note(changes, emptied, scope, use)
  local live, kept, parked, pending = math.max(0, use.live), math.max(0, use.kept), math.max(0, use.parked), math.max(0, use.pending)
  if live + kept + parked + pending == 0 then
    emptied[#emptied + 1] = shares.field(scope)
  else
    local at = #changes
    changes[at + 1], changes[at + 2] = shares.field(scope), string.format('%d %d %d %d', live, kept, parked, pending)
  end
end

function shares.save(lane, scope, use)
  local changes, emptied = {}, {}
  shares.note(changes, emptied, scope, use)
  if #changes > 0 then redis.call('HSET', windows_key(lane), unpack(changes)) end
  if #emptied > 0 then redis.call('HDEL', windows_key(lane), unpack(emptied)) end
end

-- Returns the use of a subject; nil in a lane where nothing is counted yet.
function shares.load(lane, scope)
  local found = redis.call('HMGET', windows_key(lane), shares.FROM, shares.field(scope))
  return found[1] and shares.read(found[2]) or nil
end

-- Adds `live`, `parked` (bytes) and `pending` (questions) to the use of the call's subject, for functions outside the hot path.
function shares.change(lane, record, live, parked, pending)
  local scope = shares.scope_of_place(record[PLACE])
  local use = shares.load(lane, scope)
  if not use then return end
  use.live, use.parked, use.pending = use.live + live, use.parked + parked, use.pending + pending
  shares.save(lane, scope, use)
  if parked ~= 0 then redis.call('HINCRBY', lane .. 'meta', 'parkedBytes', text(parked)) end
end

-- Starts counting in a lane of an earlier release: counts all calls that are not settled, once. The admission limits bound their number.
function shares.begin(lane, live_key, now)
  local uses, parked_bytes, ids = {}, 0, redis.call('ZRANGE', live_key, '0', '-1')
  for first = 1, #ids, shares.RECOUNTED_AT_ONCE do
    local stored = redis.call('HMGET', calls_key(lane), unpack(ids, first, math.min(first + shares.RECOUNTED_AT_ONCE - 1, #ids)))
    for _, record in pairs(read_records(stored, PACKED_FRONT)) do
      if record then
        local scope = shares.scope_of_place(record[PLACE])
        local use = uses[scope] or shares.read()
        uses[scope], use.live = use, use.live + record[BYTES]
        if record[STATE] == PARKED then
          use.parked, use.pending, parked_bytes = use.parked + record[BYTES], use.pending + 1, parked_bytes + record[BYTES]
        end
      end
    end
  end
  for scope, use in pairs(uses) do shares.save(lane, scope, use) end
  redis.call('HSET', lane .. 'meta', 'parkedBytes', text(parked_bytes))
  local from = redis.call('EXISTS', calls_key(lane)) == 1 and now + 1 or 0
  redis.call('HSET', windows_key(lane), shares.FROM, text(from))
end

-- Returns the bytes of a settled call that count towards its subject's share. The lines of the ending are left out, because they can change
-- later, and the number that is subtracted when the call is forgotten must equal the one added when it was settled. `asked` are the bytes
-- of its questions.
function shares.kept_bytes(record_bytes, outcome, asked)
  return #record_bytes + #outcome + (tonumber(asked) or 0)
end

-- Subtracts deleted calls from what their subjects use. Each element of `forgotten` has `scope`, `at` (when the call was settled, store ms)
-- and `bytes`.
function shares.forget(lane, forgotten)
  local scopes, fields, bytes_of = {}, { shares.FROM }, {}
  for _, gone in ipairs(forgotten) do
    if not bytes_of[gone.scope] then
      bytes_of[gone.scope] = {}
      scopes[#scopes + 1], fields[#fields + 1] = gone.scope, shares.field(gone.scope)
    end
    local list = bytes_of[gone.scope]
    list[#list + 1] = gone
  end
  if #scopes == 0 then return end
  local found = redis.call('HMGET', windows_key(lane), unpack(fields))
  local from = tonumber(found[1])
  if not from then return end
  for number, scope in ipairs(scopes) do
    local use = shares.read(found[number + 1])
    for _, gone in ipairs(bytes_of[scope]) do
      if gone.at >= from then use.kept = use.kept - gone.bytes end
    end
    shares.save(lane, scope, use)
  end
end

--[[ Returns which share of its subject a new call of this size would exceed, and in how many ms there may be room. The time is nil if it is
  not known: an approver has to decide first, or outcomes have to expire. ]]
function shares.overload(use, size, most)
  if most.live and use.live + size > most.live then
    return 'live bytes of this subject', use.parked + size <= most.live and shares.SOON_MS or nil
  end
  if most.kept and use.kept >= most.kept then return 'retained bytes of this subject' end
end

-- Reads the limits as accept gets them: three of the lane, then a text with the subject's backlog and its shares of live and kept bytes. A
-- process of an earlier release sends no shares.
function shares.limits(calls, bytes, retained, of_subject)
  local backlog, live, kept = string.match(of_subject, '^(%d+) ?(%d*) ?(%d*)$')
  return { calls = tonumber(calls), bytes = tonumber(bytes), retained = tonumber(retained), backlog = tonumber(backlog),
    live = tonumber(live), kept = tonumber(kept) }
end

-- Milliseconds until the first of the lane's settled calls may be deleted, at least SOON_MS; nil if there are none.
function shares.retained_ms(held)
  local buckets, first = redis.call('HGETALL', held.lane .. 'retained'), nil
  for at = 1, #buckets, 2 do first = math.min(first or tonumber(buckets[at]), tonumber(buckets[at])) end
  return first and math.max(shares.SOON_MS, first - held.now)
end

-- Returns which limit a new call of `size` bytes would exceed, and in how many ms there may be room (nil: not known). Returns nothing if the
-- call can be accepted.
function shares.overload_call(held, limits, head, size)
  if held.audit_late then return 'audit', shares.SOON_MS end
  if held.calls >= limits.calls then return 'calls', shares.SOON_MS end
  if held.bytes + size > limits.bytes then
    return 'bytes of calls', held.parked + size <= limits.bytes and shares.SOON_MS or nil
  end
  if held.retained >= limits.retained then return 'bytes of outcomes', shares.retained_ms(held) end
  local share, room_ms = shares.overload(head.use, size, limits)
  if share then return share, room_ms end
  local places = head.window
  if places.standing >= head.limit and places.waiting >= limits.backlog and not head.shape.passes_window then
    return 'calls of this subject', shares.SOON_MS
  end
end

-- Returns which share a question about a call would exceed, or nothing. `size` are the question's bytes, `parked` those of the call with it.
function shares.overload_parked(use, size, parked, most)
  if most.pending and use.pending >= most.pending then return 'pendingApprovals' end
  if most.parked and use.parked + parked > most.parked then return 'parkedBytes' end
  if most.live and use.live + size > most.live then return 'liveBytes' end
end
