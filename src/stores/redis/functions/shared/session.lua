--[[ Reads a session and one of its runs. Returns the session, or nil and how it ended. ]]
local function live_session(lane, session_id, run, now)
  local fields = redis.call('HMGET', session_key(lane, session_id),
    'identity', 'token', 'expiresAt', 'idleMs', 'lastSeenAt', 'revoked', 'run:' .. run)
  if not fields[1] then return nil, 'unknown' end
  local idle_at = tonumber(fields[5]) + tonumber(fields[4])
  local session = { identity = fields[1], token = fields[2],
    expires_at = math.min(tonumber(fields[3]), idle_at), idle_ms = tonumber(fields[4]), seen_at = tonumber(fields[5]) }
  if fields[6] == '1' then return session, 'revoked' end
  if now >= session.expires_at then return session, 'expired' end
  if not fields[7] then return session, 'run-unknown' end
  return session
end

-- `<lane>.<scope>.` : what every id of this subject starts with.
local function scope_prefix(id)
  return string.match(id, '^%d+%.[^.]+%.')
end
