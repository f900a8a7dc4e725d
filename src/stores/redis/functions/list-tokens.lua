--[[ List tokens, newest first; also expired and revoked ones, until they are deleted.
  FLAGS    no-writes
  KEYS     record, tokens
  ARGV     incarnation, prefix, limit
  RETURNS  TOKENS ]]
local record, tokens = KEYS[1], KEYS[2]
local incarnation, prefix, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])

if not admission.same_store(record, incarnation) then return REPLACED end
local found = { 'TOKENS' }
for _, id in ipairs(redis.call('ZREVRANGE', tokens, 0, -1)) do
  if #found > limit then break end
  local known = admission.read(prefix .. id)
  if known[1] then found[#found + 1] = { id, known[2], known[3], known[4], known[5] or '' } end
end
return found
