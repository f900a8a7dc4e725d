--[[ The pending list is the lease: who holds an entry, and how often it was delivered. The fence is a base, raised by every
  requeue, plus the deliveries. ]]

-- Who holds a call's entry, and its deliveries.
local function holder(lane, record)
  if record[ENTRY] == '' then return nil, 0 end
  -- A pool that no worker has served yet has no group, and nobody holds anything.
  local found = redis.pcall('XPENDING', stream_key(lane, pool_of(record)), GROUP, record[ENTRY], record[ENTRY], 1)
  local pending = found[1]
  if not pending then return nil, 0 end
  return pending[2], tonumber(pending[4])
end

local function has_fence(record, entry, deliveries, fence)
  if record[ENTRY] ~= entry or record[STATE] == PARKED then return false end
  if record[EXTRAS] == '' and deliveries == 1 then return fence == '1' end
  return (tonumber(extra(record, 'base')) or 0) + deliveries == tonumber(fence)
end

local function owns(lane, record, worker, entry, fence)
  local owner, deliveries = holder(lane, record)
  return owner == worker and has_fence(record, entry, deliveries, fence)
end

-- Deliveries by entry of what a worker holds between two entries of a pool: one question for a whole batch.
local function held_by(lane, pool, worker, first, last, count)
  local held = {}
  local found = redis.pcall('XPENDING', stream_key(lane, pool), GROUP, first, last, count * 2 + 16, worker)
  if found.err then return held end
  for at = 1, #found do
    local pending = found[at]
    held[pending[1]] = pending[4]
  end
  return held
end

-- Asks again for an entry that lies behind what one question could show. False stands for one that is done with.
local function deliveries_of(held, lane, pool, worker, entry)
  local deliveries = held[entry]
  if deliveries ~= nil then return deliveries end
  local found = redis.pcall('XPENDING', stream_key(lane, pool), GROUP, entry, entry, 1, worker)
  return found[1] and found[1][4] or nil
end
