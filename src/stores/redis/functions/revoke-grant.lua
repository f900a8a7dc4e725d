--[[ Revoke a grant, in one step with its audit record. It stays in the lists until its expiry.
  FLAGS    allow-oom
  KEYS     meta, audit
  ARGV     incarnation, lane, grant, detail
  RETURNS  REVOKED | UNKNOWN ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, lane, id, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if not same_incarnation(meta, incarnation) then return REPLACED end
local key, now = grants.key(lane, id), now_ms()
local grant = redis.call('HMGET', key, 'expiresAt', 'revoked', 'call', 'record')
if not grant[1] or not grant[3] or not grant[4] or now >= tonumber(grant[1]) then return 'UNKNOWN' end
if grant[2] == '1' then return 'REVOKED' end
local records = {}
add_audit(records, 'grant.revoked', grant[3], grant[4], detail)
write_audit(meta, audit, text(now), records)
redis.call('HSET', key, 'revoked', '1')
return 'REVOKED'
