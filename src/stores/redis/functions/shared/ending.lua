--[[ A settled call is stored as `2`, the length of its record (uint32, little-endian), the record as it was, then the ending, one line each:
    at          when it was settled, store ms
    forget_at   when it may be deleted, store ms; empty: not while a later generation of its key is under way
    fence       the fence with which its worker settled it; empty if no worker did (cancelled, expired, denied)
    released    `1`: its key was released, so that the next accept makes a new generation
    continued   number of the latest generation of its key; empty: there is only this one (accept_calls)
    resolution  an operator's statement on an indeterminate call: `ran` or `not-ran`; empty without one (resolve_call)
    attempt     the result in the run's history: see `attemptText` in domain/call/history.ts
  and the bytes of the outcome. Where no other function is named, settlement.lua writes it. ]]
local SETTLED = '2'
local ENDING = '^(%d+)\n(%d*)\n(%d*)\n([01])\n(%d*)\n([%a-]*)\n([^\n]*)\n()'
local RECORD_AT = 6

-- Returns the record's bytes and the ending; nil for bytes that are not a settled call.
local function split_settled(bytes)
  if not is_settled(bytes) or #bytes < RECORD_AT then return nil end
  local ending_at = RECORD_AT + struct.unpack('<I4', bytes, 2)
  local at, forget_at, fence, released, continued, resolution, attempt, outcome_at = string.match(bytes, ENDING, ending_at)
  if not at then return nil end
  return string.sub(bytes, RECORD_AT, ending_at - 1), { at = at, forget_at = forget_at, fence = fence, released = released == '1',
    continued = tonumber(continued) or 1, resolution = resolution, attempt = attempt, outcome = string.sub(bytes, outcome_at) }
end

local function ending_prefix(at, forget_at, fence, released)
  return at .. '\n' .. forget_at .. '\n' .. fence .. '\n' .. released .. '\n\n\n'
end

local function join_settled(record_bytes, prefix, attempt, outcome)
  return SETTLED .. size_of(#record_bytes) .. record_bytes .. prefix .. attempt .. '\n' .. outcome
end

local function write_ending(record_bytes, ending)
  local prefix = table.concat({ ending.at, ending.forget_at, ending.fence, ending.released and '1' or '0',
    ending.continued > 1 and text(ending.continued) or '', ending.resolution, '' }, '\n')
  return join_settled(record_bytes, prefix, ending.attempt, ending.outcome)
end
