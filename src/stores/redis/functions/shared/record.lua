--[[ The packed record of a call that is not settled. Packed, because struct.unpack reads it in one step and does not look at every byte. The
  fields in order, with their encoding; numbers are little-endian, a text has its length before it:
    version        1 character, `1`
    state          1 character: `q` queued, `r` running (it has a start mark), `p` parked
    standing       `1`: the call takes a place in its group's window (queue.lua); `0`: it is in the backlog, is parked and not serial, or
                   needs no place
    events         `1`: the first waiter wants events
    bytes          uint32: the envelope, and the questions and edited arguments added to it
    sequence       uint32: the call's number in its run, from 1
    tool_sequence  uint32: its number among the calls of its tool in that run
    entry          uint8 length: id of its entry in the pool's stream; empty in the backlog and while parked
    place          uint16 length: pool, group and window size, one line each
    caller         uint8 length: the first waiter; empty without one
    correlation    uint8 length: `s` and the first waiter's correlation id
    extras         uint16 length: values that only few calls have, as `;name=value`
    others         uint32 length: further waiters, each with three lines: caller, correlation, events
    facts          uint16 length: what the store guarantees, one line each; a stream entry has the same lines
    digest         uint8 length: the body digest, over tool and arguments
  accept_calls writes all of them; state, standing, bytes, entry, waiters, extras and facts can change later. The names in `extras`:
    serial                      1: the tool is serial (accept_calls)
    base, lost                  fence base; deliveries of earlier entries whose workers were lost (drop_entry)
    large                       1: the envelope has a key of its own (add_entry)
    starts, startFence, effect  start marks so far; fence and tool effect of the last one (start_calls; abandon_call takes a start back)
    abandonedFence, handedBack  fence of the last abandon; how many workers handed the call back (abandon_call)
    cancel                      1: its worker has to abort it (cancel_call)
    approval, asked             id of the last question; bytes of all questions and edited arguments (ask_approval, decide_approval)
    leftWindow                  1: parked without its place in the window (ask_approval; resume_call removes it)
    resumed                     the fence under which no worker can have run the call yet; 0: it may have run (resume_call)
    grant                       the grant that allowed the call (use_grant) ]]
local PACKED = '<c1c1c1c1I4I4I4Bc0Hc0Bc0Bc0Hc0I4c0Hc0Bc0'
-- The format of the first fields, up to `others`. Settling and renewing read only these, because unpacking fewer fields is faster.
local PACKED_FRONT = '<c1c1c1c1I4I4I4Bc0Hc0Bc0Bc0Hc0I4c0'
local VERSION = '1'
-- The first byte of a settled call, the character `2`; see ending.lua.
local SETTLED_BYTE = 50
local STATE, STANDING, EVENTS, BYTES, SEQUENCE, TOOL_SEQUENCE, ENTRY, PLACE = 2, 3, 4, 5, 6, 7, 8, 9
local CALLER, CORRELATION, EXTRAS, OTHERS, FACTS, DIGEST = 10, 11, 12, 13, 14, 15
local QUEUED, RUNNING, PARKED = 'q', 'r', 'p'
local STATE_NAMES = { q = 'queued', r = 'running', p = 'parked' }

-- Lines of the facts: identity (JSON), session, run, epoch, sessionExpiresAt, acceptedAt, deadline, events (1: the first waiter of the
-- accept wants them) and tool. Times are store times in ms.
local IDENTITY, SESSION, RUN, ACCEPTED_AT, DEADLINE, TOOL = 1, 2, 3, 6, 7, 9

local function is_settled(bytes)
  return bytes and string.byte(bytes) == SETTLED_BYTE
end

local function unpack_record(bytes, format)
  local record = { struct.unpack(format, bytes) }
  return record[1] == VERSION and record or nil
end

-- Returns nil for bytes that no function has written: such a call is treated as gone.
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

-- Reads the records of a batch; a call that is settled or unknown has false or nil. Only if the bytes of some call cannot be unpacked,
-- reads each record on its own.
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

-- Lengths as one byte. Filled when first needed, because `string` does not exist while a library is loaded.
local BYTE = {}
local pair_of = remember(function(length) return struct.pack('<H', length) end)
local size_of = remember(function(size) return struct.pack('<I4', size) end)

-- `record_frame`, `framed_facts` and `framed_record` together make the same bytes as `write_record`. They are faster for many new calls
-- that differ in little: the parts that these calls have in common are packed once.
local function record_frame(state, events, place, caller, extras)
  return { standing = VERSION .. state .. '1' .. events, waiting = VERSION .. state .. '0' .. events,
    place = struct.pack('<Hc0Bc0', #place, place, #caller, caller), extras = struct.pack('<Hc0I4', #extras, extras, 0) }
end

local function framed_facts(frame, facts)
  return frame.extras .. pair_of(#facts) .. facts
end

-- `front` is the frame's `standing` or `waiting`; `sequences` are both numbers, already packed.
local function framed_record(front, frame, facts, size, sequences, entry, correlation, digest)
  if not BYTE[0] then
    for length = 0, 255 do BYTE[length] = string.char(length) end
  end
  return front .. size_of(size) .. sequences .. BYTE[#entry] .. entry .. frame.place .. BYTE[#correlation] .. correlation .. facts
    .. BYTE[#digest] .. digest
end

-- Returns the record of a call that is not settled; nil for any other.
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

-- Sets a value in the extras of a record. Without `value`, removes the name.
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

-- Writes the start mark. It distinguishes a worker that was lost while it ran the call from one that never began.
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
