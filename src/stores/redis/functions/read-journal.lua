--[[ Read a page of the journal after a position, with the lane's counters of the same moment. Elements are read one by one, up to `maxBytes` in
  all, because any role that writes records can append any bytes. For an element larger than `maxElement`, which no record is, only its length
  and digest are returned.
  FLAGS    no-writes
  KEYS     meta, drain, audit
  ARGV     incarnation, position, limit, maxBytes, maxElement
  RETURNS  PAGE ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
local incarnation, position, limit, max_bytes, max_element = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if not same_incarnation(meta, incarnation) then return REPLACED end
local facts, length = journal.facts(meta, drain), redis.call('LLEN', audit)
local first = math.max(0, position - facts.removed)
local elements, bytes = {}, 0
for index = first, math.min(length, first + limit) - 1 do
  local element = redis.call('LINDEX', audit, index)
  if #element > max_element then
    elements[#elements + 1] = { text(#element), journal.digest(element) }
  else
    bytes = bytes + #element
    if bytes > max_bytes and #elements > 0 then break end
    elements[#elements + 1] = element
  end
end
local counted = journal.believed(redis.call('HGET', meta, 'auditSequence'), facts, length)
return { 'PAGE', text(counted), text(facts.drained), text(facts.removed), text(facts.surplus), text(facts.foreign), text(length),
  text(facts.removed + first), elements }
