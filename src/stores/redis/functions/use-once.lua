--[[ Let one attempt use what may be used only once, such as a login code. The same attempt may repeat the use; every other attempt gets
  USED. The key expires together with that code.
  KEYS     record, once
  ARGV     incarnation, attempt, lifetimeMs
  RETURNS  FIRST | USED ]]
local record, once = KEYS[1], KEYS[2]
local incarnation, attempt, lifetime_ms = ARGV[1], ARGV[2], ARGV[3]

-- An emptied store has no record of earlier uses, so it must not answer FIRST.
if not admission.same_store(record, incarnation) then return REPLACED end
local known = redis.call('GET', once)
if known then return known == attempt and 'FIRST' or 'USED' end
if tonumber(lifetime_ms) <= 0 then return 'USED' end
redis.call('SET', once, attempt, 'PX', lifetime_ms)
return 'FIRST'
