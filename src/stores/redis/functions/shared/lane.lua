--[[ Every key of a lane starts with the lane's prefix, `{name:lane}:`, so all keys of a lane are in one slot. Keys of single calls, sessions
  and callers are derived from the prefix here, because their number varies with the batch. Fields of the lane's `meta` hash:
    incarnation                  identity of the store (found_lane)
    epoch                        raised by each revocation, policy change and end of a run (change_session, advance_policy, settle notes)
    policyVersion                the policy version that the lane knows (advance_policy)
    cancelSequence               raised when a call that a worker holds is cancelled (cancel_call)
    auditSequence                number of the last audit record (journal.lua, drain_audit, renumber_audit)
    auditStarts, auditAdmits     bounds of the audit (audit.lua)
    liveBytes                    sum of `bytes` of calls that are not settled (accept_calls, ask_approval, decide_approval, settlement.lua)
    parkedBytes                  the part of liveBytes that parked calls have (shares.lua)
    retainedBytes                bytes of settled calls (settlement.lua adds, forget_calls counts again)
    outboundBytes, keptBytes     bytes of effects that have not ended, and kept bodies of ended ones (outbound.lua) ]]
local GROUP = 'workers'

-- One hash holds all calls of a lane, so that a batch is one command and not one per call.
local function calls_key(lane) return lane .. 'calls' end
local function body_key(lane, call_id) return lane .. 'body:' .. call_id end
local function session_key(lane, session) return lane .. 'session:' .. session end
-- A set with the parked calls of a session, about which people are asked.
local function parked_key(lane, session) return lane .. 'parked:' .. session end
-- A sorted set with the sessions that this session delegated to, by expiry.
local function delegates_key(lane, session) return lane .. 'delegates:' .. session end
local function stream_key(lane, pool) return lane .. 'pool:' .. pool end
local function windows_key(lane) return lane .. 'windows' end
local function backlog_key(lane, pool, group) return lane .. 'backlog:' .. pool .. ':' .. group end
local function reply_key(lane, caller) return lane .. 'reply:' .. caller end

-- Whether this is still the store that the process started with. If the store was flushed or replaced, the process must stop and not write
-- to it: the new store lacks the calls and sessions that the process works with.
local function same_incarnation(meta_key, incarnation)
  return redis.call('HGET', meta_key, 'incarnation') == incarnation
end

local REPLACED = { err = 'REPLACED the store is not the one this process started with' }

-- Nearly always every call of a batch has the same one-word answer. Then this returns the word once instead of a list.
local function one_for_all(answers)
  local first = answers[1]
  for number = 2, #answers do
    if answers[number] ~= first then return answers end
  end
  return type(first) == 'string' and first or answers
end
