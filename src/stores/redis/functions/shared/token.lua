--[[ A token of the gateway is a hash: `secret`, a digest of the digest that is shown, `facts`, `createdAt`, `expiresAt` and, once it
  is, `revokedAt`. One set knows all by when they were made, one by when they are forgotten; what the first does not know, nobody has.
  One table, because a library has room for few local names. ]]
local admission = {}

function admission.read(key)
  return redis.call('HMGET', key, 'secret', 'facts', 'createdAt', 'expiresAt', 'revokedAt')
end

-- Of the whole deployment, and so outside the lanes: its own record says which store this is.
function admission.same_store(record_key, incarnation)
  return redis.call('HGET', record_key, 'id') == incarnation
end
