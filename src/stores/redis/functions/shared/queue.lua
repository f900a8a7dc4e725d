--[[ Fairness: at most `window` calls of one group have a place in a pool's stream at a time. The ids of the others wait in the group's
  backlog, a list. A group is a subject's scope, or `<scope>/<tool>` for a serial tool, which has a window of one. The hash `windows` has a
  field for each place, which is pool, group and window size, one line each. Its value is how many calls stand (take a place in the window)
  and, after a space, how many wait in the backlog, if any. accept_calls, settling, ask_approval and decide_approval write it. ]]
local LARGE_BODY = 65536

--[[ Adds a call to its pool's stream. An entry has four values: call id, facts, digest with the state of the run (attempts.lua), and envelope.
  Fields with a name follow, if needed; a new call with a small envelope has at most `h`:
    x  `1` if the envelope has a key of its own, otherwise `0`; then how many workers handed the call back
    s  for a call that a worker held before: base, starts, effect, cancel and lost of its extras, with commas between them
    w  for a call that was parked: the approval, a space, and the fence under which no worker can have run the call yet (0: none)
    h  the run's history, if the call looks repeated ]]
local function add_entry(lane, call_id, record, envelope, state, history)
  if not state then state, history = requeued_attempt(lane, record) end
  local body, by_reference = envelope, '0'
  if #envelope > LARGE_BODY then
    redis.call('SET', body_key(lane, call_id), envelope)
    body, by_reference = '', '1'
    set_extra(record, 'large', '1')
  end
  local fields = { call_id, record[FACTS], record[DIGEST] .. state, body, 'x', by_reference .. (extra(record, 'handedBack') or '0') }
  local base = extra(record, 'base')
  if base then
    -- A worker held the call before. The next worker needs to know about the earlier starts, a requested cancel and lost deliveries.
    fields[#fields + 1] = 's'
    fields[#fields + 1] = table.concat({ base, extra(record, 'starts') or '0', extra(record, 'effect') or '',
      extra(record, 'cancel') or '0', extra(record, 'lost') or '0' }, ',')
  end
  local resumed = extra(record, 'resumed')
  if resumed then
    -- The approval that allowed the call, and the fence under which no worker can have run it yet.
    fields[#fields + 1] = 'w'
    fields[#fields + 1] = extra(record, 'approval') .. ' ' .. resumed
  end
  if history then
    fields[#fields + 1] = 'h'
    fields[#fields + 1] = history
  end
  record[ENTRY] = redis.call('XADD', stream_key(lane, pool_of(record)), '*', unpack(fields))
end

-- Moves calls from the backlog of a group to its stream while the window has room. Returns how many stand and how many wait afterwards.
local function promote(lane, place, standing, waiting)
  while waiting > 0 and standing < place.limit do
    local call_id = redis.call('LPOP', backlog_key(lane, place.pool, place.group))
    if not call_id then return standing, 0 end
    waiting = waiting - 1
    local record = load_record(lane, call_id)
    if record and record[STATE] == QUEUED and record[ENTRY] == '' then
      local envelope = redis.call('GET', body_key(lane, call_id))
      if envelope then
        redis.call('DEL', body_key(lane, call_id))
        record[STANDING] = '1'
        add_entry(lane, call_id, record, envelope)
        save_record(lane, call_id, record)
        standing = standing + 1
      end
    end
  end
  return standing, waiting
end

local function read_window(value)
  if not value then return 0, 0 end
  local standing = tonumber(value)
  if standing then return standing, 0 end
  local stands, waits = string.match(value, '^(%d+) (%d+)$')
  return tonumber(stands) or 0, tonumber(waits) or 0
end

-- Adds the current state of a window to `changes`, or its field to `emptied` if it is empty. `write_windows` writes both.
local function note_window(changes, emptied, place, standing, waiting)
  if standing == 0 and waiting == 0 then
    emptied[#emptied + 1] = place
  else
    local at = #changes
    changes[at + 1], changes[at + 2] = place, waiting == 0 and text(standing) or text(standing) .. ' ' .. text(waiting)
  end
end

local function write_windows(lane, changes, emptied)
  if #changes > 0 then redis.call('HSET', windows_key(lane), unpack(changes)) end
  if #emptied > 0 then redis.call('HDEL', windows_key(lane), unpack(emptied)) end
end

-- Frees places in windows, and moves waiting calls into them. `left` has the number of calls that leave, by place. `ended` has, by scope, how
-- settled calls change the use of their subject: `freed` and `kept` bytes.
local function leave_windows(lane, left, ended, now)
  local fields, scopes = {}, {}
  for place in pairs(left) do fields[#fields + 1] = place end
  local places = #fields
  for scope in pairs(ended or {}) do
    scopes[#scopes + 1], fields[#fields + 1] = scope, shares.field(scope)
  end
  if #fields == 0 then return end
  fields[#fields + 1] = shares.FROM
  local values, changes, emptied = redis.call('HMGET', windows_key(lane), unpack(fields)), {}, {}
  local from = tonumber(values[#fields])
  for number = 1, places do
    local place = fields[number]
    local standing, waiting = read_window(values[number])
    standing = math.max(0, standing - left[place])
    if waiting > 0 then standing, waiting = promote(lane, place_of(place), standing, waiting) end
    note_window(changes, emptied, place, standing, waiting)
  end
  for number, scope in ipairs(from and scopes or {}) do
    local use = shares.read(values[places + number])
    use.live = use.live - ended[scope].freed
    if now >= from then use.kept = use.kept + ended[scope].kept end
    shares.note(changes, emptied, scope, use)
  end
  write_windows(lane, changes, emptied)
end

-- Changes the two counts of a window by these numbers, which may be negative: how many calls of the group stand, and how many wait.
local function adjust_window(lane, place, more_standing, more_waiting)
  local standing, waiting = read_window(redis.call('HGET', windows_key(lane), place))
  local changes, emptied = {}, {}
  note_window(changes, emptied, place, math.max(0, standing + more_standing), math.max(0, waiting + more_waiting))
  write_windows(lane, changes, emptied)
end

-- Removes a call that ends from the backlog of its group.
local function leave_backlog(lane, record, call_id)
  local place = place_of(record[PLACE])
  if redis.call('LREM', backlog_key(lane, place.pool, place.group), 1, call_id) == 0 then return end
  adjust_window(lane, record[PLACE], 0, -1)
end

-- Returns the envelope of a call that has an entry in a stream; nil or false if it is gone.
local function read_envelope(lane, call_id, record)
  if extra(record, 'large') then return redis.call('GET', body_key(lane, call_id)) end
  local entry = redis.call('XRANGE', stream_key(lane, pool_of(record)), record[ENTRY], record[ENTRY])[1]
  return entry and entry[2][4]
end

-- Removes a call's entry from its stream, and raises the base to `fence`, so that no earlier fence of the call is valid any more. The entry
-- may have been delivered several times: all its workers but the last one were lost. The next entry counts deliveries from 1 again, so
-- `lost` in the extras keeps the number of the lost ones.
local function drop_entry(lane, record, fence)
  local lost = tonumber(fence) - (tonumber(extra(record, 'base')) or 0) - 1
  if lost > 0 then set_extra(record, 'lost', text(lost + (tonumber(extra(record, 'lost')) or 0))) end
  local stream = stream_key(lane, pool_of(record))
  redis.call('XACK', stream, GROUP, record[ENTRY])
  redis.call('XDEL', stream, record[ENTRY])
  record[ENTRY] = ''
  set_extra(record, 'base', fence)
  set_extra(record, 'large', nil)
end

-- Reads, for the heads of a batch, how many calls of each group stand and wait (`counts`, by place) and what each subject uses (`uses`, by
-- scope). Puts into each head the counts of its own place as `window`, and the use of its own subject as `use`.
local function window_counts(lane, heads, live_key, now)
  local counts, uses, places, streams = {}, {}, {}, {}
  for _, head in ipairs(heads) do
    local place = head.place
    if place then
      local scope = shares.scope_of_place(place)
      uses[scope] = uses[scope] or {}
      if not counts[place] then
        counts[place] = { standing = 0, waiting = 0, changed = false }
        places[#places + 1] = place
        streams[head.stream] = true
      end
      head.window = counts[place]
    end
  end
  if #places == 0 then return counts, uses end
  -- If a stream's key has another type, this command fails, before anything is written.
  for stream in pairs(streams) do redis.call('XLEN', stream) end
  local fields, scopes = { unpack(places) }, {}
  for scope in pairs(uses) do
    scopes[#scopes + 1], fields[#fields + 1] = scope, shares.field(scope)
  end
  fields[#fields + 1] = shares.FROM
  local values = redis.call('HMGET', windows_key(lane), unpack(fields))
  -- A lane without calls has nothing to count yet: the first accepted call starts the counting, and a refused call writes nothing.
  local begins = not values[#fields]
  if begins and redis.call('EXISTS', calls_key(lane)) == 1 then
    shares.begin(lane, live_key, now)
    values, begins = redis.call('HMGET', windows_key(lane), unpack(fields)), false
  end
  for number, place in ipairs(places) do
    local group = counts[place]
    group.standing, group.waiting = read_window(values[number])
  end
  for number, scope in ipairs(scopes) do
    uses[scope] = shares.read(values[#places + number])
    uses[scope].begins = begins
  end
  for _, head in ipairs(heads) do
    if head.place then head.use = uses[shares.scope_of_place(head.place)] end
  end
  return counts, uses
end

local function write_window_counts(lane, counts, uses)
  local changes, emptied = {}, {}
  for place, group in pairs(counts) do
    if group.changed then note_window(changes, emptied, place, group.standing, group.waiting) end
  end
  for scope, use in pairs(uses) do
    if use.changed then
      shares.note(changes, emptied, scope, use)
      if use.begins then changes[#changes + 1], changes[#changes + 2] = shares.FROM, '0' end
    end
  end
  write_windows(lane, changes, emptied)
end
