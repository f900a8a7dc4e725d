--[[ Delete consumers that were idle for `idleMs`. Only consumers without pending entries: deleting a consumer deletes the leases that it still
  holds. With a name in `consumer`, only that one.
  FLAGS    allow-oom
  KEYS     stream
  ARGV     idleMs, consumer
  RETURNS  REAPED ]]
local stream, idle_ms, only = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local reaped = { 'REAPED' }
-- A pool that no worker has served yet has no consumer group. The server then answers with an error, over which the loop does not run.
for _, consumer in ipairs(redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)) do
  local facts = {}
  for at = 1, #consumer, 2 do facts[consumer[at]] = consumer[at + 1] end
  local wanted = only == '' or only == facts.name
  if wanted and facts.pending == 0 and facts.idle >= idle_ms then
    redis.call('XGROUP', 'DELCONSUMER', stream, GROUP, facts.name)
    reaped[#reaped + 1] = facts.name
  end
end
return reaped
