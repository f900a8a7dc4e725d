--[[ Note an operator's word on an indeterminate call. The outcome stays as it was; the record keeps both facts.
  KEYS     meta, audit
  ARGV     incarnation, lane, callId, indeterminate, resolution, detail
  RETURNS  RESOLVED | NOT_INDETERMINATE | UNKNOWN ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, lane, call_id, indeterminate, resolution, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if not same_incarnation(meta, incarnation) then return REPLACED end
local bytes = redis.call('GET', call_key(lane, call_id))
if not bytes then return 'UNKNOWN' end
local record, ending, outcome_at = read_record(bytes)
if not ending then return 'NOT_INDETERMINATE' end
if ending.resolution == resolution then return 'RESOLVED' end
-- The caller looked at the outcome; it is immutable once settled.
if indeterminate ~= '1' or ending.resolution then return 'NOT_INDETERMINATE' end
ending.resolution = resolution
redis.call('SET', call_key(lane, call_id), with_ending(bytes, ending, outcome_at), 'KEEPTTL')
local records = {}
add_audit(records, 'call.resolved', call_id, record, detail)
write_audit(meta, audit, text(now_ms()), records)
return 'RESOLVED'
