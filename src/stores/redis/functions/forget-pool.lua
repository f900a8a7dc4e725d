--[[ Delete the stream of a pool if no worker has read it for `idleMs`. Only an empty stream is deleted: its calls must end first, also those that
  a worker holds.
  FLAGS    allow-oom
  KEYS     stream
  ARGV     idleMs
  RETURNS  FORGOTTEN | KEPT ]]
local stream, idle_ms = KEYS[1], tonumber(ARGV[1])

if redis.call('EXISTS', stream) == 0 then return 'FORGOTTEN' end
if redis.call('XLEN', stream) > 0 then return 'KEPT' end
for _, consumer in ipairs(redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)) do
  local facts = {}
  for at = 1, #consumer, 2 do facts[consumer[at]] = consumer[at + 1] end
  if facts.pending > 0 or facts.idle < idle_ms then return 'KEPT' end
end
redis.call('DEL', stream)
return 'FORGOTTEN'
