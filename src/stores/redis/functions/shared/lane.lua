--[[ Every key of a lane starts with the lane's prefix, `{name:lane}:`, and so lies in one slot. Keys of single calls,
  sessions and callers are derived from it here, because their number varies with the batch. ]]
local GROUP = 'workers'

-- One hash holds all calls of a lane, so that a batch is one command and not one per call.
local function calls_key(lane) return lane .. 'calls' end
local function body_key(lane, call_id) return lane .. 'body:' .. call_id end
local function session_key(lane, session) return lane .. 'session:' .. session end
-- The calls of a session that people are being asked about.
local function parked_key(lane, session) return lane .. 'parked:' .. session end
-- Sessions that one delegated to, by when they expire.
local function delegates_key(lane, session) return lane .. 'delegates:' .. session end
local function stream_key(lane, pool) return lane .. 'pool:' .. pool end
local function windows_key(lane) return lane .. 'windows' end
local function backlog_key(lane, pool, group) return lane .. 'backlog:' .. pool .. ':' .. group end
local function reply_key(lane, caller) return lane .. 'reply:' .. caller end

-- A flushed or replaced store must stop everybody, not be filled again by half-known calls.
local function same_incarnation(meta_key, incarnation)
  return redis.call('HGET', meta_key, 'incarnation') == incarnation
end

local REPLACED = { err = 'REPLACED the store is not the one this process started with' }

-- Nearly always every call of a batch gets the same word, and then it is said once.
local function one_for_all(answers)
  local first = answers[1]
  for number = 2, #answers do
    if answers[number] ~= first then return answers end
  end
  return type(first) == 'string' and first or answers
end
