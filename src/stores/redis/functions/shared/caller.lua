-- Checks the proof of a nested call: parent call, worker, entry and fence, one line each. The worker must hold the parent, and the nested call
-- must be in the parent's session.
local function parent_vouches(lane, session_id, vouches)
  local parent_id, worker, entry, fence = string.match(vouches, '^(.-)\n(.-)\n(.-)\n(.-)$')
  local parent = parent_id and load_record(lane, parent_id)
  return parent and fact(parent, SESSION) == session_id and owns(lane, parent, worker, entry, fence)
end

--[[ A head is what many calls of a batch share: session, run, pool, serial (1 or 0), tool, deadlineMs, events (1 or 0), caller and the kind of
  proof (`token` or `parent`), one line each. After a zero byte follows the proof itself: the digest of the session's token, or the lines of
  `parent_vouches`. The proof is not cached. ]]
local HEAD = '^([^\n]*)\n([^\n]*)\n([^\n]*)\n([01])\n([^\n]*)\n(%d+)\n([01])\n([^\n]*)\n([^\n]*)$'

local read_head = remember(function(head_text)
  local session_id, run, pool, serial, tool, deadline_ms, events, caller, proof = string.match(head_text, HEAD)
  local scope = session_id and string.match(session_id, '^%d+%.([^.]+)%.')
  if not scope then return { unreadable = true } end
  local is_serial = serial == '1'
  return { session_id = session_id, run = run, prefix = scope_prefix(session_id), pool = pool, is_serial = is_serial,
    group = is_serial and scope .. '/' .. tool or scope, deadline_ms = tonumber(deadline_ms), events = events, caller = caller,
    run_name = session_id .. '/' .. run, tool_tag = tool_tag(tool), by_token = proof == 'token', extras = is_serial and ';serial=1' or '',
    -- A nested call needs no place in the window of its subject. Its running parent has a place, and the nested call could wait for that
    -- place for ever.
    passes_window = proof ~= 'token' and not is_serial,
    -- The lines of the facts before and after those that the store fills in: epoch, sessionExpiresAt, acceptedAt and deadline.
    before = '\n' .. session_id .. '\n' .. run .. '\n', behind = '\n' .. events .. '\n' .. tool .. '\n', frames = {} }
end)

-- Returns the frame from which records of this shape and this window size are made. It is cached in the shape.
local function frame_of(shape, limit_text)
  local frame = shape.frames[limit_text]
  if not frame then
    local place = shape.pool .. '\n' .. shape.group .. '\n' .. limit_text
    frame = record_frame(QUEUED, shape.events, place, shape.caller, shape.extras)
    frame.name, frame.limit = place, tonumber(limit_text)
    shape.frames[limit_text] = frame
  end
  return frame
end

-- Checks the session and the proof of a head. `ending` is the reason why the session may not call. If loop detection has ended the run,
-- only calls that were accepted earlier are answered; `rest_ms` is for how many ms the run's conversation still gets no new run.
local function open_head(lane, head_text, now, now_text, epoch, window_text)
  local zero = string.find(head_text, '\0', 1, true) or 0
  local shape, vouches = read_head(string.sub(head_text, 1, zero - 1)), string.sub(head_text, zero + 1)
  if shape.unreadable then return { ending = 'unknown' } end
  local session, seen_at, expires_at, ending, run_opened, stalls = live_session(lane, shape.session_id, shape.run, now)
  if not session then return { ending = ending } end
  local vouched
  if shape.by_token then
    vouched = redis.sha1hex(vouches) == session.token
  else
    vouched = parent_vouches(lane, shape.session_id, vouches)
  end
  if not vouched then return { ending = 'unknown' } end
  if ending and ending ~= 'run-ended' then return { ending = ending } end
  local own_prefix = shape.prefix .. agents.of(session.identity).tag
  if ending then
    return { ending = ending, shape = shape, identity = session.identity, own_prefix = own_prefix,
      rest_ms = math.max(0, run_opened - now) }
  end
  local frame = frame_of(shape, shape.is_serial and '1' or window_text)
  local deadline = text_of(now + shape.deadline_ms)
  local facts = session.identity .. shape.before .. epoch .. '\n' .. text_of(expires_at) .. '\n' .. now_text .. '\n' .. deadline
    .. shape.behind
  -- The fields from `window` on are filled in later, by `window_counts`, `open_runs` and accept-calls.lua.
  return { shape = shape, frame = frame, place = frame.name, limit = frame.limit, facts = facts,
    identity = session.identity, own_prefix = own_prefix,
    framed_facts = framed_facts(frame, facts), deadline = deadline, stream = stream_key(lane, shape.pool), seen_at = seen_at,
    idle_ms = session.idle_ms, run_name = shape.run_name, run_opened = run_opened, stalls = stalls, window = false, use = false,
    run = false, run_facts = '', attempts = 0, watched_until = 0, cost = 0, wrong_until = 0, tool_tag = '', tool_count = 0,
    other_tools = '', value = '', hints_at = 1, fresh = '', opened_at = 0, accepted = false }
end

-- Records that the sessions were used: at most once a second, or ten times per idle expiry if that is more often. The idle expiry needs no
-- exact time, and a write for each call would make every call slower.
local function mark_seen(lane, heads, now)
  for _, head in ipairs(heads) do
    if head.accepted and now - head.seen_at >= math.min(1000, head.idle_ms / 10) then
      redis.call('HSET', session_key(lane, head.shape.session_id), 'seen', text(now))
    end
  end
end
