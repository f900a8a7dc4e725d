--[[ Touch a session, or revoke it with all that it delegated to, open or end a run. Whatever takes a right away moves the epoch, so that
  no worker trusts an older snapshot.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, session, change, run
  RETURNS  CHANGED | ENDED | UNKNOWN ]]
local meta = KEYS[1]
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
end
return 'CHANGED'
