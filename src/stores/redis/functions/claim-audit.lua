--[[ Take the right to drain a lane's audit. Who has it keeps it; a right that ran out goes to whoever asks, with a higher fence.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, drainer, leaseMs
  RETURNS  CLAIMED | HELD ]]
local meta = KEYS[1]
local incarnation, drainer, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not same_incarnation(meta, incarnation) then return REPLACED end
local facts = redis.call('HMGET', meta, 'auditDrainer', 'auditUntil', 'auditFence')
local now, fence = now_ms(), tonumber(facts[3]) or 0
local held = facts[1] and facts[1] ~= '' and now < (tonumber(facts[2]) or 0)
if held and facts[1] ~= drainer then return { 'HELD', facts[1] } end
if not held then fence = fence + 1 end
redis.call('HSET', meta, 'auditDrainer', drainer, 'auditUntil', text(now + lease_ms), 'auditFence', text(fence))
return { 'CLAIMED', text(fence) }
