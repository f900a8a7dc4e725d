--[[ Return the grants of one subject for one tool that can still be used, latest first. Also returns a grant whose last use was counted for
  this very call.
  FLAGS    no-writes
  KEYS     meta
  ARGV     incarnation, lane, session, tool, callId, limit
  RETURNS  GRANTS ]]
local meta = KEYS[1]
local incarnation, lane, session, tool, call_id, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

if not same_incarnation(meta, incarnation) then return REPLACED end
local now, found = now_ms(), { 'GRANTS' }
local record = call_id ~= '' and load_record(lane, call_id)
local used = record and extra(record, 'grant')
for _, id in ipairs(redis.call('ZREVRANGE', grants.of_subject(lane, session, tool), 0, -1)) do
  local grant = redis.call('HMGET', grants.key(lane, id), 'facts', 'createdAt', 'expiresAt', 'usesLeft', 'revoked')
  local usable = grant[1] and grant[5] == '0' and now < tonumber(grant[3]) and (grant[4] ~= '0' or id == used)
  if usable then found[#found + 1] = { id, grant[1], grant[2], grant[3], grant[4], grant[5] } end
  if #found > limit then break end
end
return found
