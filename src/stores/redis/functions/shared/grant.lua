--[[ A grant is a hash, written by decide_approval; times are store times in ms:
    facts                 JSON, never changes
    tool                  the tool it is for
    createdAt, expiresAt  when it was made, and when it expires
    usesLeft              uses left, empty: any number (use_grant counts down)
    revoked               `1` once it is revoked, otherwise `0` (revoke_grant)
    call, record          id and packed record of the call that it was made for, for the audit
  Its id is in the lane's sorted set `grants`, by expiry, and in one set per subject and tool, by when it was made. forget_calls deletes
  expired grants. One table, because Lua limits the local names of a library. ]]
local grants = {}

function grants.key(lane, id) return lane .. 'grant:' .. id end
function grants.list(lane) return lane .. 'grants' end
function grants.of_subject(lane, id, tool) return lane .. 'grants:' .. scope_prefix(id) .. tool end

-- Packs the record of a call for an audit record, with this grant as the one that allowed the call.
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
