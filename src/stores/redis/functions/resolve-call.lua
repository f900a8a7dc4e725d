--[[ Note an operator's word on an indeterminate call. The outcome stays as it was; the record keeps both facts.
  KEYS     meta, audit
  ARGV     incarnation, lane, callId, indeterminate, resolution, detail
  RETURNS  RESOLVED | NOT_INDETERMINATE | UNKNOWN ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, lane, call_id, indeterminate, resolution, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if not same_incarnation(meta, incarnation) then return REPLACED end
local bytes = redis.call('GET', call_key(lane, call_id))
if not bytes then return 'UNKNOWN' end
local record, offset = read_record(bytes)
-- The caller looked at the outcome; it is immutable once settled.
if record.state ~= 'settled' or indeterminate ~= '1' or record.resolution then
  if record.resolution == resolution then return 'RESOLVED' end
  return 'NOT_INDETERMINATE'
end
record.resolution = resolution
redis.call('SET', call_key(lane, call_id), cmsgpack.pack(record) .. string.sub(bytes, offset + 1), 'KEEPTTL')
append_audit(meta, audit, now_ms(), 'call.resolved', call_id, record, detail)
return 'RESOLVED'
