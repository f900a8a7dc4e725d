--[[ Take the right to drain a lane's audit, for `leaseMs`. The drainer that has it keeps it and its fence. After the right has run out, the next
  drainer that asks gets it, with a higher fence.
  FLAGS    allow-oom
  KEYS     meta, drain
  ARGV     incarnation, drainer, leaseMs
  RETURNS  CLAIMED | HELD ]]
local meta, drain = KEYS[1], KEYS[2]
local incarnation, drainer, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not same_incarnation(meta, incarnation) then return REPLACED end
local facts, now = journal.facts(meta, drain), now_ms()
local held = facts.drainer ~= '' and now < facts.until_ms
if held and facts.drainer ~= drainer then return { 'HELD', facts.drainer } end
local fence = held and facts.fence or facts.fence + 1
redis.call('HSET', drain, 'drainer', drainer, 'until', text(now + lease_ms), 'fence', text(fence), 'drained', text(facts.drained))
return { 'CLAIMED', text(fence) }
