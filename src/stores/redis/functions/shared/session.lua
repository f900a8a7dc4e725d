--[[ A session is a hash: `facts`, which do not change (token, expiresAt, idleMs, openedAt and identity, one line each) but for a
  line `revoked` before them once it is, `seen`, `openedBy` (JSON), its runs, what was offered to each, `loops`: the latest runs that loop detection
  ended, one line each with the run, when it ended, and from when on its conversation may have a new run; and `stalls`: what has brought
  nothing new in its runs, see `add_stall`. ]]
local REVOKED = 'revoked\n'

local session_facts = remember(function(facts)
  local revoked = string.sub(facts, 1, #REVOKED) == REVOKED
  local token, expires_at, idle_ms, _, identity =
    string.match(facts, '^([^\n]*)\n(%d+)\n(%d+)\n(%d+)\n(.*)$', revoked and #REVOKED + 1 or 1)
  return { revoked = revoked, token = token, expires_at = tonumber(expires_at), idle_ms = tonumber(idle_ms),
    identity = identity }
end)

local LOOP_END = '([^ \n]*) (%d+) (%d+)'

-- From when on the conversation of a run that loop detection ended may have a new one; nil for other runs.
local function opens_at(lane, session_id, run)
  local ends, found = run ~= '' and redis.call('HGET', session_key(lane, session_id), 'loops') or '', nil
  for ended_run, _, opens in string.gmatch(ends, LOOP_END) do
    if ended_run == run then found = tonumber(opens) end
  end
  return found
end

--[[ The agents of an identity: the session's own agent, then those it acts for, one line each. Keys belong to them: the last part of a
  call's id begins with their tag. The same as `agentsTag` and `keyOfAgents` in wire/digest.ts. ]]
local agents = { LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_' }

-- The first characters of a SHA-1 in base64url. Three hexadecimal digits are two of them.
function agents.digest(text, characters)
  local hex, made = redis.sha1hex(text), {}
  for at = 1, characters / 2 do
    local bits = tonumber(string.sub(hex, at * 3 - 2, at * 3), 16)
    local high, low = math.floor(bits / 64) + 1, bits % 64 + 1
    made[at] = string.sub(agents.LETTERS, high, high) .. string.sub(agents.LETTERS, low, low)
  end
  return table.concat(made)
end

-- Without a name for an identity that was overwritten by hand: it reaches nothing.
agents.of = remember(function(identity)
  local readable, known = pcall(cjson.decode, identity)
  if not readable or type(known) ~= 'table' or type(known.agent) ~= 'string' then return { names = '', tag = '' } end
  local names = table.concat({ known.agent, unpack(known.delegators or {}) }, '\n')
  return { names = names, tag = agents.digest(names, 8) }
end)

-- Whether a session with the first identity may see a call of the second, of the same subject: its own, or one of its delegates.
function agents.reach(viewer, maker)
  local own, others = agents.of(viewer).names, agents.of(maker).names
  return own ~= '' and (others == own or string.sub(others, -#own - 1) == '\n' .. own)
end

function agents.same(one, other)
  return one == other or agents.reach(one, other) and agents.reach(other, one)
end

-- The id that a key has for these agents. One with their tag is theirs already; every other one becomes another key.
function agents.own_id(own_prefix, prefix, asked)
  if string.sub(asked, 1, #own_prefix) == own_prefix or string.sub(asked, 1, #prefix) ~= prefix then return asked end
  return own_prefix .. agents.digest(string.sub(asked, #prefix + 1), 14)
end

--[[ The ids of a batch of calls, each under the agents of its head. Behind them the ids of those calls that were asked for under
  another one, which is how earlier releases kept them; `earlier` says where. ]]
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

-- Returns the session's facts, when it was seen and when it expires; or nil. Then how it ended, if it did, and what it says of the run:
-- of one that loop detection ended, from when on its conversation may have a new one. Last what the session counts over its runs, if
-- anything.
local function live_session(lane, session_id, run, now)
  -- Of another type or overwritten by hand: unknown, and no trouble for the sessions beside it.
  local fields = redis.pcall('HMGET', session_key(lane, session_id), 'facts', 'seen', 'run:' .. run, 'stalls')
  local facts, seen_at = fields[1] and session_facts(fields[1]), tonumber(fields[2])
  if not facts or not facts.expires_at or not seen_at then return nil, nil, nil, 'unknown' end
  local expires_at = math.min(facts.expires_at, seen_at + facts.idle_ms)
  -- While a person is asked, nobody can expect the agent to be active: the idle expiry is suspended.
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

-- The next reap sees what nobody else would notice: a parked call is no worker's.
local function hurry_parked(lane, live_key, session_id)
  local now_text = text(now_ms())
  for _, call_id in ipairs(redis.call('SMEMBERS', parked_key(lane, session_id))) do
    redis.call('ZADD', live_key, 'LT', now_text, call_id)
  end
end

local function injected_field(run)
  return 'injected:' .. run
end

-- `<lane>.<scope>.` : what every id of this subject starts with.
local function scope_prefix(id)
  return string.match(id, '^%d+%.[^.]+%.')
end

-- What an audit record about no call is about, one line each: session, run and identity. All empty: the deployment itself.
local function about_session(session_id, run, identity)
  return session_id .. '\n' .. run .. '\n' .. identity
end
