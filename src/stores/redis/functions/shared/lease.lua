--[[ The stream's list of pending entries is the lease: it has the worker that holds an entry, and how often the entry was delivered. The
  fence of a call is a base, which every requeue raises, plus the delivery count of its entry. ]]
local holder, has_fence, owns, held_by, deliveries_of

do
-- Positions of the values that XPENDING returns for one entry. The third value, the idle time, is not used.
local PENDING_ENTRY, PENDING_WORKER, PENDING_DELIVERIES = 1, 2, 4

-- Returns the worker that holds a call's entry, and how often the entry was delivered; nil and 0 if no worker holds it.
function holder(lane, record)
  if record[ENTRY] == '' then return nil, 0 end
  -- A pool that no worker has served yet has no consumer group: the error has no first element, so no worker holds the entry.
  local found = redis.pcall('XPENDING', stream_key(lane, pool_of(record)), GROUP, record[ENTRY], record[ENTRY], 1)
  local pending = found[1]
  if not pending then return nil, 0 end
  return pending[PENDING_WORKER], tonumber(pending[PENDING_DELIVERIES])
end

function has_fence(record, entry, deliveries, fence)
  if record[ENTRY] ~= entry or record[STATE] == PARKED then return false end
  if record[EXTRAS] == '' and deliveries == 1 then return fence == '1' end
  return (tonumber(extra(record, 'base')) or 0) + deliveries == tonumber(fence)
end

function owns(lane, record, worker, entry, fence)
  local owner, deliveries = holder(lane, record)
  return owner == worker and has_fence(record, entry, deliveries, fence)
end

-- Returns how often each entry between `first` and `last` that the worker holds was delivered, by entry id. This is one command for a whole
-- batch. The number of entries that it returns is limited, so `deliveries_of` asks again for an entry that is missing.
function held_by(lane, pool, worker, first, last, count)
  local held = {}
  local found = redis.pcall('XPENDING', stream_key(lane, pool), GROUP, first, last, count * 2 + 16, worker)
  if found.err then return held end
  for at = 1, #found do
    local pending = found[at]
    held[pending[PENDING_ENTRY]] = pending[PENDING_DELIVERIES]
  end
  return held
end

-- Returns how often an entry that the worker holds was delivered; otherwise nil. Asks the server for an entry that is not in `held`, which
-- may be incomplete. `false` in `held` marks an entry that this batch has already settled.
function deliveries_of(held, lane, pool, worker, entry)
  local deliveries = held[entry]
  if deliveries ~= nil then return deliveries end
  local found = redis.pcall('XPENDING', stream_key(lane, pool), GROUP, entry, entry, 1, worker)
  return found[1] and found[1][PENDING_DELIVERIES] or nil
end
end
