--[[ Replace the pins of MCP servers by compare-and-set of their version, in one step with the audit record. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     meta, audit, pins
  ARGV     incarnation, expected, body, event, detail
  RETURNS  WRITTEN | CONFLICT ]]
local meta, audit, pins = KEYS[1], KEYS[2], KEYS[3]
local incarnation, expected, body, event, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not same_incarnation(meta, incarnation) then return REPLACED end
local fields = redis.call('HMGET', pins, 'version', 'body')
local version = fields[1] or '0'
if version ~= expected then
  -- The same writer repeats its request after a lost answer.
  if tonumber(version) == tonumber(expected) + 1 and fields[2] == body then return { 'WRITTEN', version } end
  return { 'CONFLICT', version }
end
local next_version = text(tonumber(version) + 1)
-- The audit record is written first: if it cannot be written, the old pins stay.
local records = {}
add_audit(records, event, '', '', detail)
write_audit(meta, audit, text(now_ms()), records)
redis.call('HSET', pins, 'version', next_version, 'body', body)
return { 'WRITTEN', next_version }
