--[[ Fairness. At most `window` entries of one group stand in a pool's stream; the rest waits, as call ids, in the group's backlog.
  A group is a subject, or a subject and a serial tool (with a window of one); the call that leaves knows its window. The window hash counts entries under the group's
  name and waiting calls under `b:` and the name. ]]
local LARGE_BODY = 65536

local function add_entry(lane, call_id, record, envelope)
  local body, by_reference = envelope, '0'
  if #envelope > LARGE_BODY then
    redis.call('SET', body_key(lane, call_id), envelope)
    body, by_reference = '', '1'
    record.large = '1'
  end
  local fields = { 'c', call_id, 'm', record.meta, 'e', body, 'x', by_reference .. (record.handedBack or '0') }
  if record.base then
    -- Somebody's before: the next owner is told what is known about it.
    fields[#fields + 1] = 's'
    fields[#fields + 1] = table.concat({ record.base, record.starts or '0', record.effect or '', record.cancel or '0' }, ',')
  end
  if record.with then
    fields[#fields + 1] = 'w'
    fields[#fields + 1] = record.with
  end
  record.entry = redis.call('XADD', stream_key(lane, record.pool), '*', unpack(fields))
end

-- Frees `count` places of a group and moves waiting calls up.
local function leave_window(lane, pool, group, count, limit)
  local key = window_key(lane, pool)
  local counts = redis.call('HMGET', key, group, 'b:' .. group)
  local standing = math.max(0, (tonumber(counts[1]) or 0) - count)
  local waiting = tonumber(counts[2]) or 0
  local waiting_before = waiting
  while waiting > 0 and standing < limit do
    local call_id = redis.call('LPOP', backlog_key(lane, pool, group))
    if not call_id then waiting = 0 break end
    waiting = waiting - 1
    local record = load_record(lane, call_id)
    if record and record.state == 'queued' and record.entry == '' then
      local envelope = redis.call('GET', body_key(lane, call_id))
      if envelope then
        redis.call('DEL', body_key(lane, call_id))
        record.standing = '1'
        add_entry(lane, call_id, record, envelope)
        save_record(lane, call_id, record)
        standing = standing + 1
      end
    end
  end
  if standing > 0 then redis.call('HSET', key, group, text(standing)) elseif counts[1] then redis.call('HDEL', key, group) end
  if waiting ~= waiting_before then
    if waiting > 0 then redis.call('HSET', key, 'b:' .. group, text(waiting)) else redis.call('HDEL', key, 'b:' .. group) end
  end
end

-- A waiting call that ends gives its place in the backlog away.
local function leave_backlog(lane, pool, group, call_id)
  if redis.call('LREM', backlog_key(lane, pool, group), 1, call_id) == 0 then return end
  if redis.call('HINCRBY', window_key(lane, pool), 'b:' .. group, -1) <= 0 then
    redis.call('HDEL', window_key(lane, pool), 'b:' .. group)
  end
end

local function enter_window(lane, pool, group, count)
  redis.call('HINCRBY', window_key(lane, pool), group, count)
end

-- The envelope of a call that stands in a stream.
local function read_envelope(lane, call_id, record)
  if record.large then return redis.call('GET', body_key(lane, call_id)) end
  local entry = redis.call('XRANGE', stream_key(lane, record.pool), record.entry, record.entry)[1]
  return entry and entry[2][6]
end

-- Takes a call off its stream and raises the base to `fence`: no fence given out so far is valid any more.
local function drop_entry(lane, record, fence)
  local stream = stream_key(lane, record.pool)
  redis.call('XACK', stream, GROUP, record.entry)
  redis.call('XDEL', stream, record.entry)
  record.entry, record.base, record.large = '', text(fence), nil
end
