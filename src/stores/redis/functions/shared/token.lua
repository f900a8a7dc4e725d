--[[ A token of the gateway is a hash; times are store times in ms:
    secret                SHA-256 of the digest that proves the token
    facts                 what the token is for, JSON; never changes
    createdAt, expiresAt  when it was made, and when it expires
    revokedAt, revokedBy  when it was revoked, and by whom (JSON); absent before that
  create_token writes it, revoke_token the last line. One sorted set has all tokens by when they were made, another by when they are deleted.
  A token that is not in the first set does not work. One table, because Lua limits the local names of a library. ]]
local admission = {}

function admission.read(key)
  return redis.call('HMGET', key, 'secret', 'facts', 'createdAt', 'expiresAt', 'revokedAt')
end

-- Whether this is still the store that the process started with. Tokens belong to the deployment and not to a lane, so the deployment's own
-- incarnation record is compared.
function admission.same_store(record_key, incarnation)
  return redis.call('HGET', record_key, 'id') == incarnation
end
