--[[ Touch a session, or revoke it with all that it delegated to, open or end a run. Whatever takes a right away moves the epoch, so that
  no worker trusts an older snapshot; parked calls, which no worker looks at, are left to the next reap.
  FLAGS    allow-oom
  KEYS     meta, live
  ARGV     incarnation, lane, session, change, run
  RETURNS  CHANGED | ENDED | UNKNOWN ]]
local meta, live = KEYS[1], KEYS[2]
local incarnation, lane, session, change, run = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = session_key(lane, session)
local known, _, _, ending = live_session(lane, session, run, now_ms())
if not known then return 'UNKNOWN' end

local seen = {}
local function revoke(session_id)
  if seen[session_id] then return end
  seen[session_id] = true
  -- Gone, or overwritten by hand: then it is nobody's session any more.
  local facts = redis.pcall('HGET', session_key(lane, session_id), 'facts')
  if type(facts) == 'string' and not session_facts(facts).revoked then
    redis.call('HSET', session_key(lane, session_id), 'facts', REVOKED .. facts)
  end
  hurry_parked(lane, live, session_id)
  for _, delegate in ipairs(redis.pcall('ZRANGE', delegates_key(lane, session_id), 0, -1)) do revoke(delegate) end
end

if change == 'revoke' then
  if ending ~= 'revoked' then
    revoke(session)
    redis.call('HINCRBY', meta, 'epoch', 1)
  end
  return 'CHANGED'
end
if ending == 'revoked' or ending == 'expired' then return 'ENDED' end
if change == 'touch' then
  redis.call('HSET', key, 'seen', text(now_ms()))
elseif change == 'open-run' then
  redis.call('HSETNX', key, run_field(run), opened_run(now_ms(), redis.call('HGET', key, 'ended')))
elseif change == 'end-run' and end_run(lane, session, run) then
  redis.call('HINCRBY', meta, 'epoch', 1)
  hurry_parked(lane, live, session)
end
return 'CHANGED'
