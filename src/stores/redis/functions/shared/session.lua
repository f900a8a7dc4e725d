--[[ A session is a hash. All times are store times in ms.
    facts           lines: SHA-1 of the token's digest, expiresAt, idleMs, openedAt, identity (JSON). They never change (open_session).
                    A revocation puts the line `revoked` before them (change_session)
    seen            time of the last use (open_session, accept_calls, change_session, the end of a question)
    openedBy        who opened it, JSON; absent if unknown (open_session)
    run:<run>       a live run: see `opened_run` (open_session, change_session)
    injected:<run>  the tools offered to the run, one line each: `<tool> <tool that offered it>` (inject_tools)
    loops           runs that loop detection ended, one line each: run, when it ended, and from when on its conversation may have a new
                    run (add_loop_end)
    stalls          calls in its runs that brought nothing new: see `add_stall` ]]
local REVOKED = 'revoked\n'

local session_facts = remember(function(facts)
  local revoked = string.sub(facts, 1, #REVOKED) == REVOKED
  local token, expires_at, idle_ms, _, identity =
    string.match(facts, '^([^\n]*)\n(%d+)\n(%d+)\n(%d+)\n(.*)$', revoked and #REVOKED + 1 or 1)
  return { revoked = revoked, token = token, expires_at = tonumber(expires_at), idle_ms = tonumber(idle_ms),
    identity = identity }
end)

local LOOP_END = '([^ \n]*) (%d+) (%d+)'

-- Returns the time (store ms) from which the conversation of a run that loop detection ended may have a new run; nil for other runs.
local function opens_at(lane, session_id, run)
  local ends, found = run ~= '' and redis.call('HGET', session_key(lane, session_id), 'loops') or '', nil
  for ended_run, _, opens in string.gmatch(ends, LOOP_END) do
    if ended_run == run then found = tonumber(opens) end
  end
  return found
end

--[[ The agents of an identity are the session's own agent, then the agents it acts for, one line each. A caller's keys belong to these
  agents: the last part of a call's id begins with their tag. Computed as `agentsTag` and `keyOfAgents` in domain/tool/digest.ts do. ]]
local agents = { LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_' }

-- The first characters of a SHA-1 in base64url; an even number. Three hexadecimal digits give two characters.
function agents.digest(text, characters)
  local hex, made = redis.sha1hex(text), {}
  for at = 1, characters / 2 do
    local bits = tonumber(string.sub(hex, at * 3 - 2, at * 3), 16)
    local high, low = math.floor(bits / 64) + 1, bits % 64 + 1
    made[at] = string.sub(agents.LETTERS, high, high) .. string.sub(agents.LETTERS, low, low)
  end
  return table.concat(made)
end

-- Returns names and tag of an identity's agents. Both are empty for an identity that was overwritten by hand: it reaches no call.
agents.of = remember(function(identity)
  local readable, known = pcall(cjson.decode, identity)
  if not readable or type(known) ~= 'table' or type(known.agent) ~= 'string' then return { names = '', tag = '' } end
  local names = table.concat({ known.agent, unpack(known.delegators or {}) }, '\n')
  return { names = names, tag = agents.digest(names, 8) }
end)

-- Whether a session with the identity `viewer` may see a call of the identity `maker`: a call of the same agents, or of agents that act for
-- them. The caller has checked that both have the same subject.
function agents.reach(viewer, maker)
  local own, others = agents.of(viewer).names, agents.of(maker).names
  return own ~= '' and (others == own or string.sub(others, -#own - 1) == '\n' .. own)
end

function agents.same(one, other)
  return one == other or agents.reach(one, other) and agents.reach(other, one)
end

-- Returns the call id that a key has for these agents. An id that begins with their tag stays as it is; any other id of the same subject is
-- replaced by one that begins with it.
function agents.own_id(own_prefix, prefix, asked)
  if string.sub(asked, 1, #own_prefix) == own_prefix or string.sub(asked, 1, #prefix) ~= prefix then return asked end
  return own_prefix .. agents.digest(string.sub(asked, #prefix + 1), 14)
end

--[[ Returns the ids under which the calls of a batch are stored, in the order of the calls: each begins with the tag of the agents in the
  call's session (see `own_id`). Earlier releases stored calls without a tag. So if the id that the caller sent is a different one, it is
  added after the ids of all calls, and `earlier` has its position in the list, by the number of the call. `heads` has the head of each call
  (see caller.lua). ]]
function agents.call_ids(heads, args, first, stride)
  local ids, earlier = {}, {}
  for number = 1, #heads do
    local head, asked = heads[number], args[first + (number - 1) * stride]
    ids[number] = head.own_prefix and agents.own_id(head.own_prefix, head.shape.prefix, asked) or asked
  end
  for number = 1, #heads do
    local asked = args[first + (number - 1) * stride]
    if ids[number] ~= asked then
      ids[#ids + 1] = asked
      earlier[number] = #ids
    end
  end
  return ids, earlier
end

-- Returns six values. The first three are nil for an unknown session: the session's facts, when it was last used, when it expires. Then how
-- the session or its run ended (nil: it is live). Then the `run:` field of a live run, or the time from which the conversation of a run
-- that loop detection ended may have a new run. Last, the stalls of the session, if any.
local function live_session(lane, session_id, run, now)
  -- A session whose key has another type, or was overwritten by hand, counts as unknown. `pcall` keeps it from failing the whole batch.
  local fields = redis.pcall('HMGET', session_key(lane, session_id), 'facts', 'seen', 'run:' .. run, 'stalls')
  local facts, seen_at = fields[1] and session_facts(fields[1]), tonumber(fields[2])
  if not facts or not facts.expires_at or not seen_at then return nil, nil, nil, 'unknown' end
  local expires_at = math.min(facts.expires_at, seen_at + facts.idle_ms)
  -- While a person is asked, the agent cannot be expected to be active, so the idle expiry is suspended.
  if now >= expires_at and now < facts.expires_at and redis.call('EXISTS', parked_key(lane, session_id)) == 1 then
    expires_at = facts.expires_at
  end
  local ending, about_run = nil, fields[3]
  if facts.revoked then
    ending = 'revoked'
  elseif now >= expires_at then
    ending = 'expired'
  elseif not about_run then
    about_run = opens_at(lane, session_id, run)
    ending = about_run and 'run-ended' or 'run-unknown'
  end
  return facts, seen_at, expires_at, ending, about_run, fields[4]
end

-- Makes the parked calls of a session due for the next reap. No worker holds a parked call, so otherwise they would not end with the
-- session or the run.
local function hurry_parked(lane, live_key, session_id)
  local now_text = text(now_ms())
  for _, call_id in ipairs(redis.call('SMEMBERS', parked_key(lane, session_id))) do
    redis.call('ZADD', live_key, 'LT', now_text, call_id)
  end
end

local function injected_field(run)
  return 'injected:' .. run
end

-- Returns `<lane>.<scope>.`, with which every id of this subject starts.
local function scope_prefix(id)
  return string.match(id, '^%d+%.[^.]+%.')
end

-- What an administrative audit record is about, since it has no call: session, run and identity, one line each. A record about the deployment
-- itself has an empty text instead.
local function about_session(session_id, run, identity)
  return session_id .. '\n' .. run .. '\n' .. identity
end
