--[[ Record that a gateway which holds calls owed in this lane is live. Works at the memory limit: otherwise other gateways would take its
  entries.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, holder
  RETURNS  BEATEN ]]
local meta = KEYS[1]
local incarnation, lane, holder = ARGV[1], ARGV[2], ARGV[3]

if not same_incarnation(meta, incarnation) then return REPLACED end
owed.beat(lane, holder, now_ms())
return 'BEATEN'
