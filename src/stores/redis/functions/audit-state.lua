--[[ How far a lane's audit is, and what is refused for want of its sink.
  FLAGS    no-writes
  KEYS     meta
  ARGV     incarnation
  RETURNS  STATE ]]
local meta = KEYS[1]
local facts = redis.call('HMGET', meta, 'incarnation', 'auditSequence', 'auditDrained', 'auditDrainedAt', 'auditDrainer', 'auditUntil',
  'auditAlarm', 'auditStarts', 'auditAdmits')
if facts[1] ~= ARGV[1] then return REPLACED end
local now, sequence = now_ms(), facts[2] or '0'
local refuses = audit_is_late(sequence, facts[9], now) and 'everything' or audit_is_late(sequence, facts[8], now) and 'privileged' or 'nothing'
local drainer = now < (tonumber(facts[6]) or 0) and facts[5] or ''
return { 'STATE', sequence, facts[3] or '0', facts[4] or '0', text(now), drainer, facts[7] or '', refuses }
