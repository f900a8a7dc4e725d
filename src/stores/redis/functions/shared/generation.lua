-- Decodes the stored bytes of a call. `record` is nil for bytes that no function has written; only a settled call has an `ending`.
local function known_call(call_id, bytes)
  if not is_settled(bytes) then return { id = call_id, record = read_record(bytes) } end
  local record_bytes, ending = split_settled(bytes)
  return { id = call_id, record_bytes = record_bytes, record = read_record(record_bytes), ending = ending }
end

-- Whether a session with this identity may see the call. A call of other agents gets the same answer as a call that does not exist.
function agents.reach_call(identity, call_id, bytes)
  local record = bytes and known_call(call_id, bytes).record
  return record and agents.reach(identity, fact(record, IDENTITY))
end

--[[ A released key continues under the next generation of its call id: `<id>~2`, `<id>~3` and so on. The first generation has the number of
  the latest one. Returns the call that has the key now; or nil, the id for a new call, and the bytes to write for the first generation. ]]
local function find_call(lane, asked, bytes)
  local first = known_call(asked, bytes)
  local ending = first.ending
  if not ending or not ending.released then return first end
  local latest = ending.continued
  if latest > 1 then
    local latest_id = asked .. '~' .. text(latest)
    local latest_bytes = redis.call('HGET', calls_key(lane), latest_id)
    local known = latest_bytes and known_call(latest_id, latest_bytes)
    if known and not (known.ending and known.ending.released) then return known end
  end
  -- The first generation must not be deleted before the later one is settled, because it has the number of the later one. Settling the
  -- later one sets `forget_at` again.
  ending.continued, ending.forget_at = latest + 1, ''
  return nil, asked .. '~' .. text(latest + 1), write_ending(first.record_bytes, ending)
end

-- Whether a known call belongs to the agents of this identity. False for other agents whose tag happens to be the same. True for a call that was
-- overwritten by hand: `answer_known` in accept-calls.lua then refuses it to all agents.
function agents.own(known, identity)
  return not known.record or agents.same(identity, fact(known.record, IDENTITY))
end

-- Earlier releases stored a key per subject, not per agent. Returns such a call to the agents that made it, and to no others.
function agents.earlier_call(lane, asked, bytes, identity)
  local known = bytes and find_call(lane, asked, bytes)
  return known and known.record and agents.own(known, identity) and known
end
