--[[ Collects what settling a batch has to write, and writes it with as few commands as can be:
  one per reply stream, one audit entry, one XACK and XDEL per pool. The caller has checked its right before. ]]
local INLINE_OUTCOME = 16384
local REPLY_LEASE_MS = 60000
local RETAINED_BUCKET_MS = 600000

local function new_settlement(lane, now)
  return { lane = lane, now = now, entries = {}, groups = {}, replies = {}, audit = {}, live = {}, bodies = {},
    freed = 0, retained = {} }
end

local function add_audit(settlement, event, call_id, record, detail)
  local audit = settlement.audit
  audit[#audit + 1] = 'r'
  audit[#audit + 1] = cmsgpack.pack({ event, call_id, record.meta }) .. detail
end

local function settle_record(settlement, call_id, record, outcome, options)
  local lane = settlement.lane
  local pool, group = record.pool, record.group
  if record.entry ~= '' then
    local ids = settlement.entries[pool] or {}
    settlement.entries[pool] = ids
    ids[#ids + 1] = record.entry
  end
  if record.standing == '1' then
    local name = pool .. '\n' .. group
    local left = settlement.groups[name] or { pool = pool, group = group, count = 0, window = tonumber(record.window) }
    settlement.groups[name] = left
    left.count = left.count + 1
  end
  if record.entry == '' and record.state == 'queued' then leave_backlog(lane, pool, group, call_id) end
  if record.entry == '' or record.large == '1' then
    settlement.bodies[#settlement.bodies + 1] = body_key(lane, call_id)
  end

  local by_reference = #outcome > INLINE_OUTCOME
  local waiters = record.waiters
  for at = 1, #waiters, 3 do
    local fields = settlement.replies[waiters[at]] or {}
    settlement.replies[waiters[at]] = fields
    fields[#fields + 1] = (by_reference and 'r' or 's') .. waiters[at + 1]
    fields[#fields + 1] = by_reference and '' or outcome
  end
  add_audit(settlement, options.event, call_id, record, options.audit)
  settlement.live[#settlement.live + 1] = call_id
  settlement.freed = settlement.freed + tonumber(record.bytes)

  record.state = 'settled'
  record.standing = nil
  record.settledAt = text(settlement.now)
  record.fence = options.fence
  record.released = options.release
  local bytes = cmsgpack.pack(record) .. outcome
  redis.call('SET', call_key(lane, call_id), bytes, 'PX', options.retention)
  local released_key = string.find(call_id, '~', 1, true)
  if released_key then
    redis.call('PEXPIRE', call_key(lane, string.sub(call_id, 1, released_key - 1)), options.retention)
  end
  local bucket = text(math.ceil((settlement.now + tonumber(options.retention)) / RETAINED_BUCKET_MS))
  settlement.retained[bucket] = (settlement.retained[bucket] or 0) + #bytes
end

local function write_settlement(settlement, meta_key, live_key, audit_key)
  local lane = settlement.lane
  if #settlement.live == 0 then return end
  for pool, ids in pairs(settlement.entries) do
    redis.call('XACK', stream_key(lane, pool), GROUP, unpack(ids))
    redis.call('XDEL', stream_key(lane, pool), unpack(ids))
  end
  local count = #settlement.audit / 2
  local last = redis.call('HINCRBY', meta_key, 'auditSequence', count)
  redis.call('XADD', audit_key, text(last - count + 1) .. '-0', 't', text(settlement.now), unpack(settlement.audit))
  for caller, fields in pairs(settlement.replies) do
    local key = reply_key(lane, caller)
    redis.call('XADD', key, '*', unpack(fields))
    redis.call('PEXPIRE', key, REPLY_LEASE_MS)
  end
  redis.call('ZREM', live_key, unpack(settlement.live))
  redis.call('HINCRBY', meta_key, 'liveBytes', text(0 - settlement.freed))
  for bucket, bytes in pairs(settlement.retained) do
    redis.call('HINCRBY', lane .. 'retained', bucket, text(bytes))
    redis.call('HINCRBY', meta_key, 'retainedBytes', text(bytes))
  end
  if #settlement.bodies > 0 then redis.call('DEL', unpack(settlement.bodies)) end
  for _, left in pairs(settlement.groups) do
    leave_window(lane, left.pool, left.group, left.count, left.window)
  end
end

local function append_audit(meta_key, audit_key, now, event, call_id, record, detail)
  local sequence = redis.call('HINCRBY', meta_key, 'auditSequence', 1)
  redis.call('XADD', audit_key, text(sequence) .. '-0', 't', text(now),
    'r', cmsgpack.pack({ event, call_id, record.meta }) .. detail)
end
