--[[ Write the audit record of a login; nothing else in the store changes. Repeating the same attempt within `knownMs` writes nothing.
  KEYS     meta, audit, once
  ARGV     incarnation, event, about, detail, knownMs
  RETURNS  RECORDED ]]
local meta, audit, once = KEYS[1], KEYS[2], KEYS[3]
local incarnation, event, about, detail, known_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not same_incarnation(meta, incarnation) then return REPLACED end
if redis.call('EXISTS', once) == 1 then return 'RECORDED' end
local records = {}
add_audit(records, event, '', about, detail)
write_audit(meta, audit, text(now_ms()), records)
redis.call('SET', once, '1', 'PX', known_ms)
return 'RECORDED'
