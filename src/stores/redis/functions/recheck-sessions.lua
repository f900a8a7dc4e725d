--[[ Return for each session and run whether it is still live; if not, how it ended.
  FLAGS    no-writes
  KEYS     meta
  ARGV     incarnation, lane
  EACH     session, run
  RETURNS  LIVE | ENDED ]]
local meta = KEYS[1]
local incarnation, lane = ARGV[1], ARGV[2]
local FIRST, STRIDE = 3, 2

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()
local answers = {}
for at = FIRST, #ARGV, STRIDE do
  local _, _, _, ending = live_session(lane, ARGV[at], ARGV[at + 1], now)
  answers[#answers + 1] = ending and { 'ENDED', ending } or { 'LIVE' }
end
return answers
