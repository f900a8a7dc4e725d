--[[ Record an operator's statement on whether an indeterminate call ran. The outcome stays as it was; the record keeps both facts.
  KEYS     meta, audit, calls
  ARGV     incarnation, callId, indeterminate, resolution, detail
  RETURNS  RESOLVED | NOT_INDETERMINATE | UNKNOWN ]]
local meta, audit, calls = KEYS[1], KEYS[2], KEYS[3]
local incarnation, call_id, indeterminate, resolution, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local bytes = redis.call('HGET', calls, call_id)
if not bytes then return 'UNKNOWN' end
local record_bytes, ending = split_settled(bytes)
if not ending then return 'NOT_INDETERMINATE' end
if ending.resolution == resolution then return 'RESOLVED' end
-- The calling process has decoded the outcome and sends whether it is indeterminate. An outcome never changes once the call is settled.
if indeterminate ~= '1' or ending.resolution ~= '' then return 'NOT_INDETERMINATE' end
local records = {}
add_audit(records, 'call.resolved', call_id, record_bytes, detail)
write_audit(meta, audit, text(now_ms()), records)
ending.resolution = resolution
redis.call('HSET', calls, call_id, write_ending(record_bytes, ending))
return 'RESOLVED'
