--[[ Record that a worker is live. Works at the memory limit: otherwise live workers would disappear from the list.
  FLAGS    allow-oom
  KEYS     worker, workers
  ARGV     workerId, entry, ttlMs
  RETURNS  REGISTERED ]]
local worker, workers = KEYS[1], KEYS[2]
redis.call('SET', worker, ARGV[2], 'PX', ARGV[3])
redis.call('SADD', workers, ARGV[1])
return 'REGISTERED'
