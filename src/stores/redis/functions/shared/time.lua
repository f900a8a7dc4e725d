-- Numbers travel as text: tostring() of a large number loses digits, and replies truncate floats.
local function text(number)
  return string.format('%d', number)
end

-- For numbers that come again and again.
local text_of = remember(text)

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
