--[[ Open a session with its first run, in one step with its audit record. Repeating it changes nothing. A delegated session is added to the list
  of the session that delegates, which must be live and of the same subject.
  KEYS     meta, sessions, audit
  ARGV     incarnation, lane, session, run, identity, tokenDigest, lifetimeMs, idleMs, delegatedBy, detail, openedBy
  RETURNS  OPENED | ENDED ]]
local meta, sessions, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, lane, session, run, identity, token_digest, lifetime_ms, idle_ms, delegated_by, detail, opened_by =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
-- How long a session is kept after its expiry, so that a late call gets the answer `expired` and not `unknown`.
local MEMORY_MS = 3600000

if not same_incarnation(meta, incarnation) then return REPLACED end
local key = session_key(lane, session)
local existing = redis.call('HGET', key, 'facts')
if existing then return { 'OPENED', text(session_facts(existing).expires_at) } end
local now = now_ms()
local expires_at = now + tonumber(lifetime_ms)
local delegator
if delegated_by ~= '' then
  local _, ending
  delegator, _, _, ending = live_session(lane, delegated_by, '', now)
  local ended = not delegator or ending == 'revoked' or ending == 'expired'
  if ended or scope_prefix(delegated_by) ~= scope_prefix(session) then return { 'ENDED' } end
  -- The delegated session must not outlive the session that delegates, because a revocation finds the delegated session only through that
  -- other session.
  expires_at = math.min(expires_at, delegator.expires_at)
end
-- The audit record is written before everything else: if it cannot be written, there is no session.
local records = {}
add_audit(records, 'session.opened', '', about_session(session, run, identity), detail .. cmsgpack.pack({ expiresAt = expires_at }))
write_audit(meta, audit, text(now), records)
if delegator then
  local delegates = delegates_key(lane, delegated_by)
  redis.call('ZREMRANGEBYSCORE', delegates, '-inf', text(now))
  redis.call('ZADD', delegates, text(expires_at), session)
  redis.call('PEXPIREAT', delegates, text(delegator.expires_at + MEMORY_MS))
end
expires_at = text(expires_at)
local facts = table.concat({ redis.sha1hex(token_digest), expires_at, idle_ms, text(now), identity }, '\n')
redis.call('HSET', key, 'facts', facts, 'seen', text(now), run_field(run), opened_run(now))
-- A process of an earlier release does not send who opened the session.
if opened_by and opened_by ~= '' then redis.call('HSET', key, 'openedBy', opened_by) end
redis.call('PEXPIREAT', key, text(tonumber(expires_at) + MEMORY_MS))
redis.call('ZADD', sessions, expires_at, session)
return { 'OPENED', expires_at }
