--[[ The journal: a lane's audit on its way to a sink. It is a list with one element per record. Roles that write records have RPUSH on it
  and no other write: they can add, and can neither trim nor reorder. An element stands for itself: `J1`, the time, the number by the
  lane's own count, call id, event, the call's record, and the detail to the end.
  The `drain` hash belongs to the roles that drain. `removed` counts the elements that left the journal, `drained` is the last record
  that left it for the sink, `surplus` is how many records more than the lane's count were found, `foreign` how many elements were no
  records. One table, because a library has room for few local names. ]]
local journal = { MAX_COUNT = 1125899906842624, MAX_LOSS = 1000000000, LARGE = 1048576, PUSHED_AT_ONCE = 1000 }

-- A process of an earlier release names the stream that stood here before.
function journal.key(audit_key)
  local lane = string.match(audit_key, '^(.*:)audit$')
  return lane and lane .. 'journal' or audit_key
end

-- Lengths and events come again and again: what they are packed to is remembered.
journal.length = remember(function(length) return struct.pack('<I4', length) end)
journal.event = remember(function(event) return struct.pack('<Bc0', #event, event) end)

-- What all elements of a batch begin with.
function journal.front(at)
  return 'J1' .. struct.pack('<d', at)
end

function journal.element(front, number, call_id, event, bytes, detail)
  local length_of = journal.length
  return front .. struct.pack('<d', number) .. length_of(#call_id) .. call_id .. journal.event(event) .. length_of(#bytes) .. bytes .. detail
end

-- Identifies an element for a trim. A large one is known by its first part: hashing all of it would hold up the server.
function journal.digest(element)
  return redis.sha1hex(#element > journal.LARGE and string.sub(element, 1, journal.LARGE) or element)
end

-- What the drain has noted. A lane that an earlier release drained has its facts in `meta` until the next claim.
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

-- The lane's own count; nil for one that is no number or that no lane can reach: it was written by hand.
function journal.counted(value)
  local count = type(value) ~= 'table' and tonumber(value or '0') or nil
  return count and count >= 0 and count <= journal.MAX_COUNT and math.floor(count) == count and count or nil
end

-- What the count has to be if nothing is lost.
function journal.recount(facts, length)
  return math.max(0, facts.drained - facts.surplus) + length
end

--[[ The lane's own count, or what it has to be where it cannot be true: it is no number, or it says that more records were lost than any
  lane ever held. The attack: a role sets the count close to the largest number, an operator accepts the gap, and the records behind
  it have no number left. ]]
function journal.believed(value, facts, length)
  local count, expected = journal.counted(value), journal.recount(facts, length)
  return count and count <= expected + journal.MAX_LOSS and count or expected
end

-- Counts records. A count that was written by hand must not stop a settle: it is made again from what was drained and what waits.
function journal.count(meta_key, key, records)
  local last = journal.counted(redis.pcall('HINCRBY', meta_key, 'auditSequence', records))
  if last and last >= records then return last end
  local facts = journal.facts(meta_key, (string.gsub(meta_key, 'meta$', 'drain')))
  last = journal.recount(facts, redis.call('LLEN', key)) + records
  redis.call('HSET', meta_key, 'auditSequence', text(last))
  return last
end

-- The first write of every function that audits: whatever is wrong with the journal fails here, before anything else has changed.
function journal.append(meta_key, key, at, audit)
  -- A key of another type must be noticed before the records are counted.
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
