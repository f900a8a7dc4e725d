-- Formats a whole number. Replies and stored values hold numbers as text: tostring() of a large number loses digits, and Redis truncates
-- floats in replies.
local function text(number)
  return string.format('%d', number)
end

-- Like `text`, with a cache, for numbers that are formatted again and again.
local text_of = remember(text)

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
