--[[ A call's record is a sequence of MessagePack values: a map of strings, and once settled a second map (the ending) with the
  outcome's own bytes behind it. Settling only appends. `meta` is what an entry carries beside the envelope, one line each; whatever
  a caller chose stands last, behind what the store vouches for. Waiters are lines too: caller, correlation, events. ]]
local META = { identity = 1, session = 2, epoch = 3, sessionExpiresAt = 4, acceptedAt = 5, deadline = 6, events = 7,
  run = 8, digest = 9, tool = 10 }

-- Returns the record, its ending if it is settled, and where the outcome starts.
local function read_record(bytes)
  local offset, record = cmsgpack.unpack_one(bytes)
  if offset == -1 then return record end
  local outcome_at, ending = cmsgpack.unpack_one(bytes, offset)
  record.state = 'settled'
  return record, ending, outcome_at
end

local function load_record(lane, call_id)
  local bytes = redis.call('GET', call_key(lane, call_id))
  if not bytes then return nil end
  return read_record(bytes)
end

local function save_record(lane, call_id, record)
  redis.call('SET', call_key(lane, call_id), cmsgpack.pack(record))
end

-- The bytes of a settled call with another ending. The record and the outcome stay as they are.
local function with_ending(bytes, ending, outcome_at)
  local offset = cmsgpack.unpack_one(bytes)
  return string.sub(bytes, 1, offset) .. cmsgpack.pack(ending) .. string.sub(bytes, outcome_at + 1)
end

local function meta_field(record, name)
  local wanted, at = META[name], 1
  for line in string.gmatch(record.meta .. '\n', '(.-)\n') do
    if at == wanted then return line end
    at = at + 1
  end
end

local function with_meta_field(meta, name, value)
  local lines = {}
  for line in string.gmatch(meta .. '\n', '(.-)\n') do lines[#lines + 1] = line end
  lines[META[name]] = value
  return table.concat(lines, '\n')
end

-- The pending list is the lease: who holds the entry, and how often it was delivered.
local function holder(lane, record)
  if record.entry == '' then return nil, 0 end
  -- A pool that no worker has served yet has no group, and nobody holds anything.
  local found = redis.pcall('XPENDING', stream_key(lane, record.pool), GROUP, record.entry, record.entry, 1)
  local pending = found[1]
  if not pending then return nil, 0 end
  return pending[2], tonumber(pending[4])
end

local function owns(lane, record, worker, entry, fence)
  if record.state == 'settled' or record.state == 'parked' or record.entry ~= entry then return false end
  local owner, deliveries = holder(lane, record)
  return owner == worker and (tonumber(record.base) or 0) + deliveries == tonumber(fence)
end
