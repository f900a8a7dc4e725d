--[[ Have the outcome of a call sent to a channel once the call is settled, but not before `afterMs`. The session must reach the call: it has the
  same agents, or the agents that the call's agent acts for.
  KEYS     meta, calls
  ARGV     incarnation, lane, callId, session, tokenDigest, resultKey, platform, channel, origin, afterMs, deliverMs
  RETURNS  REDIRECTED | SENT | UNKNOWN ]]
local meta, calls = KEYS[1], KEYS[2]
local incarnation, lane, call_id, session, token_digest, result_key = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local platform, channel, origin, after_ms, deliver_ms = ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11]

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local prefix = scope_prefix(session)
local known, _, _, ending = live_session(lane, session, '', now)
if not prefix or not known or known.token ~= redis.sha1hex(token_digest) then return 'UNKNOWN' end
if ending and ending ~= 'run-unknown' then return 'UNKNOWN' end
if string.sub(call_id, 1, #prefix) ~= prefix then return 'UNKNOWN' end
if not agents.reach_call(known.identity, call_id, redis.call('HGET', calls, call_id)) then return 'UNKNOWN' end
if redis.call('EXISTS', outbound.key(lane, result_key)) == 1 then return 'SENT' end
redis.call('HSET', lane .. 'redirect:' .. call_id, 'platform', platform, 'channel', channel, 'origin', origin, 'deliverMs', deliver_ms)
redis.call('ZADD', lane .. 'redirects', text(now + after_ms), call_id)
return 'REDIRECTED'
