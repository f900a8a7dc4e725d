--[[ The attempts that a batch of accepts adds. The first head of a run holds what is known of the run, for all its heads. A head of a
  session that may not call has no run. ]]
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
    run.opened_at, run.first_by_tool = run.attempts, {}
  end
  for _, head in ipairs(heads) do
    if head.run_name then
      head.run = first_of[head.run_name]
      head.run_facts = run_facts(head.run_opened, head.run.cost)
    end
  end
  return names, first_of
end

-- Where a tool's count stands among those of its run.
local function find_tool(tools, tag)
  local at = string.find(tools, tag, 1, true)
  while at and at % TOOL_SIZE ~= 1 do at = string.find(tools, tag, at + 1, true) end
  return at
end

-- The head that counts for a tool: of several heads of one run and tool, the first.
local function counting_head(head)
  local run = head.run
  local first = run.first_by_tool[head.tool_tag]
  if first then return first end
  run.first_by_tool[head.tool_tag] = head
  local at = find_tool(run.tools, head.tool_tag)
  if at then head.tool_count = struct.unpack('<I4', run.tools, at + 4) end
  return head
end

local function write_tool_counts(run)
  for tag, head in pairs(run.first_by_tool) do
    local at, count = find_tool(run.tools, tag), tag .. struct.pack('<I4', head.tool_count)
    run.tools = at and string.sub(run.tools, 1, at - 1) .. count .. string.sub(run.tools, at + TOOL_SIZE) or run.tools .. count
  end
end

-- Counts an attempt. Returns its sequence, that among those of its tool, whether it is watched, and the history if it looks like a repetition.
local function add_attempt(lane, head, call_id, digest, before_history)
  local run, hint = head.run, string.sub(digest, 1, HINT)
  local sequence, counting = run.attempts + 1, head.counting or counting_head(head)
  head.counting, run.attempts, counting.tool_count = counting, sequence, counting.tool_count + 1
  local failing = sequence <= run.wrong_until
  local same = count_hints(run.value, hint, run.hints_at, 2)
  if same < 2 and run.fresh ~= '' then same = same + count_hints(run.fresh, hint, 1, 2) end
  run.fresh = run.fresh .. hint
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
  return sequence, counting.tool_count, watched, history
end

local function write_runs(lane, names, first_of)
  local fields = {}
  for number = 1, #names do
    local run = first_of[names[number]]
    if run.attempts > run.opened_at then
      write_tool_counts(run)
      local at = #fields
      fields[at + 1], fields[at + 2] = names[number], write_run(run, string.sub(run.fresh, -HINTS_SIZE))
    end
  end
  if #fields > 0 then redis.call('HSET', runs_key(lane), unpack(fields)) end
end

-- For a call that is queued again: what it is told of its run now, and the history if it looks like a repetition.
local function requeued_attempt(lane, record)
  local session_id, run_id, sequence = fact(record, SESSION), fact(record, RUN), record[SEQUENCE]
  local opened = redis.call('HGET', session_key(lane, session_id), run_field(run_id))
  if not opened then return '', nil end
  local run_name = session_id .. '/' .. run_id
  local run = read_run(new_run(), redis.call('HGET', runs_key(lane), run_name))
  local state = sequences(sequence, record[TOOL_SEQUENCE]) .. WATCHED .. run_facts(opened, run.cost)
  local repeated = sequence <= run.wrong_until or count_hints(run.value, string.sub(record[DIGEST], 1, HINT), run.hints_at, 3) >= 3
  return state, repeated and read_history(lane, run_name) or nil
end
