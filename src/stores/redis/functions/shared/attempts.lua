--[[ What a run has tried lately, so that a loop is seen whoever works on it. One hash has all runs of a lane, by session and run, so that a
  batch is one command. A run is: attempts, until which of them it is watched, cost, until which of them something has gone wrong
  lately; for each tool a tag and its attempts, the first of them apart, since most runs of a moment use one; then hints, the
  beginnings of the latest signatures, where repetitions are looked for. A run in which something repeats itself or goes wrong is
  watched: a list has the ids of its calls, which themselves say what came out. Others cost nothing. ]]
-- A hint is long enough that chance makes one call of 250,000 look repeated: with one letter less it was one of 4,000, each watched for long.
local HISTORY, HINT, SIGNATURE = 128, 4, 8
-- So many signatures are looked through: a circle of eight is seen in them many times.
local HINTS_SIZE = 64 * HINT
local RUN_FRONT, RUN_FRONT_SIZE = '<I4I4dI4Hc4I4', 30
local TOOL_SIZE = 8
-- Of more tools than this the rest is counted together.
local MOST_OTHER_TOOLS, REST_TAG = 999, '____'
local NO_SIGNATURE = '--------'
local OPEN = '?' .. NO_SIGNATURE
-- So many attempts after one that went wrong are worth a look; after one that repeats what was sent in another way, the longest circle.
local WORTH_A_LOOK, WORTH_A_ROUND = 4, 8

local function runs_key(lane) return lane .. 'runs' end
local function recent_key(lane, run_name) return lane .. 'recent:' .. run_name end
local function run_field(run) return 'run:' .. run end

-- What a session says of its run: when it was opened, how many of the latest runs before it loop detection ended, and when it did, if any.
local function opened_run(now, loop_ends) return text(now) .. ' ' .. (loop_ends or '0') end

-- Into a table that has room for it already: growing one costs more than all the rest.
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

-- `fresh` are hints behind those that stand there; the oldest give way.
local function write_run(run, fresh)
  local from = math.max(run.hints_at, #run.value + #fresh - HINTS_SIZE + 1)
  return struct.pack(RUN_FRONT, run.attempts, run.watched_until, run.cost, run.wrong_until, #run.other_tools / TOOL_SIZE + 1,
    run.tool_tag, run.tool_count) .. run.other_tools .. string.sub(run.value, from) .. fresh
end

-- How often a signature seems to be among the hints that begin at `first`, up to `most`.
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

-- What a delivery is told of its run; see `runStateOf`. The first part differs between calls, the last does not. Between them stands
-- whether the attempt is part of the history, so that what comes out has to be remembered.
local WATCHED = '!'
-- Most runs of a moment use one tool, and many are about as long.
local same_sequences = remember(function(sequence) return struct.pack('<I4I4', sequence, sequence) end)
local function sequences(sequence, tool_sequence)
  if sequence == tool_sequence then return same_sequences(sequence) end
  return struct.pack('<I4I4', sequence, tool_sequence)
end
-- The times of ended runs come last, and behind them what the session counts, where workers of an earlier release do not look. By far the
-- most runs have neither.
local function run_facts(opened, cost, stalls)
  if #opened <= 15 and not stalls then return opened .. ' ' .. text_of(cost) end
  local front, loop_ends = string.match(opened, '^(%d+ %d+)(.*)$')
  if stalls then loop_ends = (loop_ends == '' and ' -' or loop_ends) .. ' ' .. stalls end
  return front .. ' ' .. text_of(cost) .. loop_ends
end

local tool_tag = remember(function(tool) return string.sub(redis.sha1hex(tool), 1, 4) end)

-- One attempt as `openHistory` reads it. Target and tally, where an attempt has them, stand in a second piece, which workers of an earlier
-- release skip.
local function describe_attempt(record, attempt)
  local front, size = struct.pack('<I4d', record[SEQUENCE], tonumber(fact(record, ACCEPTED_AT))), 2 * SIGNATURE + 1
  local described = front .. tool_tag(fact(record, TOOL)) .. string.sub(record[DIGEST], 1, SIGNATURE) .. string.sub(attempt, 1, size)
    .. string.rep('-', size - #attempt)
  if #attempt ~= 2 * size - 1 then return described end
  return described .. front .. '----' .. string.sub(attempt, size + 1, size + SIGNATURE) .. '+'
    .. string.sub(attempt, size + SIGNATURE + 1) .. NO_SIGNATURE
end

-- The latest attempts since the run is watched, in no order.
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

-- Notes a call of a watched run. The list ends by itself when nothing is added for long.
local RECENT_MS = '3600000'
local function add_recent(lane, run_name, call_id)
  local key = recent_key(lane, run_name)
  if redis.call('RPUSH', key, call_id) > 2 * HISTORY then redis.call('LTRIM', key, '-' .. HISTORY, '-1') end
  redis.call('PEXPIRE', key, RECENT_MS)
end

-- Ends a run: its right, what was offered to it, its counters and its history.
local function end_run(lane, session_id, run)
  local run_name = session_id .. '/' .. run
  if redis.call('HDEL', session_key(lane, session_id), run_field(run)) == 0 then return false end
  redis.call('HDEL', session_key(lane, session_id), injected_field(run))
  redis.call('HDEL', runs_key(lane), run_name)
  redis.call('DEL', recent_key(lane, run_name))
  return true
end
