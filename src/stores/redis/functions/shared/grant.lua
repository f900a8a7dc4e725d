--[[ A grant is a hash: its facts, which do not change, when it was made and expires, uses left (nothing: any number), whether it was
  revoked, and the record of the call it came from, for the audit. It stands in the lane's `grants` by expiry, and under its subject and
  tool by when it was made. One table, because a library has room for few local names. ]]
local grants = {}

function grants.key(lane, id) return lane .. 'grant:' .. id end
function grants.list(lane) return lane .. 'grants' end
function grants.of_subject(lane, id, tool) return lane .. 'grants:' .. scope_prefix(id) .. tool end

-- What the audit shows of a call, with the grant it is about.
function grants.with_grant(record, id)
  local copy = { unpack(record, 1, DIGEST) }
  set_extra(copy, 'grant', id)
  return write_record(copy)
end

function grants.make(lane, record, grant, now)
  local expires_at = text(now + tonumber(grant.lifetime_ms))
  redis.call('HSET', grants.key(lane, grant.id), 'facts', grant.facts, 'tool', grant.tool, 'createdAt', text(now), 'expiresAt', expires_at,
    'usesLeft', grant.uses_left, 'revoked', '0', 'call', grant.call, 'record', grants.with_grant(record, grant.id))
  redis.call('ZADD', grants.list(lane), expires_at, grant.id)
  redis.call('ZADD', grants.of_subject(lane, grant.id, grant.tool), text(now), grant.id)
end

function grants.forget(lane, now, limit)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', grants.list(lane), '-inf', text(now), 'LIMIT', 0, limit)) do
    local tool = redis.call('HGET', grants.key(lane, id), 'tool')
    if tool then redis.call('ZREM', grants.of_subject(lane, id, tool), id) end
    redis.call('DEL', grants.key(lane, id))
    redis.call('ZREM', grants.list(lane), id)
  end
end
