--[[ Make a token, in one step with its audit record. Repeating it changes nothing. If there are too many tokens, the expired or revoked token
  that would be deleted first makes room.
  KEYS     meta, audit, record, token, tokens, ends
  ARGV     incarnation, prefix, id, secret, facts, lifetimeMs, keptMs, most, event, about, detail
  RETURNS  CREATED | TAKEN | FULL ]]
local meta, audit, record, token, tokens, ends = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local incarnation, prefix, id, secret, facts = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local lifetime_ms, kept_ms, most = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local event, about, detail = ARGV[9], ARGV[10], ARGV[11]

if not admission.same_store(record, incarnation) or not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local known = admission.read(token)
if known[1] and redis.call('ZSCORE', tokens, id) then
  -- The request is repeated after a lost answer. The attack: a request with this id and another secret would take over the token.
  if known[1] ~= secret then return { 'TAKEN' } end
  return { 'CREATED', known[2], known[3], known[4], known[5] or '' }
end

local function forget(other)
  redis.call('DEL', prefix .. other)
  redis.call('ZREM', tokens, other)
  redis.call('ZREM', ends, other)
end
for _, other in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', text(now))) do forget(other) end
if redis.call('ZCARD', tokens) >= most then
  local ended = redis.call('ZRANGEBYSCORE', ends, '-inf', text(now + kept_ms), 'LIMIT', 0, 1)
  if not ended[1] then return { 'FULL' } end
  forget(ended[1])
end

-- The audit record is written first: if it cannot be written, there is no token.
local records = {}
add_audit(records, event, '', about, detail .. cmsgpack.pack({ expiresAt = now + lifetime_ms }))
write_audit(meta, audit, text(now), records)
local created_at, expires_at, forget_at = text(now), text(now + lifetime_ms), text(now + lifetime_ms + kept_ms)
redis.call('HSET', token, 'secret', secret, 'facts', facts, 'createdAt', created_at, 'expiresAt', expires_at)
redis.call('PEXPIREAT', token, forget_at)
redis.call('ZADD', tokens, created_at, id)
redis.call('ZADD', ends, forget_at, id)
return { 'CREATED', facts, created_at, expires_at, '' }
