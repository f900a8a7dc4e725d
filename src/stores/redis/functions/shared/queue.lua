--[[ Fairness. At most `window` entries of one group stand in a pool's stream; the rest waits, as call ids, in the group's backlog.
  A group is a subject, or a subject and a serial tool (with a window of one); the call that leaves knows its window. The window hash
  counts entries under the group's name and waiting calls under `b:` and the name. ]]
local LARGE_BODY = 65536

-- Any call but a new small one: what is known about it goes along.
local function add_entry(lane, call_id, record, envelope)
  local body, by_reference = envelope, '0'
  if #envelope > LARGE_BODY then
    redis.call('SET', body_key(lane, call_id), envelope)
    body, by_reference = '', '1'
    set_extra(record, 'large', '1')
  end
  local fields = { 'c', call_id, 'm', record[FACTS], 'd', record[DIGEST], 'e', body, 'x', by_reference .. (extra(record, 'handedBack') or '0') }
  local base = extra(record, 'base')
  if base then
    -- Somebody's before: the next owner is told what is known about it.
    fields[#fields + 1] = 's'
    fields[#fields + 1] = table.concat({ base, extra(record, 'starts') or '0', extra(record, 'effect') or '',
      extra(record, 'cancel') or '0' }, ',')
  end
  if extra(record, 'resumed') then
    fields[#fields + 1] = 'w'
    fields[#fields + 1] = redis.call('GET', resumed_key(lane, call_id)) or ''
  end
  record[ENTRY] = redis.call('XADD', stream_key(lane, pool_of(record)), '*', unpack(fields))
end

-- Moves waiting calls of a group up. Returns how many stand and wait then.
local function promote(lane, pool, group, standing, waiting, limit)
  while waiting > 0 and standing < limit do
    local call_id = redis.call('LPOP', backlog_key(lane, pool, group))
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

-- `left` counts, by place, the entries that leave a pool; what waited moves up.
local function leave_windows(lane, pool, left)
  local key = window_key(lane, pool)
  local groups, names = {}, {}
  for place, count in pairs(left) do
    local where = place_of(place)
    groups[#groups + 1] = { name = where.group, limit = where.limit, count = count }
    names[#names + 1] = where.group
    names[#names + 1] = 'b:' .. where.group
  end
  local counts = redis.call('HMGET', key, unpack(names))
  local kept, emptied = {}, {}
  local function note(name, before, after)
    if after > 0 then
      if after ~= before then kept[#kept + 1], kept[#kept + 2] = name, text(after) end
    elseif before > 0 then
      emptied[#emptied + 1] = name
    end
  end
  for number, group in ipairs(groups) do
    local stood, waited = tonumber(counts[number * 2 - 1]) or 0, tonumber(counts[number * 2]) or 0
    local standing, waiting = promote(lane, pool, group.name, math.max(0, stood - group.count), waited, group.limit)
    note(group.name, stood, standing)
    note('b:' .. group.name, waited, waiting)
  end
  if #kept > 0 then redis.call('HSET', key, unpack(kept)) end
  if #emptied > 0 then redis.call('HDEL', key, unpack(emptied)) end
end

-- A waiting call that ends gives its place in the backlog away.
local function leave_backlog(lane, record, call_id)
  local place = place_of(record[PLACE])
  if redis.call('LREM', backlog_key(lane, place.pool, place.group), 1, call_id) == 0 then return end
  if redis.call('HINCRBY', window_key(lane, place.pool), 'b:' .. place.group, -1) <= 0 then
    redis.call('HDEL', window_key(lane, place.pool), 'b:' .. place.group)
  end
end

local function enter_window(lane, record)
  local place = place_of(record[PLACE])
  redis.call('HINCRBY', window_key(lane, place.pool), place.group, 1)
end

-- The envelope of a call that stands in a stream.
local function read_envelope(lane, call_id, record)
  if extra(record, 'large') then return redis.call('GET', body_key(lane, call_id)) end
  local entry = redis.call('XRANGE', stream_key(lane, pool_of(record)), record[ENTRY], record[ENTRY])[1]
  return entry and entry[2][8]
end

-- Takes a call off its stream and raises the base to `fence`: no fence given out so far is valid any more.
local function drop_entry(lane, record, fence)
  local stream = stream_key(lane, pool_of(record))
  redis.call('XACK', stream, GROUP, record[ENTRY])
  redis.call('XDEL', stream, record[ENTRY])
  record[ENTRY] = ''
  set_extra(record, 'base', fence)
  set_extra(record, 'large', nil)
end

-- How many calls of each group stand and wait, by place; one question per pool.
local function window_counts(lane, heads)
  local counts, pools = {}, {}
  for _, head in ipairs(heads) do
    if head.place and not counts[head.place] then
      local pool, group = head.shape.pool, head.shape.group
      local names = pools[pool] or { places = {} }
      pools[pool] = names
      counts[head.place] = { pool = pool, group = group }
      names.places[#names.places + 1] = head.place
      names[#names + 1] = group
      names[#names + 1] = 'b:' .. group
    end
  end
  for pool, names in pairs(pools) do
    local found = redis.call('HMGET', window_key(lane, pool), unpack(names))
    -- A key of another type in the stream's place must be noticed before anything is written.
    redis.call('XLEN', stream_key(lane, pool))
    for number, place in ipairs(names.places) do
      local group = counts[place]
      group.standing, group.waiting = tonumber(found[number * 2 - 1]) or 0, tonumber(found[number * 2]) or 0
      group.stood, group.waited = group.standing, group.waiting
    end
  end
  return counts
end

local function write_window_counts(lane, counts)
  local changes = {}
  for _, group in pairs(counts) do
    local list = changes[group.pool] or {}
    changes[group.pool] = list
    if group.standing ~= group.stood then list[#list + 1], list[#list + 2] = group.group, text(group.standing) end
    if group.waiting ~= group.waited then list[#list + 1], list[#list + 2] = 'b:' .. group.group, text(group.waiting) end
  end
  for pool, list in pairs(changes) do
    if #list > 0 then redis.call('HSET', window_key(lane, pool), unpack(list)) end
  end
end
