--[[ Return how far a lane's audit was written and drained, and which calls are refused because the sink is behind.
  FLAGS    no-writes
  KEYS     meta, drain, audit
  ARGV     incarnation
  RETURNS  STATE ]]
local meta, drain, audit = KEYS[1], KEYS[2], KEYS[3]
local counted = redis.call('HMGET', meta, 'incarnation', 'auditSequence', 'auditStarts', 'auditAdmits')
if counted[1] ~= ARGV[1] then return REPLACED end
local facts, now, length = journal.facts(meta, drain), now_ms(), redis.call('LLEN', audit)
local sequence = text(journal.believed(counted[2], facts, length))
local refuses = audit_is_late(sequence, counted[4], now) and 'everything' or audit_is_late(sequence, counted[3], now) and 'privileged' or 'nothing'
local drainer = now < facts.until_ms and facts.drainer or ''
return { 'STATE', sequence, text(facts.drained), facts.drained_at, text(now), drainer, facts.alarm, refuses, text(length),
  text(facts.surplus), text(facts.foreign), facts.foreign_at, facts.gap }
