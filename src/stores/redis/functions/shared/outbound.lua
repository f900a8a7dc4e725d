--[[ Effects on their way out. Each is a hash. A call's list names those of its effects that have not ended, the first one first; only the
  first is due, in the set of its platform, so that the ones behind it wait. The caller has checked its right before. One table, because
  a library has room for few local names. ]]
local outbound = {
  FIELDS = { 'call', 'kind', 'platform', 'channel', 'origin', 'state', 'attempts', 'attemptsBefore', 'publishedAt', 'dueAt',
    'expiresAt', 'endedAt', 'bytes', 'body', 'answer', 'problem' },
}

function outbound.key(lane, key) return lane .. 'effect:' .. key end
function outbound.list(lane, name) return lane .. 'outbound:' .. name end
function outbound.call(lane, call_id) return lane .. 'outbound:call:' .. call_id end

-- At most one stroke waits: it says "look", not how often.
function outbound.ring(lane, platform)
  local bell = outbound.list(lane, 'bell:' .. platform)
  if redis.call('LLEN', bell) == 0 then redis.call('RPUSH', bell, '1') end
end

function outbound.make_due(lane, key, platform, at)
  redis.call('HSET', outbound.key(lane, key), 'state', 'queued', 'dueAt', text(at))
  redis.call('ZADD', outbound.list(lane, 'due:' .. platform), text(at), key)
  outbound.ring(lane, platform)
end

-- Behind the others of its call.
function outbound.queue(lane, meta, now, key, call_id, platform, deliver_ms, bytes)
  redis.call('ZADD', outbound.list(lane, 'expiring'), text(now + tonumber(deliver_ms)), key)
  redis.call('HSET', outbound.key(lane, key), 'state', 'queued', 'dueAt', text(now), 'expiresAt', text(now + tonumber(deliver_ms)))
  redis.call('HINCRBY', meta, 'outboundBytes', bytes)
  if redis.call('RPUSH', outbound.call(lane, call_id), key) == 1 then outbound.make_due(lane, key, platform, now) end
end

function outbound.create(lane, meta, now, key, effect)
  local bytes = #effect.body
  redis.call('HSET', outbound.key(lane, key), 'call', effect.call, 'kind', effect.kind, 'platform', effect.platform,
    'channel', effect.channel, 'origin', effect.origin, 'attempts', '0', 'attemptsBefore', '0', 'publishedAt', text(now),
    'deliverMs', effect.deliver_ms, 'callEndsAt', effect.call_ends_at, 'bytes', text(bytes), 'body', effect.body,
    'caller', effect.caller, 'correlation', effect.correlation)
  redis.call('ZADD', outbound.list(lane, 'all'), text(now), key)
  outbound.queue(lane, meta, now, key, effect.call, effect.platform, effect.deliver_ms, bytes)
end

-- The oldest lose their bodies first; that they were, and how they ended, stays.
function outbound.keep_body(lane, meta, now, key, bytes, most)
  redis.call('ZADD', outbound.list(lane, 'kept'), text(now), key)
  local kept = redis.call('HINCRBY', meta, 'keptBytes', bytes)
  while kept > tonumber(most) do
    local oldest = redis.call('ZPOPMIN', outbound.list(lane, 'kept'))[1]
    if not oldest then return end
    local size = redis.call('HGET', outbound.key(lane, oldest), 'bytes') or '0'
    redis.call('HDEL', outbound.key(lane, oldest), 'body')
    kept = redis.call('HINCRBY', meta, 'keptBytes', '-' .. size)
  end
end

function outbound.drop_body(lane, meta, key)
  if redis.call('ZREM', outbound.list(lane, 'kept'), key) == 0 then return end
  redis.call('HINCRBY', meta, 'keptBytes', '-' .. (redis.call('HGET', outbound.key(lane, key), 'bytes') or '0'))
end

-- Frees the next one of the call, and tells whoever waits. `kept` holds retention and the most bytes.
function outbound.finish(lane, meta, now, key, ending, kept)
  local facts = redis.call('HMGET', outbound.key(lane, key), 'call', 'platform', 'bytes', 'callEndsAt', 'caller', 'correlation')
  local call_id, platform, bytes, caller = facts[1], facts[2], facts[3], facts[5]
  redis.call('HSET', outbound.key(lane, key), 'state', ending.state, 'endedAt', text(now), 'answer', ending.answer or '')
  if ending.problem then redis.call('HSET', outbound.key(lane, key), 'problem', ending.problem) end
  redis.call('HINCRBY', meta, 'outboundBytes', '-' .. bytes)
  if ending.keep then
    outbound.keep_body(lane, meta, now, key, bytes, kept.most)
  else
    redis.call('HDEL', outbound.key(lane, key), 'body')
  end
  redis.call('ZREM', outbound.list(lane, 'expiring'), key)
  redis.call('ZREM', outbound.list(lane, 'claimed'), key)
  redis.call('ZREM', outbound.list(lane, 'due:' .. platform), key)
  -- Not forgotten while its call may still be run again: the key would be free, and the message sent twice.
  redis.call('ZADD', outbound.list(lane, 'forget'), text(math.max(now + tonumber(kept.retention), tonumber(facts[4]))), key)
  local list = outbound.call(lane, call_id)
  local was_first = redis.call('LINDEX', list, 0) == key
  redis.call('LREM', list, 1, key)
  local next_key = was_first and redis.call('LINDEX', list, 0)
  if next_key then
    outbound.make_due(lane, next_key, redis.call('HGET', outbound.key(lane, next_key), 'platform'), now)
  end
  if caller ~= '' then
    redis.call('XADD', reply_key(lane, caller), '*', 'e' .. facts[6], '')
    redis.call('PEXPIRE', reply_key(lane, caller), REPLY_LEASE_MS)
  end
end

function outbound.forget(lane, meta, key)
  outbound.drop_body(lane, meta, key)
  redis.call('DEL', outbound.key(lane, key))
  redis.call('ZREM', outbound.list(lane, 'all'), key)
  redis.call('ZREM', outbound.list(lane, 'forget'), key)
end
