--[[ Store the tools that a held call offers to its run. The session's field `injected:<run>` has one line for each: the tool, a space, and the
  tool that offered it. Only the worker that holds the call can do this, and only for the call's own run; the offers end with the run.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane, worker, callId, entry, fence, limit
  EACH     tool
  RETURNS  INJECTED | FENCED ]]
local meta = KEYS[1]
local incarnation, lane, worker, call_id, entry, fence, limit =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local FIRST, STRIDE = 8, 1

if not same_incarnation(meta, incarnation) then return REPLACED end
local record = load_record(lane, call_id)
if not record or not owns(lane, record, worker, entry, fence) then return { 'FENCED' } end
local injected = { 'INJECTED' }
local session, run, by = fact(record, SESSION), fact(record, RUN), fact(record, TOOL)
local _, _, _, ending = live_session(lane, session, run, now_ms())
if ending then return injected end
local key, field = session_key(lane, session), injected_field(run)
local lines, known, count = redis.call('HGET', key, field) or '', {}, 0
for line in string.gmatch(lines, '[^\n]+') do
  known[line], count = true, count + 1
end
for at = FIRST, #ARGV, STRIDE do
  local line = ARGV[at] .. ' ' .. by
  if not known[line] and count < limit then
    lines, count, known[line] = lines .. line .. '\n', count + 1, true
  end
  if known[line] then injected[#injected + 1] = ARGV[at] end
end
if count > 0 then redis.call('HSET', key, field, lines) end
return injected
