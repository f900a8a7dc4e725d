local SEPARATOR = '\31'

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Formats a whole number as text: tostring() would write large ones with an exponent.
local function text(number) return string.format('%.0f', number) end

-- A key of a collection. All keys of a scope share the hash tag in `prefix`.
local function part(prefix, collection, name) return prefix .. collection .. ':' .. name end

--[[ A document is `version|order|at|expires|body` in the hash `docs`, by id. commit_scope writes it; times are ms of the server's clock:
    version  how often it was written, from 1
    order    the scope's counter when it was written, or its order before that if the put keeps it
    at       when it was created
    expires  when it expires; empty: never
  The sorted set `order` has the ids by order, so have `label:<label>` and `word:<word>`. The hash `keys` has the id by key. The hash `index` has
  `<id> key`, `<id> labels` and `<id> words` (joined by SEPARATOR), so that `remove` finds what to delete. keep_vectors writes `vectors`, by id.
  The scope's `meta` has `counter`, the last number given to a put, and `version`, which grows with every commit. ]]
local function read_head(bytes)
  local version, order, at, expires = string.match(bytes, '^(%d+)|(%d+)|(%d+)|(%d*)|')
  return { version = tonumber(version), order = tonumber(order), at = tonumber(at), expires = tonumber(expires) }
end

local function find_live(prefix, collection, id, now)
  local bytes = redis.call('HGET', part(prefix, collection, 'docs'), id)
  local head = bytes and read_head(bytes)
  if head and (not head.expires or head.expires > now) then return head end
  return nil
end

--[[ Writes to a key, and makes the key expire with the last document in it: Redis deletes a key to which no more documents are added. A key that
  has a document without expiry does not expire. ]]
local function write(ttl, command, key, ...)
  local is_new = ttl ~= '' and redis.call('EXISTS', key) == 0
  redis.call(command, key, ...)
  if ttl == '' then
    redis.call('PERSIST', key)
  elseif is_new then
    redis.call('PEXPIRE', key, ttl)
  else
    redis.call('PEXPIRE', key, ttl, 'GT')
  end
end

local function split(joined)
  local found = {}
  for word in string.gmatch(joined, '[^' .. SEPARATOR .. ']+') do found[#found + 1] = word end
  return found
end

local function remove(prefix, collection, id)
  local index = redis.call('HMGET', part(prefix, collection, 'index'), id .. ' key', id .. ' labels', id .. ' words')
  local keys = part(prefix, collection, 'keys')
  if index[1] and redis.call('HGET', keys, index[1]) == id then redis.call('HDEL', keys, index[1]) end
  for _, label in ipairs(split(index[2] or '')) do redis.call('ZREM', part(prefix, collection, 'label:' .. label), id) end
  for _, word in ipairs(split(index[3] or '')) do redis.call('ZREM', part(prefix, collection, 'word:' .. word), id) end
  redis.call('HDEL', part(prefix, collection, 'index'), id .. ' key', id .. ' labels', id .. ' words')
  redis.call('HDEL', part(prefix, collection, 'vectors'), id)
  redis.call('ZREM', part(prefix, collection, 'order'), id)
  return redis.call('HDEL', part(prefix, collection, 'docs'), id)
end
