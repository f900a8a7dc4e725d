--[[ The latest attempts of a run, so that a loop is detected whichever workers run its calls. The hash `runs` has all runs of a lane, by
  `<session>/<run>`, so that a batch needs one command. A run is packed; numbers are little-endian:
    attempts       uint32: calls accepted so far
    watched_until  uint32: the run is watched up to the attempt with this number
    cost           float64: cost so far, in millionths
    wrong_until    uint32: up to this attempt the history is sent along, because an attempt failed or was repeated lately
    tools          uint16: number of tools, the first one and the others below
    tool_tag, tool_count  4 characters and uint32: the first tool and its attempts. It is apart because most runs use one tool
    other tools    8 bytes each: tag (4 characters) and attempts (uint32)
    hints          4 characters each: the beginnings of the latest signatures, at most 64, in which repetitions are looked up
  accept_calls adds attempts, tools and hints; a settled call adds its cost and the hints of what ran (settled-attempts.lua).
  A run in which a call is repeated or fails is watched: the list `recent:` has the ids of its calls, and the settled calls themselves have
  the results. A run that is not watched needs no list. ]]
-- Length of a hint. With 4 characters, one call of 250,000 looks repeated by chance. With 3 characters it was one of 4,000, and a call that
-- looks repeated makes its run watched for long.
local HISTORY, HINT, SIGNATURE = 128, 4, 8
-- Repetitions are looked up in 64 signatures: a loop of eight calls appears in them several times.
local HINTS_SIZE = 64 * HINT
local RUN_FRONT, RUN_FRONT_SIZE = '<I4I4dI4Hc4I4', 30
local TOOL_SIZE = 8
-- Max other tools that a run counts separately. The attempts of all further tools are counted together, under REST_TAG.
local MAX_OTHER_TOOLS, REST_TAG = 999, '____'
local NO_SIGNATURE = '--------'
local OPEN = '?' .. NO_SIGNATURE
-- With how many further attempts the history is sent. WORTH_A_LOOK: after an attempt that failed. WORTH_A_ROUND, the length of the longest
-- loop: after an attempt that ran the same as an earlier one in another form, or wrote to the same target.
local WORTH_A_LOOK, WORTH_A_ROUND = 4, 8

local function runs_key(lane) return lane .. 'runs' end
local function recent_key(lane, run_name) return lane .. 'recent:' .. run_name end
local function run_field(run) return 'run:' .. run end

-- The value of the session's `run:` field: when the run was opened (store ms), and how many of the latest runs before it were ended by loop
-- detection. If there are any, a space follows and the times of these ends with a comma between them. `loop_ends` is the text after the
-- first space; nil: no ends.
local function opened_run(now, loop_ends) return text(now) .. ' ' .. (loop_ends or '0') end

-- Unpacks a run into an existing table that already has these fields: adding fields to a table would cost more than all the rest of this
-- function.
local function read_run(run, value)
  if not value or #value < RUN_FRONT_SIZE then return run end
  local tools
  run.attempts, run.watched_until, run.cost, run.wrong_until, tools, run.tool_tag, run.tool_count = struct.unpack(RUN_FRONT, value)
  run.value, run.hints_at = value, RUN_FRONT_SIZE + (tools - 1) * TOOL_SIZE + 1
  if tools > 1 then run.other_tools = string.sub(value, RUN_FRONT_SIZE + 1, run.hints_at - 1) end
  return run
end

local function new_run()
  return { attempts = 0, watched_until = 0, cost = 0, wrong_until = 0, tool_tag = '', tool_count = 0, other_tools = '', value = '',
    hints_at = 1 }
end

-- Packs a run with its stored hints and the new hints `fresh` after them. The oldest hints are dropped.
local function write_run(run, fresh)
  local from = math.max(run.hints_at, #run.value + #fresh - HINTS_SIZE + 1)
  return struct.pack(RUN_FRONT, run.attempts, run.watched_until, run.cost, run.wrong_until, #run.other_tools / TOOL_SIZE + 1,
    run.tool_tag, run.tool_count) .. run.other_tools .. string.sub(run.value, from) .. fresh
end

-- Counts how often a hint occurs among the hints that begin at `first`. Stops at `most`.
local function count_hints(text, hint, first, most)
  local found, from = 0, first
  while found < most do
    local at = string.find(text, hint, from, true)
    if not at then return found end
    if (at - first) % HINT == 0 then found = found + 1 end
    from = at + 1
  end
  return found
end

-- After its digest, a delivery has the state of its run; `runStateOf` in call-codec.ts reads it. First `sequences`, which differ between
-- calls. Then `!` if the run is watched, so that the result of this attempt has to be recorded (always for a call that is queued again).
-- Then `run_facts`, the same for all calls.
local WATCHED = '!'
-- Packs both sequences. They are equal in the many runs that use one tool, and many runs are about equally long, so a cache helps.
local same_sequences = remember(function(sequence) return struct.pack('<I4I4', sequence, sequence) end)
local function sequences(sequence, tool_sequence)
  if sequence == tool_sequence then return same_sequences(sequence) end
  return struct.pack('<I4I4', sequence, tool_sequence)
end
-- `<opened> <number of loop ends> <cost>`, then the times of the loop ends (`-` if only stalls follow) and the stalls of the session. These
-- two come last, where workers of an earlier release do not read. Most runs have neither: then `opened` has at most 15 characters.
local function run_facts(opened, cost, stalls)
  if #opened <= 15 and not stalls then return opened .. ' ' .. text_of(cost) end
  local front, loop_ends = string.match(opened, '^(%d+ %d+)(.*)$')
  if stalls then loop_ends = (loop_ends == '' and ' -' or loop_ends) .. ' ' .. stalls end
  return front .. ' ' .. text_of(cost) .. loop_ends
end

local tool_tag = remember(function(tool) return string.sub(redis.sha1hex(tool), 1, 4) end)

-- Encodes one attempt as `openHistory` in domain/call/history.ts reads it. The target and the tally of an attempt are in a second record, which
-- workers of an earlier release skip.
local function describe_attempt(record, attempt)
  local front, size = struct.pack('<I4d', record[SEQUENCE], tonumber(fact(record, ACCEPTED_AT))), 2 * SIGNATURE + 1
  local described = front .. tool_tag(fact(record, TOOL)) .. string.sub(record[DIGEST], 1, SIGNATURE) .. string.sub(attempt, 1, size)
    .. string.rep('-', size - #attempt)
  if #attempt ~= 2 * size - 1 then return described end
  return described .. front .. '----' .. string.sub(attempt, size + 1, size + SIGNATURE) .. '+'
    .. string.sub(attempt, size + SIGNATURE + 1) .. NO_SIGNATURE
end

-- Returns the latest attempts since the run has been watched, at most HISTORY, in no order.
local function read_history(lane, run_name)
  local ids, attempts = redis.call('LRANGE', recent_key(lane, run_name), '-' .. HISTORY, '-1'), {}
  if #ids == 0 then return '' end
  for _, bytes in ipairs(redis.call('HMGET', calls_key(lane), unpack(ids))) do
    local record_bytes, ending = bytes, nil
    if is_settled(bytes) then record_bytes, ending = split_settled(bytes) end
    local record = read_record(record_bytes)
    if record then attempts[#attempts + 1] = describe_attempt(record, ending and ending.attempt or OPEN) end
  end
  return table.concat(attempts)
end

-- Adds a call to the list of a watched run. The list expires an hour after the last call was added.
local RECENT_MS = '3600000'
local function add_recent(lane, run_name, call_id)
  local key = recent_key(lane, run_name)
  if redis.call('RPUSH', key, call_id) > 2 * HISTORY then redis.call('LTRIM', key, '-' .. HISTORY, '-1') end
  redis.call('PEXPIRE', key, RECENT_MS)
end

-- Ends a run: deletes its field in the session, the tools offered to it, its counters and its history. Returns false if it was not live.
local function end_run(lane, session_id, run)
  local run_name = session_id .. '/' .. run
  if redis.call('HDEL', session_key(lane, session_id), run_field(run)) == 0 then return false end
  redis.call('HDEL', session_key(lane, session_id), injected_field(run))
  redis.call('HDEL', runs_key(lane), run_name)
  redis.call('DEL', recent_key(lane, run_name))
  return true
end
