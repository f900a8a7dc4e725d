--[[ How far a lane's audit may run ahead of its sink: `<sequence> <time>` in the lane's meta, moved by every drain. From that record on,
  or from that time on, calls are refused. Without one nothing is. ]]
local function audit_is_late(sequence, bound, now)
  if not bound then return false end
  local most, until_ms = string.match(bound, '^(%d+) (%d+)$')
  -- A count that was written by hand is late, until the next settle or drain has made it again.
  return most ~= nil and (not (tonumber(sequence) and tonumber(sequence) < tonumber(most)) or now > tonumber(until_ms))
end

local function write_audit_bounds(meta_key, drained, now, privileged_records, privileged_late, records, late)
  redis.call('HSET', meta_key, 'auditStarts', text(drained + privileged_records) .. ' ' .. text(now + privileged_late),
    'auditAdmits', text(drained + records) .. ' ' .. text(now + late))
end
