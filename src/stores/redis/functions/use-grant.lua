--[[ Allow a held call by a grant, and count the use. Each call counts as one use, even if several workers ask for it one after another.
  FLAGS    allow-oom
  KEYS     meta, audit
  ARGV     incarnation, lane, worker, callId, entry, fence, grant, detail
  RETURNS  USED | GONE | FENCED ]]
local meta, audit = KEYS[1], KEYS[2]
local incarnation, lane, worker, call_id, entry, fence = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local id, detail = ARGV[7], ARGV[8]

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return 'FENCED' end
local key, now = grants.key(lane, id), now_ms()
local grant = redis.call('HMGET', key, 'tool', 'expiresAt', 'usesLeft', 'revoked')
if not grant[1] or grant[4] ~= '0' or now >= tonumber(grant[2]) then return 'GONE' end
if scope_prefix(id) ~= scope_prefix(call_id) or grant[1] ~= fact(record, TOOL) then return 'GONE' end
-- This call's use was counted before, by this worker or by an earlier one that was lost.
if extra(record, 'grant') == id then return 'USED' end
if grant[3] == '0' then return 'GONE' end
set_extra(record, 'grant', id)
local records = {}
add_audit(records, 'grant.used', call_id, write_record(record), detail)
write_audit(meta, audit, text(now), records)
if grant[3] ~= '' then redis.call('HINCRBY', key, 'usesLeft', -1) end
save_record(lane, call_id, record)
return 'USED'
