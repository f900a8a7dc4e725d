-- The call that `bytes` are of. Without a record when somebody else has written them.
local function known_call(call_id, bytes)
  if not is_settled(bytes) then return { id = call_id, record = read_record(bytes) } end
  local record_bytes, ending = split_settled(bytes)
  return { id = call_id, record_bytes = record_bytes, record = read_record(record_bytes), ending = ending }
end

-- Whether a session with this identity may see the call; one of another agent looks as if it did not exist.
function agents.reach_call(identity, call_id, bytes)
  local record = bytes and known_call(call_id, bytes).record
  return record and agents.reach(identity, fact(record, IDENTITY))
end

--[[ A released key continues under the next generation of its id; the first generation knows the latest one. Returns the call that
  has the key now, or nil, the id to use, and what has to be written for the first generation. ]]
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
  -- Not forgotten while a later generation is under way; settling that one sets it again.
  ending.continued, ending.forget_at = latest + 1, ''
  return nil, asked .. '~' .. text(latest + 1), write_ending(first.record_bytes, ending)
end

-- Not so for two lists of agents with one tag. What was overwritten by hand is kept from all of them: see `answer_known` in accept-calls.lua.
function agents.own(known, identity)
  return not known.record or agents.same(identity, fact(known.record, IDENTITY))
end

-- Earlier releases kept a key under its subject alone. Such a call is there for the agents that made it, and for no others.
function agents.earlier_call(lane, asked, bytes, identity)
  local known = bytes and find_call(lane, asked, bytes)
  return known and known.record and agents.own(known, identity) and known
end
