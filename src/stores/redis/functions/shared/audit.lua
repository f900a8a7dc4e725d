--[[ Bounds on how far a lane's audit may run ahead of its sink. A bound is `<sequence> <time>` in the lane's meta, the time in store
  milliseconds. Calls are refused when the lane's count has reached the sequence, or after the time. Without a bound no call is refused.
  `auditStarts` refuses the start of privileged calls, `auditAdmits` refuses new calls. `drain_audit` moves both with every drain;
  `bound_audit` writes the first ones. ]]
local function audit_is_late(sequence, bound, now)
  if not bound then return false end
  local most, until_ms = string.match(bound, '^(%d+) (%d+)$')
  -- A count that is no number was written by hand. It counts as late until the next settle or drain computes it again.
  return most ~= nil and (not (tonumber(sequence) and tonumber(sequence) < tonumber(most)) or now > tonumber(until_ms))
end

local function write_audit_bounds(meta_key, drained, now, privileged_records, privileged_late, records, late)
  redis.call('HSET', meta_key, 'auditStarts', text(drained + privileged_records) .. ' ' .. text(now + privileged_late),
    'auditAdmits', text(drained + records) .. ' ' .. text(now + late))
end
