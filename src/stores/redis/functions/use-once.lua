--[[ Let one attempt have what may be used once, and the same attempt again. The key expires with what it stands for.
  KEYS     record, once
  ARGV     incarnation, attempt, lifetimeMs
  RETURNS  FIRST | USED ]]
local record, once = KEYS[1], KEYS[2]
local incarnation, attempt, lifetime_ms = ARGV[1], ARGV[2], ARGV[3]

-- A store that was emptied knows of no use.
if not admission.same_store(record, incarnation) then return REPLACED end
local known = redis.call('GET', once)
if known then return known == attempt and 'FIRST' or 'USED' end
if tonumber(lifetime_ms) <= 0 then return 'USED' end
redis.call('SET', once, attempt, 'PX', lifetime_ms)
return 'FIRST'
