--[[ Change the documents of a scope in one atomic step. Everything is checked before the first write. Not run at Redis' memory limit.
  KEYS     meta
  ARGV     prefix, scopeVersion, pruned, most, then counted lists: checks, deletes, puts
  RETURNS  COMMITTED | EXISTS | FULL | CONFLICT ]]
local meta = KEYS[1]
local prefix, scope_version, pruned, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local cursor = 4
local function take()
  cursor = cursor + 1
  return ARGV[cursor]
end
local function take_list()
  local list = {}
  for _ = 1, tonumber(take()) do list[#list + 1] = take() end
  return list
end

local now = now_ms()
local state = redis.call('HMGET', meta, 'counter', 'version')
local counter, version = tonumber(state[1] or '0'), state[2] or '0'
if scope_version ~= '' and scope_version ~= version then return { 'CONFLICT' } end

for _ = 1, tonumber(take()) do
  local collection, id, wanted = take(), take(), take()
  local found = find_live(prefix, collection, id, now)
  if not found or (wanted ~= '' and found.version ~= tonumber(wanted)) then return { 'CONFLICT' } end
end
local deletes, puts = {}, {}
for _ = 1, tonumber(take()) do deletes[#deletes + 1] = { collection = take(), id = take() } end
for _ = 1, tonumber(take()) do
  local put = { collection = take(), id = take(), key = take(), keep = take(), ttl = take(), most = take(), body = take() }
  put.labels, put.words = take_list(), take_list()
  local holder = put.key ~= '' and redis.call('HGET', part(prefix, put.collection, 'keys'), put.key)
  if holder and holder ~= put.id then
    if find_live(prefix, put.collection, holder, now) then return { 'EXISTS', holder } end
    put.expired = holder
  end
  local is_new = put.id == '' or not find_live(prefix, put.collection, put.id, now)
  if is_new and put.most ~= '' and redis.call('ZCARD', part(prefix, put.collection, 'order')) >= tonumber(put.most) then
    return { 'FULL' }
  end
  puts[#puts + 1] = put
end

for _, one in ipairs(deletes) do remove(prefix, one.collection, one.id) end
local answer = { 'COMMITTED' }
for _, put in ipairs(puts) do
  counter = counter + 1
  local collection, id = put.collection, put.id ~= '' and put.id or text(counter)
  local before = find_live(prefix, collection, id, now)
  remove(prefix, collection, id)
  if put.expired then remove(prefix, collection, put.expired) end
  local order = (put.keep == '1' and before) and before.order or counter
  local at = before and before.at or now
  local next_version = (before and before.version or 0) + 1
  local expires = put.ttl ~= '' and text(now + tonumber(put.ttl)) or ''
  local head = text(next_version) .. '|' .. text(order) .. '|' .. text(at) .. '|' .. expires .. '|'
  local ttl, index = put.ttl, part(prefix, collection, 'index')
  write(ttl, 'HSET', meta, 'counter', text(counter))
  write(ttl, 'HSET', part(prefix, collection, 'docs'), id, head .. put.body)
  write(ttl, 'ZADD', part(prefix, collection, 'order'), order, id)
  if put.key ~= '' then
    write(ttl, 'HSET', part(prefix, collection, 'keys'), put.key, id)
    write(ttl, 'HSET', index, id .. ' key', put.key)
  end
  if #put.labels > 0 then write(ttl, 'HSET', index, id .. ' labels', table.concat(put.labels, SEPARATOR)) end
  if #put.words > 0 then write(ttl, 'HSET', index, id .. ' words', table.concat(put.words, SEPARATOR)) end
  for _, label in ipairs(put.labels) do
    write(ttl, 'ZADD', part(prefix, collection, 'label:' .. label), order, id)
  end
  for _, word in ipairs(put.words) do
    write(ttl, 'ZADD', part(prefix, collection, 'word:' .. word), order, id)
  end
  answer[#answer + 1] = { id, text(next_version), text(order), text(at) }
end

if pruned ~= '' then
  local order = part(prefix, pruned, 'order')
  local excess = math.min(redis.call('ZCARD', order) - most, 500)
  if excess > 0 then
    for _, id in ipairs(redis.call('ZRANGE', order, 0, excess - 1)) do remove(prefix, pruned, id) end
  end
  -- Delete expired documents among the 16 oldest: that is more than a commit usually adds.
  for _, id in ipairs(redis.call('ZRANGE', order, 0, 15)) do
    if not find_live(prefix, pruned, id, now) then remove(prefix, pruned, id) end
  end
end
-- A scope that never had a document has no `meta`, and none is created for it.
if redis.call('EXISTS', meta) == 1 then redis.call('HSET', meta, 'version', text(tonumber(version) + 1)) end
return answer
