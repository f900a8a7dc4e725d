--[[ Touch a session, revoke it with all sessions it delegated to, or open or end a run. `change` is `touch`, `revoke`, `open-run`, `end-run` or
  `end-looped-run`. A change that takes a right away raises the epoch, so that no worker trusts an older snapshot. No worker holds the parked
  calls, so the next reap ends them. A revocation is one step with its audit record; so is `end-run` if there is a detail.
  FLAGS    allow-oom
  KEYS     meta, live, audit
  ARGV     incarnation, lane, session, change, run, detail, maxRuns
  RETURNS  CHANGED | ENDED | UNKNOWN | FULL ]]
local meta, live, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, session, change, run, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
-- Builds of revision 4 send no max number of runs, and do not know the answer FULL.
local max_runs = tonumber(ARGV[7]) or math.huge

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = session_key(lane, session)
local known, _, _, ending = live_session(lane, session, run, now_ms())
if not known then return 'UNKNOWN' end

local function record(event, ended_run, facts)
  local records = {}
  add_audit(records, event, '', about_session(session, ended_run, known.identity), facts)
  write_audit(meta, audit, text(now_ms()), records)
end

local function is_full()
  local fields, runs = redis.call('HGETALL', key), 0
  for at = 1, #fields, 2 do
    if string.sub(fields[at], 1, 4) == 'run:' then runs = runs + 1 end
  end
  return runs >= max_runs
end

-- Returns the latest ends of runs by loop detection, at most two (`COUNTED_LOOP_ENDS`): their number, a space, and their times with a comma
-- between them. Returns nil if there were none. An earlier release only counted these ends, in `ended`: they get the current time.
local function latest_loop_ends()
  local known, now = redis.call('HMGET', key, 'loops', 'ended'), text(now_ms())
  local ends = known[1] or ''
  if known[2] then
    local line = ' ' .. now .. ' ' .. now
    ends = line .. (tonumber(known[2]) > 1 and '\n' .. line or '') .. (ends == '' and '' or '\n' .. ends)
    redis.call('HSET', key, 'loops', ends)
    redis.call('HDEL', key, 'ended')
  end
  local times = {}
  for _, ended_at in string.gmatch(ends, LOOP_END) do times[#times + 1] = ended_at end
  local first = math.max(1, #times - 1)
  return #times > 0 and text(#times - first + 1) .. ' ' .. table.concat(times, ',', first) or nil
end

-- Collects the ids of a session and of all sessions it delegated to, directly or not; the session itself first.
local ended, seen = {}, {}
local function collect(session_id)
  if seen[session_id] then return end
  seen[session_id] = true
  ended[#ended + 1] = session_id
  for _, delegate in ipairs(redis.pcall('ZRANGE', delegates_key(lane, session_id), 0, -1)) do collect(delegate) end
end

local function revoke(session_id)
  -- A session whose key is gone, or has another type, needs no mark of its revocation: the store accepts no token for it anyway.
  local facts = redis.pcall('HGET', session_key(lane, session_id), 'facts')
  if type(facts) == 'string' and not session_facts(facts).revoked then
    redis.call('HSET', session_key(lane, session_id), 'facts', REVOKED .. facts)
  end
  hurry_parked(lane, live, session_id)
end

if change == 'revoke' then
  if ending ~= 'revoked' then
    collect(session)
    record('session.revoked', '', detail .. cmsgpack.pack({ sessions = #ended }))
    for _, session_id in ipairs(ended) do revoke(session_id) end
    redis.call('HINCRBY', meta, 'epoch', 1)
  end
  return 'CHANGED'
end
if ending == 'revoked' or ending == 'expired' then return 'ENDED' end
if change == 'touch' then
  redis.call('HSET', key, 'seen', text(now_ms()))
elseif change == 'open-run' then
  if ending and is_full() then return 'FULL' end
  redis.call('HSETNX', key, run_field(run), opened_run(now_ms(), latest_loop_ends()))
elseif change == 'end-looped-run' then
  -- Here the detail is the time in ms for which the run's conversation gets no new run.
  if end_run(lane, session, run) then
    add_loop_end(lane, session, run, tonumber(detail))
    redis.call('HINCRBY', meta, 'epoch', 1)
    hurry_parked(lane, live, session)
  end
elseif change == 'end-run' then
  if detail ~= '' and not ending then record('run.ended', run, detail) end
  if end_run(lane, session, run) then
    redis.call('HINCRBY', meta, 'epoch', 1)
    hurry_parked(lane, live, session)
  end
end
return 'CHANGED'
