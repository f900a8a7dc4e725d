--[[ The journal holds a lane's audit records until they are drained to a sink. It is a list with one element per record. Roles that write
  records may use RPUSH on it and no other write command: they can append, but neither trim nor reorder. Each element can be decoded
  alone. It contains, in this order, all numbers little-endian:
    `J1`     2 bytes, the format
    time     float64, store time in ms
    number   float64, the record's number by the lane's own count (`auditSequence` in meta)
    call id  uint32 length and text; empty in an administrative record
    event    uint8 length and text
    record   uint32 length and bytes: the call's packed record (record.lua), or the lines of `about_session`
    detail   the rest, the bytes of the process that caused the record
  The `drain` hash can be written only by roles that drain, all times in store ms:
    removed, drained         elements removed so far; number of the last record that the sink has (drain_audit)
    surplus, foreign         records found beyond the lane's count; elements that are no records; both so far (drain_audit)
    drainedAt, foreignAt     time of the last drain, and of the last one that found a new surplus or foreign element (drain_audit)
    drainer, until, fence    who has the right to drain, until when, and the fence of that right (claim_audit; drain_audit extends it)
    alarm, gap               what is wrong, and the missing records as `from to` (alarm_audit; drain_audit clears both)
  One table, because Lua limits the local names of a library. ]]
local journal = { MAX_COUNT = 1125899906842624, MAX_LOSS = 1000000000, LARGE = 1048576, PUSHED_AT_ONCE = 1000 }

-- The key of the journal. A process of an earlier release sends the key of the stream that held the records before.
function journal.key(audit_key)
  local lane = string.match(audit_key, '^(.*:)audit$')
  return lane and lane .. 'journal' or audit_key
end

-- These two are cached, because the same lengths and events are packed again and again.
journal.length = remember(function(length) return struct.pack('<I4', length) end)
journal.event = remember(function(event) return struct.pack('<Bc0', #event, event) end)

-- The first bytes of an element. They are the same for all elements of a batch.
function journal.front(at)
  return 'J1' .. struct.pack('<d', at)
end

function journal.element(front, number, call_id, event, bytes, detail)
  local length_of = journal.length
  return front .. struct.pack('<d', number) .. length_of(#call_id) .. call_id .. journal.event(event) .. length_of(#bytes) .. bytes .. detail
end

-- The SHA-1 that identifies an element for a trim. Of a large element only the first MiB is hashed: hashing all of it would block the server.
function journal.digest(element)
  return redis.sha1hex(#element > journal.LARGE and string.sub(element, 1, journal.LARGE) or element)
end

-- Reads the `drain` hash. A lane that an earlier release drained has these facts in `meta` until the next claim_audit.
function journal.facts(meta_key, drain_key)
  local found = redis.call('HMGET', drain_key, 'drained', 'removed', 'surplus', 'foreign', 'drainedAt', 'drainer', 'until', 'fence',
    'alarm', 'foreignAt', 'gap')
  if not found[1] then
    local old = redis.call('HMGET', meta_key, 'auditDrained', 'auditDrainedAt', 'auditFence')
    found[1], found[5], found[8] = old[1], old[2], old[3]
  end
  return { drained = tonumber(found[1]) or 0, removed = tonumber(found[2]) or 0, surplus = tonumber(found[3]) or 0,
    foreign = tonumber(found[4]) or 0, drained_at = found[5] or '0', drainer = found[6] or '', until_ms = tonumber(found[7]) or 0,
    fence = tonumber(found[8]) or 0, alarm = found[9] or '', foreign_at = found[10] or '0', gap = found[11] or '' }
end

-- Parses the lane's own count. Returns nil for a value that is no whole number or that no lane can reach: it was written by hand.
function journal.counted(value)
  local count = type(value) ~= 'table' and tonumber(value or '0') or nil
  return count and count >= 0 and count <= journal.MAX_COUNT and math.floor(count) == count and count or nil
end

-- Returns how many records the lane has written if none is lost: those that were drained, and `length` that are still in the journal.
function journal.recount(facts, length)
  return math.max(0, facts.drained - facts.surplus) + length
end

--[[ Returns the lane's own count if it is plausible, otherwise the count that the lane must have. A count is not plausible if it is no
  number, or if it means that more records were lost than any lane ever held. The attack: a role sets the count close to the largest
  number, an operator accepts the gap, and no numbers are left for the records after it. ]]
function journal.believed(value, facts, length)
  local count, expected = journal.counted(value), journal.recount(facts, length)
  return count and count <= expected + journal.MAX_LOSS and count or expected
end

-- Adds new records to the lane's count and returns it. A count that was overwritten by hand must not stop a settle: it is computed again
-- from the drained records and the elements in the journal.
function journal.count(meta_key, key, records)
  local last = journal.counted(redis.pcall('HINCRBY', meta_key, 'auditSequence', records))
  if last and last >= records then return last end
  local facts = journal.facts(meta_key, (string.gsub(meta_key, 'meta$', 'drain')))
  last = journal.recount(facts, redis.call('LLEN', key)) + records
  redis.call('HSET', meta_key, 'auditSequence', text(last))
  return last
end

-- Appends records. Every function that audits calls this before any other write, so that a broken journal makes the function fail before
-- anything is changed.
function journal.append(meta_key, key, at, audit)
  -- If the key has another type, this command fails, before the records are counted.
  redis.call('LLEN', key)
  local count, elements = #audit / 4, {}
  local before, front = journal.count(meta_key, key, count) - count, journal.front(at)
  for number = 1, count do
    local field = number * 4
    elements[number] = journal.element(front, before + number, audit[field - 3], audit[field - 1], audit[field - 2], audit[field])
  end
  for first = 1, count, journal.PUSHED_AT_ONCE do
    redis.call('RPUSH', key, unpack(elements, first, math.min(first + journal.PUSHED_AT_ONCE - 1, count)))
  end
end

function journal.drains(facts, drainer, fence)
  return facts.drainer == drainer and text(facts.fence) == fence
end
