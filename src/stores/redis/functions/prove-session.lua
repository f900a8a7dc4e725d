--[[ Return whether this token proves a live session; if not, how the session ended.
  FLAGS    no-writes
  KEYS     meta
  ARGV     incarnation, lane, session, tokenDigest
  RETURNS  LIVE | ENDED ]]
local meta, incarnation, lane, session, token_digest = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if not same_incarnation(meta, incarnation) then return REPLACED end
local known, _, _, ending = live_session(lane, session, '', now_ms())
if not known or redis.sha1hex(token_digest) ~= known.token then return { 'ENDED', 'unknown' } end
if ending and ending ~= 'run-unknown' then return { 'ENDED', ending } end
return { 'LIVE' }
