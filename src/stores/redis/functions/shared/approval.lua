--[[ An approval is a hash. All times are store times in ms. What was asked does not change (ask_approval):
    call, question, binding, record           call id; the question, JSON; SHA-256 of what is asked about; the packed record of the parked call
    decisions, quorum, requester              the offered decisions, with spaces; how many must say yes; who may not decide, or empty
    mayHaveRun, wantsCallback, masked         1: a worker may have run the call before; 1: a worker wants the resolution; number of masks
    askedBy, fence, previous                  worker and fence that asked; the call's previous approval, or empty
    requestedAt, expiresAt, leftMs            when it was asked and expires; what was left of the call's deadline
  What became of it:
    state, resolution, resolvedAt             `pending`, then allowed, denied, expired or cancelled; how and when (resolve_approval)
    votes, edited, grant                      one line per vote; edited arguments; the grant made from it (decide_approval)
    revealedBy                                who has seen the masked values, one line each (reveal_approval)
    callback                                  `none`, waiting (resolve_approval), claimed (claim_callbacks), done (finish_callback) or unknown
                                              (reap_calls)
    claim, claimedBy                          the claim of the callback, and the worker that made it (claim_callbacks)
  Its id is in one sorted set, `approvals:<state>`: by expiry while pending, then by when it was resolved. Its call is parked exactly
  while the approval is pending. ]]
local EPOCH, SESSION_EXPIRES = 4, 5
local EVENTS_OF = { allowed = 'approval.decided', denied = 'approval.decided', expired = 'approval.expired', cancelled = 'approval.cancelled' }
local RESOLUTIONS = { denied = 'deny', expired = 'timeout', cancelled = 'cancelled' }

local function approval_key(lane, id) return lane .. 'approval:' .. id end
-- Returns the id of the last question about a call, or an empty text.
local function approval_of(record) return extra(record, 'approval') or '' end
local function approvals_key(lane, state) return lane .. 'approvals:' .. state end
-- Sorted sets of callbacks. Waiting ones as `<approval> <worker that asked>`, by when the approval was resolved; claimed ones as approval ids, by
-- when the callback must be finished.
local function waiting_key(lane) return lane .. 'callbacks:waiting' end
local function claimed_key(lane) return lane .. 'callbacks:claimed' end

-- Returns when a question ends at the latest: its time is up, or its session expires. Approvers are shown this time, and the reap looks at the
-- parked call then. A question of an earlier release may have been stored with a later end than its session's.
local function parked_until(expires_at, session)
  return math.min(expires_at, session and session.expires_at or expires_at)
end

-- Whether a call was allowed by an approver, cannot have run before the question, and was not handed back by a worker since. If in addition
-- no worker holds the call now, it has not run.
local function is_untouched(record)
  local base = tonumber(extra(record, 'base'))
  return base and extra(record, 'resumed') == text(base + 1)
end

-- Whether a worker held the call before the question was asked and may have run it.
local function may_have_run_before(lane, record)
  if extra(record, 'starts') then return true end
  return redis.call('HGET', approval_key(lane, approval_of(record)), 'mayHaveRun') == '1'
end

-- Whether this principal has revealed the question. `revealedBy` has one principal per line, written as in votes.
local function has_revealed(revealed_by, by)
  return string.find('\n' .. (revealed_by or '') .. '\n', '\n' .. by .. '\n', 1, true) ~= nil
end

-- Whether nothing is masked, or this principal has revealed the question. A question of an earlier release has no number of masks and
-- counts as masked.
local function has_seen_all(masked, revealed_by, by) return masked == '0' or has_revealed(revealed_by, by) end

-- Checks whether the approval of a parked call has to end now. Returns its final state if so; otherwise nil and when to check again.
local function due_state(lane, record, now)
  local session, _, _, ending = live_session(lane, fact(record, SESSION), fact(record, RUN), now)
  if ending then return 'cancelled' end
  local expires_at = tonumber(redis.call('HGET', approval_key(lane, approval_of(record)), 'expiresAt'))
  if expires_at and now < expires_at then return nil, parked_until(expires_at, session) end
  return 'expired'
end

-- Ends a pending approval; every end of a question goes through here. The session's idle expiry was suspended meanwhile, so it counts from now
-- on, whatever the resolution is.
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

-- Ends the approval of a parked call together with the call. To be called right before `settle_record`. The approval itself is changed only
-- after the audit records are written.
local function end_parked(settlement, call_id, record, state, detail)
  afterwards(settlement, function()
    resolve_approval(settlement.lane, call_id, record, state, RESOLUTIONS[state], tonumber(settlement.now_text))
  end)
  add_audit(settlement.audit, EVENTS_OF[state], call_id, write_record(record), detail)
end

-- Gives up callbacks that were claimed and not finished in time. They may have been invoked, so no other worker gets them.
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

-- Deletes all questions about a call; `previous` links each to the one before it.
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

-- Stores the arguments with which an approver replaced those of the question. They are added to the bytes of the call, which is no longer parked.
local function keep_edited(lane, meta_key, record, id, edited)
  shares.change(lane, record, #edited, 0, 0)
  redis.call('HSET', approval_key(lane, id), 'edited', edited)
  redis.call('HINCRBY', meta_key, 'liveBytes', text(#edited))
  record[BYTES] = record[BYTES] + #edited
  set_extra(record, 'asked', text(tonumber(extra(record, 'asked')) + #edited))
end

--[[ Queues a parked call again. If its subject's window is full, it goes to the front of the backlog, because it has waited already. Epoch and
  session expiry in its facts are the current ones, because the session was just checked. ]]
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
