-- A released key continues under the next generation of its id; the first generation knows the latest one.
local function find_call(lane, call, bytes)
  if not bytes then return nil end
  local record, ending, outcome_at = read_record(bytes)
  local found = { id = call.id, record = record, outcome = ending and string.sub(bytes, outcome_at + 1) }
  if not ending or ending.released ~= '1' then return found end
  local latest = tonumber(ending.next or '1')
  if latest > 1 then
    call.id = call.asked .. '~' .. text(latest)
    local latest_bytes = redis.call('GET', call_key(lane, call.id))
    if latest_bytes then
      local latest_record, latest_ending, latest_at = read_record(latest_bytes)
      if not latest_ending or latest_ending.released ~= '1' then
        return { id = call.id, record = latest_record, outcome = latest_ending and string.sub(latest_bytes, latest_at + 1) }
      end
    end
  end
  call.id = call.asked .. '~' .. text(latest + 1)
  ending.next = text(latest + 1)
  call.continues = with_ending(bytes, ending, outcome_at)
end
