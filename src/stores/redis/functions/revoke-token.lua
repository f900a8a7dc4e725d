--[[ Revoke a token at once, in one step with its audit record. Returns up to `limit` of its sessions that may not be revoked yet, after the
  first `skip`. They are in other slots, so the caller revokes them, and repeats this function with the sessions that it has revoked. The token
  is in `revoking` until no session is left, so that another process can finish the revocation. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     meta, audit, record, token, ends, sessions, revoking
  ARGV     incarnation, id, keptMs, about, detail, who, skip, limit
  EACH     session
  RETURNS  REVOKED | UNKNOWN ]]
local meta, audit, record, token, ends, sessions, revoking = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local incarnation, id, kept_ms, about, detail, who = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local skip, limit = ARGV[7], ARGV[8]
local FIRST, STRIDE = 9, 1
-- A process of the release before this one sends neither of these two keys. It revokes all sessions itself; a gateway then removes the
-- token from `revoking`.
sessions, revoking = sessions or token .. ':sessions', revoking or string.gsub(ends, 'ends$', 'revoking')

if not admission.same_store(record, incarnation) or not same_incarnation(meta, incarnation) then return REPLACED end
local known, now = admission.read(token), now_ms()
-- The revocation of a token that was deleted while its sessions were being revoked still has to be finished.
if not known[1] and not redis.call('ZSCORE', revoking, id) then return { 'UNKNOWN' } end
if known[1] and not known[5] then
  local records = {}
  add_audit(records, 'token.revoked', '', about, detail)
  write_audit(meta, audit, text(now), records)
  -- A token that expired before its revocation is still deleted at the time that follows from its expiry.
  local forget_at = text(math.min(now, tonumber(known[4])) + kept_ms)
  redis.call('HSET', token, 'revokedAt', text(now), 'revokedBy', who or '')
  redis.call('PEXPIREAT', token, forget_at)
  redis.call('ZADD', ends, forget_at, id)
end
-- A revoked token gets no new sessions, so from here on the list only gets shorter.
for at = FIRST, #ARGV, STRIDE do redis.call('ZREM', sessions, ARGV[at]) end
if redis.call('ZCARD', sessions) == 0 then
  redis.call('ZREM', revoking, id)
  return { 'REVOKED' }
end
redis.call('ZADD', revoking, 'NX', text(now), id)
return { 'REVOKED', unpack(redis.call('ZRANGEBYSCORE', sessions, '-inf', '+inf', 'LIMIT', skip or '0', limit or '1')) }
