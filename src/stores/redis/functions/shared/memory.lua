--[[ Caches the results of a function by its one argument. The function may depend on nothing but that argument: the cache lasts as long as
  the library is loaded, and all calls and all stores of the server share it. A full cache is emptied, so that its size is bounded. ]]
local MAX_REMEMBERED = 1000

local function remember(make)
  local made, count = {}, 0
  return function(text)
    local known = made[text]
    if known then return known end
    if count >= MAX_REMEMBERED then made, count = {}, 0 end
    known = make(text)
    made[text], count = known, count + 1
    return known
  end
end
