--[[ A grant is a hash: its facts, which do not change, when it was made and expires, uses left (nothing: any number), whether it was
  revoked, and the record of the call it came from, for the audit. It stands in the lane's `grants` by expiry, and under its subject and
  tool by when it was made. ]]
local function grant_key(lane, id) return lane .. 'grant:' .. id end
local function grants_key(lane) return lane .. 'grants' end
local function subject_grants_key(lane, id, tool) return lane .. 'grants:' .. scope_prefix(id) .. tool end

-- What the audit shows of a call, with the grant it is about.
local function record_with_grant(record, id)
  local copy = { unpack(record, 1, DIGEST) }
  set_extra(copy, 'grant', id)
  return write_record(copy)
end

local function make_grant(lane, record, grant, now)
  local expires_at = text(now + tonumber(grant.lifetime_ms))
  redis.call('HSET', grant_key(lane, grant.id), 'facts', grant.facts, 'tool', grant.tool, 'createdAt', text(now), 'expiresAt', expires_at,
    'usesLeft', grant.uses_left, 'revoked', '0', 'call', grant.call, 'record', record_with_grant(record, grant.id))
  redis.call('ZADD', grants_key(lane), expires_at, grant.id)
  redis.call('ZADD', subject_grants_key(lane, grant.id, grant.tool), text(now), grant.id)
end

local function forget_grants(lane, now, limit)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', grants_key(lane), '-inf', text(now), 'LIMIT', 0, limit)) do
    local tool = redis.call('HGET', grant_key(lane, id), 'tool')
    if tool then redis.call('ZREM', subject_grants_key(lane, id, tool), id) end
    redis.call('DEL', grant_key(lane, id))
    redis.call('ZREM', grants_key(lane), id)
  end
end
