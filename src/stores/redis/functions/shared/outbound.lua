--[[ Effects of calls on platforms, until they are delivered. Each effect is a hash with FIELDS, and with deliverMs, callEndsAt, caller and
  correlation (its waiter), and from its first claim on claimedBy, claim and redeliver. All times are store times in ms, `bytes` is the size of
  the body. publish_effect and send_redirects write it, claim_effects, finish_effect and retry_effect change it. Keys in `outbound:`:
    call:<call id>                    list of the call's effects that have not ended, in order. Only the first one is due; the others wait
    due:<platform>, bell:<platform>   effects that gateways may claim, by when; a list that wakes gateways
    claimed, claim:<claim>            claimed effects, by the end of their lease; list of the effects of one claim
    expiring                          effects that have not ended, by expiry
    all, forget, kept                 all effects, by when they were published; ended ones, by when they are deleted; ended ones that still
                                      have a body, by when they ended
  Meta has the bytes of effects that have not ended (`outboundBytes`) and of kept bodies (`keptBytes`). The calling function has already
  checked that the change is allowed. One table, because Lua limits the local names of a library. ]]
local outbound = {
  FIELDS = { 'call', 'kind', 'platform', 'channel', 'origin', 'state', 'attempts', 'attemptsBefore', 'publishedAt', 'dueAt',
    'expiresAt', 'endedAt', 'bytes', 'body', 'answer', 'problem' },
}

function outbound.key(lane, key) return lane .. 'effect:' .. key end
function outbound.list(lane, name) return lane .. 'outbound:' .. name end
function outbound.call(lane, call_id) return lane .. 'outbound:call:' .. call_id end

-- Wakes a gateway that waits for this platform. The list has at most one element: it means that there may be work, not how much.
function outbound.ring(lane, platform)
  local bell = outbound.list(lane, 'bell:' .. platform)
  if redis.call('LLEN', bell) == 0 then redis.call('RPUSH', bell, '1') end
end

function outbound.make_due(lane, key, platform, at)
  redis.call('HSET', outbound.key(lane, key), 'state', 'queued', 'dueAt', text(at))
  redis.call('ZADD', outbound.list(lane, 'due:' .. platform), text(at), key)
  outbound.ring(lane, platform)
end

-- Adds an effect after the others of its call. It is due at once if it is the only one.
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

-- Keeps the body of an ended effect. While all kept bodies have more than `most` bytes, the effect that ended first loses its body; its
-- other fields stay.
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

-- Ends an effect, makes the next one of its call due, and notifies its waiter. `kept` has the retention in ms and the max bytes of kept bodies.
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
  -- The effect is kept as long as its call may run again: otherwise its key would be free, and the message would be sent twice.
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
