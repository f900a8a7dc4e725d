--[[ What settle_calls gets about a call in addition to its outcome. Most calls have none of these:
    release_key    `1`: its key is released, so that the next accept makes a new generation; otherwise `0`
    attempt        the result for the run's history; see `attemptText` in domain/call/history.ts
    session, run   the run that changes; `session` is empty if it does not
    cost           added to the run's cost, in millionths
    rest_ms        if the run ends: for how many ms its conversation gets no new run
    stall          the signature that the session counts, or empty; see `add_stall`
  The fields from `session` on are the note of an attempt: what it changes in its run and session. An attempt has a note if it failed, ran
  something else than was sent, has a target, had a cost, brought nothing new, or ends its run. The first letter of an attempt is `o` for a
  success and `e` if it ends its run; for the others see domain/call/history.ts. ]]
local OK, REFUSED = 'o' .. NO_SIGNATURE, 'r' .. NO_SIGNATURE
-- The attempt of a call that an approver denied; the same as `DENIED_RESULT` in domain/call/attempt.ts.
local DENIED = 'rdenied--'
local PLAIN = { release_key = '0', attempt = OK, session = '' }
local more_of_call, unpack_fence, note_attempt, note_refusal, add_loop_end, write_notes

-- Lua allows 200 local names in the whole library. The names that only this file uses are local to this block.
do
local OK_BYTE, ENDS_RUN_BYTE = 111, 101
local PACKED_FENCE = '^(%d+)(!?) ?(%S*) ?([^/ ]*)/?([^ ]*) ?(%d*) ?(%d*) ?(%S*)$'

-- Takes the arguments of a row of MORE, after its number. An empty attempt is a plain success.
function more_of_call(release_key, attempt, session, run, cost, rest_ms, stall)
  return { release_key = release_key, attempt = attempt ~= '' and attempt or OK, session = session or '', run = run or '',
    cost = tonumber(cost) or 0, rest_ms = tonumber(rest_ms), stall = stall or '' }
end

-- A process of revision 6 or earlier sends no rows of MORE. It sends `<fence>! <attempt> <session>/<run> <cost> <restMs> <stall>` as the
-- argument `fence`. Everything after the number is optional, and the `!` releases the key. Returns the fence, and the rest as
-- `more_of_call` does.
function unpack_fence(packed)
  local fence, mark, attempt, session, run, cost, rest_ms, stall = string.match(packed, PACKED_FENCE)
  return fence, more_of_call(mark == '!' and '1' or '0', attempt, session, run, cost, rest_ms, stall)
end

-- Returns the hints of an attempt: the beginnings of the signature of what ran and of the signature of its target, where the attempt has them.
local function hints_of(attempt)
  local hints = {}
  for _, at in ipairs({ SIGNATURE + 2, 2 * SIGNATURE + 2 }) do
    local signature = string.sub(attempt, at, at + SIGNATURE - 1)
    if signature ~= '' and signature ~= NO_SIGNATURE then hints[#hints + 1] = string.sub(signature, 1, HINT) end
  end
  return hints
end

function note_attempt(notes, call_id, record, note)
  notes[#notes + 1] = { note = note, call_id = call_id, sequence = record[SEQUENCE], letter = string.byte(note.attempt),
    hints = hints_of(note.attempt) }
end

-- Adds the note of a call that no worker settled: it was cancelled, expired or denied.
function note_refusal(notes, call_id, record)
  note_attempt(notes, call_id, record, more_of_call('0', REFUSED, fact(record, SESSION), fact(record, RUN)))
end

local function watch(lane, run, run_name, one, attempts)
  run.wrong_until = math.max(run.wrong_until, one.sequence + attempts)
  -- A run is watched from its first failed attempt on, and that attempt is part of its history.
  if one.sequence > run.watched_until then add_recent(lane, run_name, one.call_id) end
  run.watched_until = math.max(run.watched_until, run.attempts + HISTORY)
end

-- Records that loop detection ended a run. The session keeps the latest 16 ends (`MAX_LOOP_ENDS`), and earlier ones whose conversation may
-- not have a new run yet, at most 256 together. A worker of an earlier release sends no `rest_ms`: then it is ten minutes. The stalls are
-- deleted: they have led to this end, and the end itself makes the checks of the next runs stricter.
function add_loop_end(lane, session_id, run, rest_ms)
  local key, now, lines, kept = session_key(lane, session_id), now_ms(), {}, {}
  for line in string.gmatch(redis.call('HGET', key, 'loops') or '', '[^\n]+') do lines[#lines + 1] = line end
  lines[#lines + 1] = run .. ' ' .. text(now) .. ' ' .. text(now + (rest_ms or 600000))
  for number, line in ipairs(lines) do
    if number > #lines - 16 or tonumber(string.match(line, '%d+$')) > now then kept[#kept + 1] = line end
  end
  redis.call('HSET', key, 'loops', table.concat(kept, '\n', math.max(1, #kept - 255)))
  redis.call('HDEL', key, 'stalls')
end

-- Counts a call that brought nothing new in a run of the session, as `addStall` in domain/call/attempt.ts does. A stall is
-- `<signature>:<count>:<time of the first, store ms>`. The session keeps the latest 8, with a comma between them, each for 30 minutes.
local function add_stall(lane, session_id, run, signature)
  local key, now, count, first, kept = session_key(lane, session_id), now_ms(), 1, nil, {}
  local known = redis.call('HMGET', key, run_field(run), 'stalls')
  if not known[1] then return end
  for one, times, at in string.gmatch(known[2] or '', '([^:,]+):(%d+):(%d+)') do
    local live = now - tonumber(at) < 1800000
    if live and one == signature then
      count, first = tonumber(times) + 1, at
    elseif live then
      kept[#kept + 1] = one .. ':' .. times .. ':' .. at
    end
  end
  kept[#kept + 1] = signature .. ':' .. text(count) .. ':' .. (first or text(now))
  redis.call('HSET', key, 'stalls', table.concat(kept, ',', math.max(1, #kept - 7)))
end

local function write_note(lane, one, meta_key, live_key)
  local note, session_id, run_id = one.note, one.note.session, one.note.run
  local run_name = session_id .. '/' .. run_id
  local value = redis.call('HGET', runs_key(lane), run_name)
  -- A run that has ended has no counters. Calls that settle later must not create them again.
  if value then
    local run = read_run(new_run(), value)
    run.cost = run.cost + note.cost
    -- These hints are those of what ran, if that differs from what was sent, and of its target. So this finds a call that repeats an
    -- earlier one in another form, or writes to the same target again.
    local repeats = false
    for _, hint in ipairs(one.hints) do repeats = repeats or count_hints(run.value, hint, run.hints_at, 1) > 0 end
    if repeats then watch(lane, run, run_name, one, WORTH_A_ROUND) end
    if one.letter ~= OK_BYTE then watch(lane, run, run_name, one, WORTH_A_LOOK) end
    redis.call('HSET', runs_key(lane), run_name, write_run(run, table.concat(one.hints)))
    if note.stall ~= '' then add_stall(lane, session_id, run_id, note.stall) end
  end
  if one.letter == ENDS_RUN_BYTE and end_run(lane, session_id, run_id) then
    add_loop_end(lane, session_id, run_id, note.rest_ms)
    redis.call('HINCRBY', meta_key, 'epoch', 1)
    hurry_parked(lane, live_key, session_id)
  end
end

function write_notes(lane, notes, meta_key, live_key)
  for _, one in ipairs(notes) do write_note(lane, one, meta_key, live_key) end
end
end
