--[[ Delete settled calls whose retention is over, with their approvals; expired grants; and the counters of runs of expired sessions. Counts
  `retainedBytes` again. Returns how many call ids it looked at: the caller repeats it as long as that is `limit`.
  FLAGS    allow-oom
  KEYS     meta, calls, sessions
  ARGV     incarnation, lane, limit
  RETURNS  FORGOT ]]
local meta, calls, sessions = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()

local function forget(ids)
  local kept, gone, seen, forgotten = redis.call('HMGET', calls, unpack(ids)), {}, {}, {}
  for number, call_id in ipairs(ids) do
    local record_bytes, ending = split_settled(kept[number])
    local forget_at = ending and tonumber(ending.forget_at)
    -- The first generation of a released key is kept as long as the latest generation. Each generation that is settled adds the id of the
    -- first one to a `forget:` list again. So one list can have that id twice; `seen` makes sure that the call is deleted and subtracted
    -- once.
    if forget_at and forget_at <= now and not seen[call_id] then
      gone[#gone + 1], seen[call_id] = call_id, true
      local asked
      if string.find(record_bytes, ';approval=', 1, true) then
        local record = read_record(record_bytes)
        asked = record and extra(record, 'asked')
        forget_approvals(lane, record)
      end
      forgotten[#forgotten + 1] = { scope = shares.scope_of_call(call_id), at = tonumber(ending.at),
        bytes = shares.kept_bytes(record_bytes, ending.outcome, asked) }
    end
  end
  if #gone > 0 then redis.call('HDEL', calls, unpack(gone)) end
  shares.forget(lane, forgotten)
end

local looked_at, retained = 0, 0
local buckets = redis.call('HGETALL', lane .. 'retained')
for at = 1, #buckets, 2 do
  local is_due = tonumber(buckets[at]) <= now
  if is_due and looked_at < limit then
    local ids = redis.call('LPOP', lane .. 'forget:' .. buckets[at], limit - looked_at)
    if ids then
      looked_at = looked_at + #ids
      forget(ids)
    else
      redis.call('HDEL', lane .. 'retained', buckets[at])
    end
  elseif not is_due then
    retained = retained + tonumber(buckets[at + 1])
  end
end
grants.forget(lane, now, limit)
redis.call('HSET', meta, 'retainedBytes', text(retained))
-- The key of a session outlasts its expiry for a while, so that a late call gets the right answer. The counters and histories of the
-- session's runs are not needed for that and are deleted now.
for _, session_id in ipairs(redis.call('ZRANGEBYSCORE', sessions, '-inf', text(now), 'LIMIT', 0, limit)) do
  local fields = redis.call('HKEYS', session_key(lane, session_id))
  for _, field in ipairs(fields) do
    local run = string.match(field, '^run:(.*)$')
    if run then
      redis.call('HDEL', runs_key(lane), session_id .. '/' .. run)
      redis.call('DEL', recent_key(lane, session_id .. '/' .. run))
    end
  end
  redis.call('ZREM', sessions, session_id)
end
return { 'FORGOT', looked_at }
