--[[ Calls owed to MCP clients. Each subject has one hash. It has a field for each entry, named by the last part of its call's id, with six values
  and a space between them; times are store times in ms:
    digest      over agent, tool and arguments (hold_owed)
    holder      the gateway process whose request is open; `-` if none is (hold_owed, release_owed)
    attempt     name of the request that took it last (hold_owed)
    made_at     when it was made (hold_owed)
    owed_from   a request takes it only if it came at this time or later; 0: any request (release_owed)
    expires_at  when it expires, unless a live gateway holds it (hold_owed, release_owed)
  The field `=<digest>` lists the names of the entries with this digest, oldest first. A sorted set per subject has the entries by expiry. Redis
  deletes both keys with their last entry, or MAX_HELD_MS after the last expiry. One table, because Lua limits the local names of a library. ]]
local owed = {}

-- The holder of an entry whose request is not open.
owed.NOBODY = '-'
-- Max expired entries that one `hold_owed` removes per new entry. It is more than 1, so that expired entries do not pile up, and few enough
-- to be fast.
owed.REAPED_AT_ONCE = 8
--[[ How long the keys of a subject outlast the last expiry of an entry. An entry that is held stays past its expiry, as long as its request
  is open. No request is open for longer than the longest question to a person. ]]
owed.MAX_HELD_MS = 8 * 24 * 60 * 60 * 1000

function owed.entries_key(lane, scope) return lane .. 'owed:' .. scope end
function owed.ends_key(lane, scope) return lane .. 'owed:' .. scope .. ':ends' end
function owed.beat_key(lane, holder) return lane .. 'owed:beat:' .. holder end

function owed.open(lane, scope)
  return { lane = lane, scope = scope, entries = owed.entries_key(lane, scope), ends = owed.ends_key(lane, scope) }
end

function owed.parse(name, bytes)
  if not bytes then return nil end
  local digest, holder, attempt, made_at, owed_from, expires_at = string.match(bytes, '^(%S+) (%S+) (%S+) (%d+) (%d+) (%d+)$')
  if not digest then return nil end
  return { name = name, digest = digest, holder = holder, attempt = attempt, made_at = tonumber(made_at),
    owed_from = tonumber(owed_from), expires_at = tonumber(expires_at) }
end

function owed.read(book, name)
  return owed.parse(name, redis.call('HGET', book.entries, name))
end

function owed.write(book, entry)
  local bytes = table.concat({ entry.digest, entry.holder, entry.attempt, text(entry.made_at), text(entry.owed_from),
    text(entry.expires_at) }, ' ')
  redis.call('HSET', book.entries, entry.name, bytes)
  redis.call('ZADD', book.ends, text(entry.expires_at), entry.name)
  for _, key in ipairs({ book.entries, book.ends }) do
    local until_ms = entry.expires_at + owed.MAX_HELD_MS
    if redis.call('PEXPIRETIME', key) < until_ms then redis.call('PEXPIREAT', key, text(until_ms)) end
  end
end

-- Names of the entries with this digest, oldest first.
function owed.names(book, digest)
  local names = {}
  for name in string.gmatch(redis.call('HGET', book.entries, '=' .. digest) or '', '%S+') do names[#names + 1] = name end
  return names
end

--[[ Returns the entries with this digest that have not expired, oldest first. Leaves out entries that the same gateway holds for other open
  requests, because no repeated request may take them. If many identical calls come at once, nearly all entries are of this kind. ]]
function owed.entries(book, digest, now, holder, attempt)
  local own, again = ' ' .. holder .. ' ', ' ' .. attempt .. ' '
  local names, found = owed.names(book, digest), {}
  if #names == 0 then return found end
  for number, bytes in ipairs(redis.call('HMGET', book.entries, unpack(names))) do
    local is_open = bytes and string.find(bytes, own, 1, true) and not string.find(bytes, again, 1, true)
    local entry = not (is_open and names[number] ~= attempt) and owed.parse(names[number], bytes)
    if entry and not owed.is_over(book, entry, now) then found[#found + 1] = entry end
  end
  return found
end

function owed.list(book, digest, names)
  if #names == 0 then redis.call('HDEL', book.entries, '=' .. digest) return end
  redis.call('HSET', book.entries, '=' .. digest, table.concat(names, ' '))
end

function owed.remove(book, name)
  local entry = owed.read(book, name)
  redis.call('HDEL', book.entries, name)
  redis.call('ZREM', book.ends, name)
  if not entry then return end
  local kept = {}
  for _, other in ipairs(owed.names(book, entry.digest)) do
    if other ~= name then kept[#kept + 1] = other end
  end
  owed.list(book, entry.digest, kept)
end

-- Removes expired entries. An entry that a live gateway holds gets a later expiry instead, so that it does not hide others that have expired.
function owed.reap(book, now)
  local due = redis.call('ZRANGEBYSCORE', book.ends, '-inf', text(now), 'LIMIT', 0, owed.REAPED_AT_ONCE)
  for _, name in ipairs(due) do
    local entry = owed.read(book, name)
    if entry and owed.lives(book.lane, entry.holder) then
      entry.expires_at = now + OWED_BEATS.silent_ms
      owed.write(book, entry)
    else
      owed.remove(book, name)
    end
  end
end

-- Returns the time of a holder's last beat, in store ms; 0 if it was silent for too long, because Redis then deletes the beat.
function owed.beat_of(lane, holder)
  return tonumber(redis.call('GET', owed.beat_key(lane, holder)) or '0')
end

function owed.lives(lane, holder)
  return holder ~= owed.NOBODY and owed.beat_of(lane, holder) > 0
end

function owed.is_over(book, entry, now)
  return entry.expires_at <= now and not owed.lives(book.lane, entry.holder)
end

function owed.beat(lane, holder, now)
  if now - owed.beat_of(lane, holder) < OWED_BEATS.every_ms then return end
  redis.call('SET', owed.beat_key(lane, holder), text(now), 'PX', text(OWED_BEATS.silent_ms))
end
