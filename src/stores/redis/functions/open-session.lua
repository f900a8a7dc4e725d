--[[ Open a session with its first run. Repeating it changes nothing.
  KEYS     meta, sessions
  ARGV     incarnation, lane, session, run, identity, tokenDigest, lifetimeMs, idleMs
  RETURNS  OPENED ]]
local meta, sessions = KEYS[1], KEYS[2]
local incarnation, lane, session, run, identity, token_digest, lifetime_ms, idle_ms =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
-- Kept past its end, so that a late call hears "expired" and not "unknown".
local MEMORY_MS = 3600000

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = session_key(lane, session)
local existing = redis.call('HGET', key, 'facts')
if existing then return { 'OPENED', text(session_facts(existing).expires_at) } end
local now = now_ms()
local expires_at = text(now + tonumber(lifetime_ms))
local facts = table.concat({ redis.sha1hex(token_digest), expires_at, idle_ms, text(now), identity }, '\n')
redis.call('HSET', key, 'facts', facts, 'seen', text(now), run_field(run), opened_run(now))
redis.call('PEXPIREAT', key, text(tonumber(expires_at) + MEMORY_MS))
redis.call('ZADD', sessions, expires_at, session)
return { 'OPENED', expires_at }
