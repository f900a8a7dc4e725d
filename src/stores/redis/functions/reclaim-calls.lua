--[[ Take over entries whose lease ran out. The delivery count rises with it, so the former owner's fence is dead at once.
  FLAGS    allow-oom
  KEYS     meta, stream
  ARGV     incarnation, lane, worker, leaseMs, limit
  RETURNS  TAKEN ]]
local meta, stream = KEYS[1], KEYS[2]
local incarnation, lane, worker, lease, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not same_incarnation(meta, incarnation) then return REPLACED end
local taken = { 'TAKEN' }
for _, pending in ipairs(redis.call('XPENDING', stream, GROUP, 'IDLE', lease, '-', '+', limit)) do
  -- An entry whose body is gone comes back empty; its call ends at its deadline, as BODY_LOST.
  local entry = redis.call('XCLAIM', stream, GROUP, worker, lease, pending[1])[1]
  if entry then
    local fields = entry[2]
    local record = load_record(lane, fields[2])
    if record and record.entry == pending[1] and record.state ~= 'settled' then
      taken[#taken + 1] = { entry[1], fields, text(tonumber(pending[4]) + 1), record.starts or '0',
        record.state == 'running' and '1' or '0', record.effect or '', record.cancel or '0' }
    else
      -- Nobody waits for it: left over by hand, or written by somebody who is not us.
      redis.call('XACK', stream, GROUP, pending[1])
      redis.call('XDEL', stream, pending[1])
    end
  end
end
return taken
