--[[ Counts the attempts that a batch of accepts adds. `open_runs` reads the runs of the batch: the first head of a run holds the counters of
  the run, for all heads of that run. A head whose session may not call has no run. ]]
local function open_runs(lane, heads)
  local names, first_of = {}, {}
  for _, head in ipairs(heads) do
    local name = head.run_name
    if name and not first_of[name] then
      first_of[name] = head
      names[#names + 1] = name
    end
  end
  if #names == 0 then return names, first_of end
  local values = redis.call('HMGET', runs_key(lane), unpack(names))
  for number, name in ipairs(names) do
    read_run(first_of[name], values[number])
    local run = first_of[name]
    run.opened_at = run.attempts
  end
  for _, head in ipairs(heads) do
    if head.run_name then
      head.run = first_of[head.run_name]
      head.run_facts = run_facts(head.run_opened, head.run.cost, head.stalls)
    end
  end
  return names, first_of
end

-- Returns the position of a tag in `tools`, the list of all tools of a run but its first one; nil if it is not there.
local function find_tool(tools, tag)
  local at = string.find(tools, tag, 1, true)
  while at and at % TOOL_SIZE ~= 1 do at = string.find(tools, tag, at + 1, true) end
  return at
end

local function count_other_tool(run, tag)
  local tools, at = run.other_tools, find_tool(run.other_tools, tag)
  if not at and #tools >= MAX_OTHER_TOOLS * TOOL_SIZE then
    tag = REST_TAG
    at = find_tool(tools, tag)
  end
  local count = at and struct.unpack('<I4', tools, at + 4) + 1 or 1
  local counted = tag .. struct.pack('<I4', count)
  run.other_tools = at and string.sub(tools, 1, at - 1) .. counted .. string.sub(tools, at + TOOL_SIZE) or tools .. counted
  return count
end

local function count_tool(run, tag)
  if run.tool_tag == '' then run.tool_tag = tag end
  if run.tool_tag ~= tag then return count_other_tool(run, tag) end
  run.tool_count = run.tool_count + 1
  return run.tool_count
end

-- Counts an attempt. Returns its number in the run, its number among those of its tool, whether it is watched, and the run's history if two
-- earlier attempts look the same or an attempt failed lately.
local function add_attempt(lane, head, call_id, digest, before_history)
  local run, hint = head.run, string.sub(digest, 1, HINT)
  local sequence, tool_sequence = run.attempts + 1, count_tool(run, head.shape.tool_tag)
  run.attempts = sequence
  local failing, fresh, same = sequence <= run.wrong_until, run.fresh, 0
  -- Looks for the hint of this call: first among the stored hints of the run, then among those of this batch. Nearly always it is in
  -- neither.
  if string.find(run.value, hint, run.hints_at, true) then same = count_hints(run.value, hint, run.hints_at, 2) end
  if same < 2 and fresh ~= '' then same = same + count_hints(fresh, hint, 1, 2) end
  run.fresh = fresh .. hint
  local history
  if same > 0 or failing then run.watched_until = sequence + HISTORY end
  local watched = sequence <= run.watched_until
  if watched then
    if same >= 2 or failing then
      before_history()
      history = read_history(lane, head.run_name)
    end
    add_recent(lane, head.run_name, call_id)
  end
  return sequence, tool_sequence, watched, history
end

local function write_runs(lane, names, first_of)
  local fields = {}
  for number = 1, #names do
    local run = first_of[names[number]]
    if run.attempts > run.opened_at then
      local at = #fields
      fields[at + 1], fields[at + 2] = names[number], write_run(run, string.sub(run.fresh, -HINTS_SIZE))
    end
  end
  if #fields > 0 then redis.call('HSET', runs_key(lane), unpack(fields)) end
end

-- For a call that is queued again: returns the current state of its run, and the history if two other attempts look the same or an attempt
-- failed lately. The call's own hint is already stored, so three equal hints are needed.
local function requeued_attempt(lane, record)
  local session_id, run_id, sequence = fact(record, SESSION), fact(record, RUN), record[SEQUENCE]
  local known = redis.call('HMGET', session_key(lane, session_id), run_field(run_id), 'stalls')
  if not known[1] then return '', nil end
  local run_name = session_id .. '/' .. run_id
  local run = read_run(new_run(), redis.call('HGET', runs_key(lane), run_name))
  local state = sequences(sequence, record[TOOL_SEQUENCE]) .. WATCHED .. run_facts(known[1], run.cost, known[2])
  local repeated = sequence <= run.wrong_until or count_hints(run.value, string.sub(record[DIGEST], 1, HINT), run.hints_at, 3) >= 3
  return state, repeated and read_history(lane, run_name) or nil
end
