--[[ Note an operator's word on an indeterminate call. The outcome stays as it was; the record keeps both facts.
  KEYS     meta, audit, calls, outcomes
  ARGV     incarnation, callId, indeterminate, resolution, detail
  RETURNS  RESOLVED | NOT_INDETERMINATE | UNKNOWN ]]
local meta, audit, calls, outcomes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local incarnation, call_id, indeterminate, resolution, detail = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = read_record(redis.call('HGET', calls, call_id))
if not record then return 'UNKNOWN' end
local ending = read_ending(redis.call('HGET', outcomes, call_id))
if not ending then return 'NOT_INDETERMINATE' end
if ending.resolution == resolution then return 'RESOLVED' end
-- The caller looked at the outcome; it is immutable once settled.
if indeterminate ~= '1' or ending.resolution ~= '' then return 'NOT_INDETERMINATE' end
ending.resolution = resolution
redis.call('HSET', outcomes, call_id, write_ending(ending))
local records = {}
add_audit(records, 'call.resolved', call_id, write_record(record), detail)
write_audit(meta, audit, text(now_ms()), records)
return 'RESOLVED'
