--[[ Collects what settling a batch has to write, and writes it with as few commands as can be:
  one per reply stream, one audit entry, one XACK and XDEL per pool. The caller has checked its right before. ]]
local INLINE_OUTCOME = 16384
local REPLY_LEASE_MS = 60000
local RETAINED_BUCKET_MS = 600000
local MOST_REPLY_FIELDS = 1000

local function new_settlement(lane, now)
  return { lane = lane, now = now, now_text = text(now), entries = {}, groups = {}, replies = {}, audit = {}, live = {},
    bodies = {}, freed = 0, retained = 0, retention = '0' }
end

-- An audit record is three fields: event and call id, meta, and the detail of whoever settled.
local function add_audit(audit, event, call_id, record, detail)
  local at = #audit
  audit[at + 1], audit[at + 2], audit[at + 3] = event, call_id, 'm'
  audit[at + 4], audit[at + 5], audit[at + 6] = record.meta, 'd', detail
end

local function write_audit(meta_key, audit_key, now_text, audit)
  local count = #audit / 6
  local last = redis.call('HINCRBY', meta_key, 'auditSequence', count)
  redis.call('XADD', audit_key, text(last - count + 1) .. '-0', 't', now_text, unpack(audit))
end

local function add_replies(settlement, record, outcome)
  local by_reference = #outcome > INLINE_OUTCOME
  for caller, correlation in string.gmatch(record.waiters, '([^\n]+)\n([^\n]*)\n[^\n]*') do
    local fields = settlement.replies[caller] or {}
    settlement.replies[caller] = fields
    fields[#fields + 1] = (by_reference and 'r' or 's') .. correlation
    fields[#fields + 1] = by_reference and '' or outcome
  end
end

local function settle_record(settlement, call_id, record, outcome, options)
  local lane, pool, group = settlement.lane, record.pool, record.group
  if record.entry ~= '' then
    local ids = settlement.entries[pool] or {}
    settlement.entries[pool] = ids
    ids[#ids + 1] = record.entry
  elseif record.state == 'queued' then
    leave_backlog(lane, pool, group, call_id)
  end
  if record.standing then
    local name = pool .. group
    local left = settlement.groups[name] or { pool = pool, group = group, count = 0, window = tonumber(record.window) }
    settlement.groups[name] = left
    left.count = left.count + 1
  end
  if record.entry == '' or record.large then
    settlement.bodies[#settlement.bodies + 1] = body_key(lane, call_id)
  end
  add_replies(settlement, record, outcome)
  add_audit(settlement.audit, options.event, call_id, record, options.audit)
  settlement.live[#settlement.live + 1] = call_id
  settlement.freed = settlement.freed + tonumber(record.bytes)

  local ending = { at = settlement.now_text, fence = options.fence, released = options.release }
  local key = call_key(lane, call_id)
  local size = redis.call('APPEND', key, cmsgpack.pack(ending) .. outcome)
  redis.call('PEXPIRE', key, options.retention)
  settlement.retention = options.retention
  settlement.retained = settlement.retained + size
  local generation = string.find(call_id, '~', 1, true)
  if generation then
    redis.call('PEXPIRE', call_key(lane, string.sub(call_id, 1, generation - 1)), options.retention)
  end
end

local function write_settlement(settlement, meta_key, live_key, audit_key)
  local lane = settlement.lane
  if #settlement.live == 0 then return end
  for pool, ids in pairs(settlement.entries) do
    local stream = stream_key(lane, pool)
    redis.call('XACK', stream, GROUP, unpack(ids))
    redis.call('XDEL', stream, unpack(ids))
  end
  write_audit(meta_key, audit_key, settlement.now_text, settlement.audit)
  for caller, fields in pairs(settlement.replies) do
    local key = reply_key(lane, caller)
    -- In parts: a call of a script takes only so many arguments.
    for first = 1, #fields, MOST_REPLY_FIELDS do
      redis.call('XADD', key, '*', unpack(fields, first, math.min(first + MOST_REPLY_FIELDS - 1, #fields)))
    end
    redis.call('PEXPIRE', key, REPLY_LEASE_MS)
  end
  redis.call('ZREM', live_key, unpack(settlement.live))
  redis.call('HINCRBY', meta_key, 'liveBytes', text(0 - settlement.freed))
  local bucket = text(math.ceil((settlement.now + tonumber(settlement.retention)) / RETAINED_BUCKET_MS))
  redis.call('HINCRBY', lane .. 'retained', bucket, text(settlement.retained))
  redis.call('HINCRBY', meta_key, 'retainedBytes', text(settlement.retained))
  if #settlement.bodies > 0 then redis.call('DEL', unpack(settlement.bodies)) end
  for _, left in pairs(settlement.groups) do
    leave_window(lane, left.pool, left.group, left.count, left.window)
  end
end
