--[[ A released key continues under the next generation of its id; the first generation knows the latest one. Returns the call that
  has the key now, or nil, the id to use, and the first generation's ending to be written with it. ]]
local function find_call(lane, asked, bytes)
  local calls, outcomes = calls_key(lane), outcomes_key(lane)
  local ending = read_ending(redis.call('HGET', outcomes, asked))
  if not bytes and not ending then return nil, asked end
  if not ending or not ending.released then return { id = asked, record = read_record(bytes), ending = ending } end
  local latest = ending.continued
  if latest > 1 then
    local latest_id = asked .. '~' .. text(latest)
    local latest_bytes = redis.call('HGET', calls, latest_id)
    local latest_ending = read_ending(redis.call('HGET', outcomes, latest_id))
    if latest_bytes and not (latest_ending and latest_ending.released) then
      return { id = latest_id, record = read_record(latest_bytes), ending = latest_ending }
    end
  end
  -- Not forgotten while a later generation is under way; settling that one sets it again.
  ending.continued, ending.forget_at = latest + 1, ''
  return nil, asked .. '~' .. text(latest + 1), write_ending(ending)
end
