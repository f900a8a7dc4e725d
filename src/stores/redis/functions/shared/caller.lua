-- A nested call: whoever holds the running parent vouches for it, in the parent's session only.
local function parent_vouches(lane, session_id, vouches)
  local parent_id, worker, entry, fence = string.match(vouches, '^(.-)\n(.-)\n(.-)\n(.-)$')
  local parent = parent_id and load_record(lane, parent_id)
  return parent and meta_field(parent, 'session') == session_id and owns(lane, parent, worker, entry, fence)
end

-- Who makes a call: session, run, proof and what vouches for it, one line each. `ending` says why they may not.
local function authenticate(lane, who, now, epoch)
  local session_id, run, proof, vouches = string.match(who, '^(.-)\n(.-)\n(.-)\n(.*)$')
  local session, ending = live_session(lane, session_id, run, now)
  local caller = { session_id = session_id, run = run, nested = proof ~= 'token', ending = ending }
  if not session then return caller end
  local vouched
  if proof == 'token' then
    vouched = redis.sha1hex(vouches) == session.token
  else
    vouched = parent_vouches(lane, session_id, vouches)
  end
  if not vouched then
    caller.ending = 'unknown'
    return caller
  end
  caller.prefix, caller.seen_at, caller.idle_ms = scope_prefix(session_id), session.seen_at, session.idle_ms
  caller.scope = string.match(session_id, '^%d+%.([^.]+)%.')
  -- What every call of this caller carries, up to what differs from call to call.
  caller.trusted = table.concat({ session.identity, session_id, epoch, text(session.expires_at), text(now) }, '\n') .. '\n'
  return caller
end
