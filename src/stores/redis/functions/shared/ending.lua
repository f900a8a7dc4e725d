--[[ What stands in `outcomes`: when the call was settled, when it may be forgotten (never, while nothing stands there), the fence it
  was settled with, whether its key was released and which generation continues it, an operator's word; then the outcome's own bytes. ]]
local ENDING = '^(%d+)\n(%d*)\n(%d*)\n([01])\n(%d*)\n([%a-]*)\n()'

local function read_ending(bytes)
  if not bytes then return nil end
  local at, forget_at, fence, released, continued, resolution, outcome_at = string.match(bytes, ENDING)
  if not at then return nil end
  return { at = at, forget_at = forget_at, fence = fence, released = released == '1', continued = tonumber(continued) or 1,
    resolution = resolution, outcome = string.sub(bytes, outcome_at) }
end

local function ending_prefix(at, forget_at, fence, released)
  return at .. '\n' .. forget_at .. '\n' .. fence .. '\n' .. released .. '\n\n\n'
end

local function write_ending(ending)
  return table.concat({ ending.at, ending.forget_at, ending.fence, ending.released and '1' or '0',
    ending.continued > 1 and text(ending.continued) or '', ending.resolution, ending.outcome }, '\n')
end
