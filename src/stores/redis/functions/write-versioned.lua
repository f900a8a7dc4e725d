--[[ Replace the catalog by compare-and-set of its version. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     record
  ARGV     expected, digest, body
  RETURNS  WRITTEN | CONFLICT ]]
local record = KEYS[1]
local expected, digest, body = ARGV[1], ARGV[2], ARGV[3]
local fields = redis.call('HMGET', record, 'version', 'body')
local version = fields[1] or '0'
if version ~= expected then
  -- The same writer repeats its request after a lost answer.
  if tonumber(version) == tonumber(expected) + 1 and fields[2] == body then return { 'WRITTEN', version } end
  return { 'CONFLICT', version }
end
local next_version = text(tonumber(version) + 1)
redis.call('HSET', record, 'version', next_version, 'digest', digest, 'body', body)
return { 'WRITTEN', next_version }
