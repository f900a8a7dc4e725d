--[[ Remembers what a function made of a text. Only for functions of nothing but that text: it holds for as long as the library is
  loaded, across calls and stores. Starts over when it knows too many, so that its size is bounded. ]]
local MOST_REMEMBERED = 1000

local function remember(make)
  local made, count = {}, 0
  return function(text)
    local known = made[text]
    if known then return known end
    if count >= MOST_REMEMBERED then made, count = {}, 0 end
    known = make(text)
    made[text], count = known, count + 1
    return known
  end
end
