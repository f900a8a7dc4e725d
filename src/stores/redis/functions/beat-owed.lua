--[[ A gateway that holds calls owed in this lane lives. Works at the memory limit: its entries would be taken from it.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, holder
  RETURNS  BEATEN ]]
local meta = KEYS[1]
local incarnation, lane, holder = ARGV[1], ARGV[2], ARGV[3]

if not same_incarnation(meta, incarnation) then return REPLACED end
owed.beat(lane, holder, now_ms())
return 'BEATEN'
