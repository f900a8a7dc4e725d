--[[ Store number and hash of the last signed statement of the audit. The number never goes down, so an older copy of the trail is detected.
  FLAGS    allow-oom
  KEYS     record, statements
  ARGV     incarnation, number, hash
  RETURNS  NOTED | OLDER ]]
local record, statements = KEYS[1], KEYS[2]
local incarnation, number, hash = ARGV[1], ARGV[2], ARGV[3]

if not admission.same_store(record, incarnation) then return REPLACED end
local known = tonumber(redis.call('HGET', statements, 'number') or '0')
if known and known >= tonumber(number) then return 'OLDER' end
redis.call('HSET', statements, 'number', number, 'hash', hash)
return 'NOTED'
