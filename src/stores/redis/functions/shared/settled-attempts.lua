--[[ What attempts that went wrong, ran something else than was sent, cost something or end their run change about it. By far the most do not. A note is session, run and,
  behind a blank, the cost; then, if the run ends, for how long its conversation gets no new one. An attempt's letter is `o` when all is
  well and `e` when its run ends. ]]
local OK_BYTE, ENDS_RUN_BYTE = 111, 101
local OK, REFUSED = 'o' .. NO_SIGNATURE, 'r' .. NO_SIGNATURE
-- By a person; see `DENIED_RESULT`.
local DENIED = 'rdenied--'

local function note_attempt(notes, note, call_id, record, attempt)
  notes[#notes + 1] = { note = note, call_id = call_id, sequence = record[SEQUENCE], letter = string.byte(attempt),
    effective = string.sub(attempt, SIGNATURE + 2, SIGNATURE + 1 + HINT) }
end

-- Of a call that nobody has run.
local function note_refusal(notes, call_id, record)
  note_attempt(notes, fact(record, SESSION) .. '/' .. fact(record, RUN) .. ' ', call_id, record, REFUSED)
end

local function watch(lane, run, run_name, one)
  run.wrong_until = math.max(run.wrong_until, one.sequence + WORTH_A_LOOK)
  -- Watched from its first mistake on, and that one is part of it.
  if one.sequence > run.watched_until then add_recent(lane, run_name, one.call_id) end
  run.watched_until = math.max(run.watched_until, run.attempts + HISTORY)
end

-- The latest 16 are kept: see `MAX_LOOP_ENDS`. A worker of an earlier release does not say for how long: ten minutes.
local function add_loop_end(lane, session_id, run, rest_ms)
  local key, now, lines = session_key(lane, session_id), now_ms(), {}
  for line in string.gmatch(redis.call('HGET', key, 'loops') or '', '[^\n]+') do lines[#lines + 1] = line end
  lines[#lines + 1] = run .. ' ' .. text(now) .. ' ' .. text(now + (rest_ms or 600000))
  redis.call('HSET', key, 'loops', table.concat(lines, '\n', math.max(1, #lines - 15)))
end

local function write_note(lane, one, meta_key, live_key)
  local run_name, cost, rest_ms = string.match(one.note, '^([^ ]*) (%d*) ?(%d*)$')
  local session_id, run_id = string.match(run_name, '^([^/]*)/(.*)$')
  local value = redis.call('HGET', runs_key(lane), run_name)
  -- A run that has ended has no counters, and gets none by what ends later.
  if value then
    local run = read_run(new_run(), value)
    if cost ~= '' then run.cost = run.cost + tonumber(cost) end
    -- What ran was not what was sent: it may repeat something that was sent in another way.
    local repeats = one.effective ~= '' and count_hints(run.value, one.effective, run.hints_at, 1) > 0
    if one.letter ~= OK_BYTE or repeats then watch(lane, run, run_name, one) end
    redis.call('HSET', runs_key(lane), run_name, write_run(run, one.effective))
  end
  if one.letter == ENDS_RUN_BYTE and end_run(lane, session_id, run_id) then
    add_loop_end(lane, session_id, run_id, tonumber(rest_ms))
    redis.call('HINCRBY', meta_key, 'epoch', 1)
    hurry_parked(lane, live_key, session_id)
  end
end

local function write_notes(lane, notes, meta_key, live_key)
  for _, one in ipairs(notes) do write_note(lane, one, meta_key, live_key) end
end
