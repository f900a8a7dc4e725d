--[[ A call's record, packed: reading one is a single step without looking at every byte. `sequence` is the call's number in its
  run, `tool_sequence` the one among calls of its tool; `place` is pool, group and window, one line each; `extras` is what only few calls have, as `;name=value`; `others` are waiters after the first, as caller, correlation and
  events; `facts` are what the store vouches for, one line each, as the entry has them. ]]
local PACKED = '<c1c1c1c1I4I4I4Bc0Hc0Bc0Bc0Hc0I4c0Hc0Bc0'
-- Up to `others`: all that settling looks at.
local PACKED_FRONT = '<c1c1c1c1I4I4I4Bc0Hc0Bc0Bc0Hc0I4c0'
local VERSION = '1'
-- The first byte of what stands there once the call is settled; see ending.lua.
local SETTLED_BYTE = 50
local STATE, STANDING, EVENTS, BYTES, SEQUENCE, TOOL_SEQUENCE, ENTRY, PLACE = 2, 3, 4, 5, 6, 7, 8, 9
local CALLER, CORRELATION, EXTRAS, OTHERS, FACTS, DIGEST = 10, 11, 12, 13, 14, 15
local QUEUED, RUNNING, PARKED = 'q', 'r', 'p'
local STATE_NAMES = { q = 'queued', r = 'running', p = 'parked' }

-- Lines of the facts: identity, session, run, epoch, sessionExpiresAt, acceptedAt, deadline, events and tool.
local IDENTITY, SESSION, RUN, ACCEPTED_AT, DEADLINE, TOOL = 1, 2, 3, 6, 7, 9

local function is_settled(bytes)
  return bytes and string.byte(bytes) == SETTLED_BYTE
end

local function unpack_record(bytes, format)
  local record = { struct.unpack(format, bytes) }
  return record[1] == VERSION and record or nil
end

-- Nothing for bytes that somebody else has put there: such a call is treated as gone.
local function read_record(bytes)
  if not bytes then return nil end
  local readable, record = pcall(unpack_record, bytes, PACKED)
  return readable and record or nil
end

local function unpack_records(stored, format)
  local records = {}
  for number = 1, #stored do
    local bytes = stored[number]
    records[number] = bytes and string.byte(bytes) ~= SETTLED_BYTE and unpack_record(bytes, format)
  end
  return records
end

-- The records of calls that are not settled. Looks at each on its own only if not all are ours.
local function read_records(stored, format)
  local readable, records = pcall(unpack_records, stored, format)
  if readable then return records end
  records = {}
  for number = 1, #stored do records[number] = not is_settled(stored[number]) and read_record(stored[number]) end
  return records
end

local function write_record(record)
  local entry, place, caller, correlation = record[ENTRY], record[PLACE], record[CALLER], record[CORRELATION]
  local extras, others, facts, digest = record[EXTRAS], record[OTHERS], record[FACTS], record[DIGEST]
  return struct.pack(PACKED, VERSION, record[STATE], record[STANDING], record[EVENTS], record[BYTES], record[SEQUENCE],
    record[TOOL_SEQUENCE], #entry, entry, #place, place, #caller, caller, #correlation, correlation, #extras, extras, #others, others, #facts, facts, #digest, digest)
end

-- Lengths as one byte, filled when first needed: while a library is loaded, there is no `string`.
local BYTE = {}
local pair_of = remember(function(length) return struct.pack('<H', length) end)
local size_of = remember(function(size) return struct.pack('<I4', size) end)

-- The same bytes as `write_record` makes, for new calls that differ in little: what they share is packed once.
local function record_frame(state, events, place, caller, extras)
  return { standing = VERSION .. state .. '1' .. events, waiting = VERSION .. state .. '0' .. events,
    place = struct.pack('<Hc0Bc0', #place, place, #caller, caller), extras = struct.pack('<Hc0I4', #extras, extras, 0) }
end

local function framed_facts(frame, facts)
  return frame.extras .. pair_of(#facts) .. facts
end

-- `front` is the frame's `standing` or `waiting`.
local function framed_record(front, frame, facts, size, sequences, entry, correlation, digest)
  if not BYTE[0] then
    for length = 0, 255 do BYTE[length] = string.char(length) end
  end
  return front .. size_of(size) .. sequences .. BYTE[#entry] .. entry .. frame.place .. BYTE[#correlation] .. correlation .. facts
    .. BYTE[#digest] .. digest
end

-- The record of a call that is not settled.
local function load_record(lane, call_id)
  local bytes = redis.call('HGET', calls_key(lane), call_id)
  return not is_settled(bytes) and read_record(bytes) or nil
end

local function save_record(lane, call_id, record)
  redis.call('HSET', calls_key(lane), call_id, write_record(record))
end

local function extra(record, name)
  local extras = record[EXTRAS]
  if extras == '' then return nil end
  local _, before = string.find(extras, ';' .. name .. '=', 1, true)
  return before and string.match(extras, '^[^;]*', before + 1) or nil
end

-- Without a value the name is taken away.
local function set_extra(record, name, value)
  local without = string.gsub(record[EXTRAS], ';' .. name .. '=[^;]*', '')
  record[EXTRAS] = value and without .. ';' .. name .. '=' .. value or without
end

local lines_of = remember(function(text)
  local lines = {}
  for line in string.gmatch(text .. '\n', '(.-)\n') do lines[#lines + 1] = line end
  return lines
end)

local function fact(record, line)
  return lines_of(record[FACTS])[line]
end

local function set_fact(record, line, value)
  local lines = { unpack(lines_of(record[FACTS])) }
  lines[line] = value
  record[FACTS] = table.concat(lines, '\n')
end

local place_of = remember(function(place)
  local pool, group, limit = string.match(place, '^([^\n]*)\n([^\n]*)\n(%d+)$')
  return { pool = pool, group = group, limit = tonumber(limit) }
end)

local function pool_of(record)
  return place_of(record[PLACE]).pool
end

-- The mark that tells a lost worker from one that never began.
local function mark_started(record, starts, fence, effect)
  record[STATE] = RUNNING
  if record[EXTRAS] == '' then
    record[EXTRAS] = ';starts=' .. text(starts) .. ';startFence=' .. fence .. ';effect=' .. effect
    return
  end
  set_extra(record, 'starts', text(starts))
  set_extra(record, 'startFence', fence)
  set_extra(record, 'effect', effect)
end
