--[[ An approval is a hash: what was asked, which does not change, and what became of it. It stands in one sorted set, `approvals:` and
  its state, by expiry while pending and by time of resolution then; its call is parked exactly while it is pending. ]]
local EPOCH, SESSION_EXPIRES = 4, 5
local EVENTS_OF = { allowed = 'approval.decided', denied = 'approval.decided', expired = 'approval.expired', cancelled = 'approval.cancelled' }
local RESOLUTIONS = { denied = 'deny', expired = 'timeout', cancelled = 'cancelled' }

local function approval_key(lane, id) return lane .. 'approval:' .. id end
-- The last question about a call.
local function approval_of(record) return extra(record, 'approval') or '' end
local function approvals_key(lane, state) return lane .. 'approvals:' .. state end
-- Resolved approvals whose callback waits, as id and the worker that asked; and claimed ones, by when that has to be finished.
local function waiting_key(lane) return lane .. 'callbacks:waiting' end
local function claimed_key(lane) return lane .. 'callbacks:claimed' end

-- A parked call is looked at when its approval expires, or when its session does.
local function parked_until(expires_at, session)
  return math.min(expires_at, session and session.expires_at or expires_at)
end

-- Allowed, and nobody has taken it up since: nothing can have run.
local function is_untouched(record)
  local base = tonumber(extra(record, 'base'))
  return base and extra(record, 'resumed') == text(base + 1)
end

-- Somebody held the call before it was asked about, and may have run it.
local function may_have_run_before(lane, record)
  if extra(record, 'starts') then return true end
  return redis.call('HGET', approval_key(lane, approval_of(record)), 'mayHaveRun') == '1'
end

-- `revealedBy` has one principal per line, as votes have them.
local function has_revealed(revealed_by, by)
  return string.find('\n' .. (revealed_by or '') .. '\n', '\n' .. by .. '\n', 1, true) ~= nil
end

-- Nothing is masked, or this principal has revealed it. A question of a release that did not count masks counts as masked.
local function has_seen_all(masked, revealed_by, by) return masked == '0' or has_revealed(revealed_by, by) end

-- How a parked call's approval ends now; or nil and when to look again.
local function due_state(lane, record, now)
  local session, _, _, ending = live_session(lane, fact(record, SESSION), fact(record, RUN), now)
  if ending then return 'cancelled' end
  local expires_at = tonumber(redis.call('HGET', approval_key(lane, approval_of(record)), 'expiresAt'))
  if expires_at and now < expires_at then return nil, parked_until(expires_at, session) end
  return 'expired'
end

-- Every way out of pending. The idle expiry of the session stood still meanwhile, so it counts from here, whatever the answer was.
local function resolve_approval(lane, call_id, record, state, resolution, now)
  local id, now_text, session_id = approval_of(record), text(now), fact(record, SESSION)
  local key = approval_key(lane, id)
  local asked = redis.call('HMGET', key, 'wantsCallback', 'askedBy')
  local session, _, _, ending = live_session(lane, session_id, '', now)
  if session and (not ending or ending == 'run-unknown') then redis.call('HSET', session_key(lane, session_id), 'seen', now_text) end
  shares.change(lane, record, 0, 0 - record[BYTES], -1)
  redis.call('SREM', parked_key(lane, session_id), call_id)
  redis.call('ZREM', approvals_key(lane, 'pending'), id)
  if not asked[1] then return end
  redis.call('HSET', key, 'state', state, 'resolution', resolution, 'resolvedAt', now_text)
  redis.call('ZADD', approvals_key(lane, state), now_text, id)
  if asked[1] == '1' then
    redis.call('HSET', key, 'callback', 'waiting')
    redis.call('ZADD', waiting_key(lane), now_text, id .. ' ' .. asked[2])
  end
end

-- To be called right before the call itself is settled; the approval changes with it, after the audit.
local function end_parked(settlement, call_id, record, state, detail)
  afterwards(settlement, function()
    resolve_approval(settlement.lane, call_id, record, state, RESOLUTIONS[state], tonumber(settlement.now_text))
  end)
  add_audit(settlement.audit, EVENTS_OF[state], call_id, write_record(record), detail)
end

-- Claimed and not finished in time: it may have been invoked, so nobody is given it again.
local function give_up_callbacks(lane, meta_key, audit_key, now, limit)
  local lost, records = redis.call('ZRANGEBYSCORE', claimed_key(lane), '-inf', text(now), 'LIMIT', 0, limit), {}
  local known = {}
  for _, id in ipairs(lost) do
    local asked = redis.call('HMGET', approval_key(lane, id), 'call', 'record', 'claimedBy')
    known[id] = asked[1] and asked[2]
    if known[id] then add_audit(records, 'callback.unknown', asked[1], asked[2], cmsgpack.pack({ claimedBy = asked[3] })) end
  end
  if #records > 0 then write_audit(meta_key, audit_key, text(now), records) end
  for _, id in ipairs(lost) do
    redis.call('ZREM', claimed_key(lane), id)
    if known[id] then redis.call('HSET', approval_key(lane, id), 'callback', 'unknown') end
  end
end

-- All questions about a call go with it; each knows the one before.
local function forget_approvals(lane, record)
  local id = record and extra(record, 'approval')
  while id and id ~= '' do
    local key = approval_key(lane, id)
    local asked = redis.call('HMGET', key, 'state', 'askedBy', 'previous')
    if asked[1] then
      redis.call('ZREM', approvals_key(lane, asked[1]), id)
      redis.call('ZREM', waiting_key(lane), id .. ' ' .. asked[2])
      redis.call('ZREM', claimed_key(lane), id)
      redis.call('DEL', key)
    end
    id = asked[3]
  end
end

-- Arguments that a person put in the place of the question's; they count with the call's own bytes. The call is not parked any more.
local function keep_edited(lane, meta_key, record, id, edited)
  shares.change(lane, record, #edited, 0, 0)
  redis.call('HSET', approval_key(lane, id), 'edited', edited)
  redis.call('HINCRBY', meta_key, 'liveBytes', text(#edited))
  record[BYTES] = record[BYTES] + #edited
  set_extra(record, 'asked', text(tonumber(extra(record, 'asked')) + #edited))
end

--[[ Queue a parked call again, in its subject's window and before whatever waits there: it has waited already. Its snapshot is of now,
  because the session was just looked at. ]]
local function resume_call(lane, meta_key, call_id, record, resumed)
  local base = tonumber(extra(record, 'base'))
  local session_expires = math.min(resumed.session.expires_at, resumed.now + resumed.session.idle_ms)
  set_extra(record, 'resumed', may_have_run_before(lane, record) and '0' or text(base + 1))
  set_fact(record, DEADLINE, resumed.deadline)
  set_fact(record, EPOCH, redis.call('HGET', meta_key, 'epoch'))
  set_fact(record, SESSION_EXPIRES, text(session_expires))
  record[STATE] = QUEUED
  if extra(record, 'leftWindow') then
    set_extra(record, 'leftWindow', nil)
    local place = place_of(record[PLACE])
    local standing = read_window(redis.call('HGET', windows_key(lane), record[PLACE]))
    if standing >= place.limit then
      redis.call('LPUSH', backlog_key(lane, place.pool, place.group), call_id)
      adjust_window(lane, record[PLACE], 0, 1)
      return save_record(lane, call_id, record)
    end
    record[STANDING] = '1'
    adjust_window(lane, record[PLACE], 1, 0)
  end
  redis.call('DEL', body_key(lane, call_id))
  add_entry(lane, call_id, record, resumed.envelope)
  save_record(lane, call_id, record)
end
