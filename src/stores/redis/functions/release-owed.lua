--[[ Release entries that a request holds. `to` says why:
    gone      the outcome was sent to a client; the entry is deleted
    owed-for  the client was asked to come back: owed to requests that come `owedAfterMs` from now or later
    lost      the client got no answer: owed to every request, also to one that came before
    owed      as `owed-for`; builds of revision 4 send it, often with a lifetime of 0
  `owed-for` and `lost` keep the entry for the lifetime, from when it is owed. `owed` keeps it for the lifetime from now, and never shorter than
  before. An entry that another attempt has taken since stays as it is. Works at the memory limit.
  FLAGS    allow-oom
  KEYS     meta
  ARGV     incarnation, lane
  EACH     scope, name, attempt, to, owedAfterMs, lifetimeMs
  RETURNS  RELEASED | GONE ]]
local meta = KEYS[1]
local incarnation, lane = ARGV[1], ARGV[2]
local FIRST, STRIDE = 3, 6

if not same_incarnation(meta, incarnation) then return REPLACED end
local now = now_ms()

local function release(scope, name, attempt, to, owed_after_ms, lifetime_ms)
  local book = owed.open(lane, scope)
  local entry = owed.read(book, name)
  if not entry or entry.attempt ~= attempt then return 'GONE' end
  if to == 'gone' then
    owed.remove(book, name)
  else
    entry.holder, entry.owed_from = owed.NOBODY, now + tonumber(owed_after_ms)
    entry.expires_at = to == 'owed' and math.max(entry.expires_at, now + tonumber(lifetime_ms))
      or entry.owed_from + tonumber(lifetime_ms)
    if to == 'lost' then entry.owed_from = 0 end
    owed.write(book, entry)
  end
  return 'RELEASED'
end

local answers = {}
for at = FIRST, #ARGV, STRIDE do
  answers[#answers + 1] = release(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
end
return answers
