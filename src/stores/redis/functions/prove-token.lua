--[[ Return what a token is for, if this is its secret and the token is neither expired nor revoked. In all other cases the answer is
  UNKNOWN, so that a guess does not reveal which ids exist.
  FLAGS    no-writes
  KEYS     record, token, tokens
  ARGV     incarnation, id, secret
  RETURNS  LIVE | UNKNOWN ]]
local record, token, tokens = KEYS[1], KEYS[2], KEYS[3]
local incarnation, id, secret = ARGV[1], ARGV[2], ARGV[3]

if not admission.same_store(record, incarnation) then return REPLACED end
local known = admission.read(token)
if not known[1] or known[1] ~= secret or known[5] then return { 'UNKNOWN' } end
-- A token that is not in the list of tokens is refused, because an operator could not find and revoke it.
if now_ms() >= tonumber(known[4]) or not redis.call('ZSCORE', tokens, id) then return { 'UNKNOWN' } end
return { 'LIVE', known[2], known[3], known[4], '' }
