--[[ For a request of an MCP client: take the oldest call with this digest that was already owed when the request came, or make an entry for
  a new call. An entry that another gateway holds is taken only if that gateway has sent no beat for a whole lease since the request began
  to wait. While it is not known whether that gateway is live, the answer is WAIT. `since` has the time of the first WAIT (store ms, empty
  in the first request), and after a space how many milliseconds ago the request came. Builds of revision 4 send only the time. `of` names
  the only entry that may be taken; with `fresh` none is taken.
  KEYS     meta
  ARGV     incarnation, lane, max
  EACH     scope, name, digest, holder, leaseMs, lifetimeMs, of, fresh, since
  RETURNS  MADE | TAKEN | WAIT | NONE | FULL ]]
local meta = KEYS[1]
local incarnation, lane, max = ARGV[1], ARGV[2], tonumber(ARGV[3])
local FIRST, STRIDE = 4, 9

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()

-- The answer for a taken entry. Only builds of revision 4 read the expiry.
local function taken(entry) return { 'TAKEN', entry.name, text(entry.made_at), text(entry.expires_at) } end

local function take(book, entry, holder, attempt, lifetime_ms)
  entry.holder, entry.attempt = holder, attempt
  entry.expires_at = math.max(entry.expires_at, now + tonumber(lifetime_ms))
  owed.write(book, entry)
  return taken(entry)
end

-- Returns the first entry whose holder, another gateway, is dead. If there is none, returns nil and whether one of the other holders may be
-- dead.
local function find_dead(entries, holder, lease_ms, since)
  local unsure = false
  for _, entry in ipairs(entries) do
    if entry.holder ~= owed.NOBODY and entry.holder ~= holder then
      if since and owed.beat_of(lane, entry.holder) <= since and now >= since + lease_ms then return entry end
      if not since or owed.beat_of(lane, entry.holder) <= since then unsure = true end
    end
  end
  return nil, unsure
end

-- If the subject has the max number of entries, evicts the one that expires first among those that no live gateway holds. Returns false if
-- live gateways hold all of them.
local function make_room(book)
  if redis.call('ZCARD', book.ends) < max then return true end
  for _, name in ipairs(redis.call('ZRANGE', book.ends, 0, max - 1)) do
    local entry = owed.read(book, name)
    if not entry or not owed.lives(lane, entry.holder) then
      owed.remove(book, name)
      return true
    end
  end
  return false
end

local function hold(scope, name, digest, holder, lease_ms, lifetime_ms, of, fresh, asked)
  owed.beat(lane, holder, now)
  local book = owed.open(lane, scope)
  owed.reap(book, now)
  local entries = owed.entries(book, digest, now, holder, name)
  -- The request is repeated after a lost answer.
  for _, entry in ipairs(entries) do
    if entry.name == name then return { 'MADE' } end
    if entry.attempt == name then return taken(entry) end
  end
  if of ~= '' then
    local entry = owed.read(book, of)
    if not entry or entry.digest ~= digest or owed.is_over(book, entry, now) then return { 'NONE' } end
    return take(book, entry, holder, name, lifetime_ms)
  end
  if fresh ~= '1' then
    local since, waited_ms = string.match(asked, '^(%d*) ?(%d*)$')
    local came_at = now - (tonumber(waited_ms) or 0)
    for _, entry in ipairs(entries) do
      if entry.holder == owed.NOBODY and entry.owed_from <= came_at then return take(book, entry, holder, name, lifetime_ms) end
    end
    local dead, unsure = find_dead(entries, holder, tonumber(lease_ms), tonumber(since))
    if dead then return take(book, dead, holder, name, lifetime_ms) end
    if unsure then return { 'WAIT', since ~= '' and since or text(now) } end
  end
  if not make_room(book) then return { 'FULL' } end
  owed.write(book, { name = name, digest = digest, holder = holder, attempt = name, made_at = now, owed_from = 0,
    expires_at = now + tonumber(lifetime_ms) })
  local names = owed.names(book, digest)
  names[#names + 1] = name
  owed.list(book, digest, names)
  return { 'MADE' }
end

local answers = {}
for at = FIRST, #ARGV, STRIDE do
  answers[#answers + 1] = hold(unpack(ARGV, at, at + STRIDE - 1))
end
return answers
