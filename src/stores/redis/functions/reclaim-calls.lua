--[[ Take over entries whose lease ran out. That raises the delivery count, so the fence of the worker that held the entry is invalid at once.
  Entries that belong to no call are deleted and do not count towards `limit`, so that they cannot delay the others.
  FLAGS    allow-oom
  KEYS     meta, stream
  ARGV     incarnation, lane, worker, leaseMs, limit
  RETURNS  TAKEN ]]
local meta, stream = KEYS[1], KEYS[2]
local incarnation, lane, worker, lease, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local LOOKED_AT_ONCE, MAX_LOOKS = 100, 50

if not same_incarnation(meta, incarnation) then return REPLACED end
local taken = { 'TAKEN' }
-- No worker could renew while the server was down. So a lease counts from the start of the server at the earliest; otherwise live workers would
-- lose their calls. If the clock was set back since, the uptime is negative and is ignored; the idle times use the same clock.
local up_seconds = tonumber(string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(-?%d+)')) or 0
if up_seconds >= 0 and (up_seconds + 1) * 1000 <= tonumber(lease) then return taken end

local function take(pending)
  -- XCLAIM returns nothing for an entry that was deleted from the stream; its call ends at its deadline, as BODY_LOST.
  local entry = redis.call('XCLAIM', stream, GROUP, worker, lease, pending[1])[1]
  if not entry then return end
  local fields = entry[2]
  local record = load_record(lane, fields[1])
  if record and record[ENTRY] == pending[1] then
    taken[#taken + 1] = { entry[1], fields, text(tonumber(pending[4]) + 1), extra(record, 'starts') or '0',
      record[STATE] == RUNNING and '1' or '0', extra(record, 'effect') or '', extra(record, 'cancel') or '0' }
  else
    -- The entry belongs to no call: it is left over from a change by hand, or no function has written it.
    redis.call('XACK', stream, GROUP, pending[1])
    redis.call('XDEL', stream, pending[1])
  end
end

local from = '-'
for _ = 1, MAX_LOOKS do
  local wanted = limit + 1 - #taken
  if wanted <= 0 then break end
  local found = redis.call('XPENDING', stream, GROUP, 'IDLE', lease, from, '+', math.min(wanted, LOOKED_AT_ONCE))
  if #found == 0 then break end
  for _, pending in ipairs(found) do take(pending) end
  from = '(' .. found[#found][1]
end
return taken
