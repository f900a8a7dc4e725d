--[[ Store the vectors of documents that still have the version from which the vector was made. Vectors expire together with the documents.
  KEYS     meta
  ARGV     prefix, collection, then for each: id, version, vector
  RETURNS  KEPT ]]
local prefix, collection = ARGV[1], ARGV[2]
local vectors, docs = part(prefix, collection, 'vectors'), part(prefix, collection, 'docs')
local now = now_ms()
for at = 3, #ARGV, 3 do
  local found = find_live(prefix, collection, ARGV[at], now)
  if found and found.version == tonumber(ARGV[at + 1]) then redis.call('HSET', vectors, ARGV[at], ARGV[at + 2]) end
end
local left = redis.call('PTTL', docs)
if left > 0 then redis.call('PEXPIRE', vectors, left) else redis.call('PERSIST', vectors) end
return { 'KEPT' }
