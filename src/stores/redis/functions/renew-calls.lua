--[[ Extend leases: reset the idle time of entries that the worker still holds. Holder and fence are checked first, because XCLAIM alone would
  take back an entry that another worker has taken over. All calls are of one worker and one pool; `first` and `last` are the lowest and the
  highest entry id.
  FLAGS    allow-oom
  KEYS     meta, calls
  ARGV     incarnation, lane, worker, pool, first, last
  EACH     callId, entry, fence
  RETURNS  RENEWED | FENCED | CANCEL ]]
local meta, calls = KEYS[1], KEYS[2]
local incarnation, lane, worker, pool, first, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local FIRST, STRIDE = 7, 3

if not same_incarnation(meta, incarnation) then return REPLACED end
local ids = {}
for at = FIRST, #ARGV, STRIDE do ids[#ids + 1] = ARGV[at] end
local stored = redis.call('HMGET', calls, unpack(ids))
local records = read_records(stored, PACKED_FRONT)
local held = held_by(lane, pool, worker, first, last, #ids)
local answers, renewed = {}, {}
for number = 1, #ids do
  local at = FIRST + (number - 1) * STRIDE
  local entry, fence = ARGV[at + 1], ARGV[at + 2]
  local record = records[number]
  local deliveries = record and deliveries_of(held, lane, pool, worker, entry)
  local answer = 'FENCED'
  if deliveries and has_fence(record, entry, deliveries, fence) then
    renewed[#renewed + 1] = entry
    answer = extra(record, 'cancel') == '1' and 'CANCEL' or 'RENEWED'
  end
  answers[number] = answer
end
if #renewed > 0 then
  renewed[#renewed + 1] = 'JUSTID'
  redis.call('XCLAIM', stream_key(lane, pool), GROUP, worker, '0', unpack(renewed))
end
return answers
