--[[ Return the lane's state, with which a worker compares its deliveries. The caller sends this function right after the read of the
  stream, in one pipeline, so the state includes every revocation before the delivery.
  FLAGS    no-writes
  KEYS     meta
  ARGV     incarnation
  RETURNS  LANE ]]
local meta = KEYS[1]
local facts = redis.call('HMGET', meta, 'incarnation', 'epoch', 'policyVersion', 'cancelSequence', 'auditSequence')
if facts[1] ~= ARGV[1] then return REPLACED end
return { 'LANE', facts[2], facts[3], facts[4] or '0', facts[5] or '0', text(now_ms()) }
