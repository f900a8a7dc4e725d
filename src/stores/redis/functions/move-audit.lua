--[[ Move the audit records that an earlier release left in its stream into the journal, `limit` entries at a time. Records that the sink has are
  left out. An entry that no release has written is moved too, so that the drain reports it as foreign.
  FLAGS    allow-oom
  KEYS     meta, drain, audit, oldAudit
  ARGV     incarnation, limit
  RETURNS  MOVED ]]
local meta, drain, audit, old_audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local incarnation, limit = ARGV[1], ARGV[2]
if not same_incarnation(meta, incarnation) then return REPLACED end
local entries = redis.call('XRANGE', old_audit, '-', '+', 'COUNT', limit)
local drained = journal.facts(meta, drain).drained
for _, entry in ipairs(entries) do
  local first, fields = tonumber(string.match(entry[1], '^%d+')), entry[2]
  if fields[1] == 't' and tonumber(fields[2]) and (#fields - 2) % 4 == 0 then
    local front = journal.front(tonumber(fields[2]))
    for at = 3, #fields, 4 do
      local number = first + (at - 3) / 4
      if number > drained then
        redis.call('RPUSH', audit, journal.element(front, number, fields[at], fields[at + 2], fields[at + 1], fields[at + 3]))
      end
    end
  else
    redis.call('RPUSH', audit, table.concat(fields, '\n'))
  end
  redis.call('XDEL', old_audit, entry[1])
end
return { 'MOVED', text(#entries) }
