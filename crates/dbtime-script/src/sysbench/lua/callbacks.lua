-- `string.gsub` and `table.sort` where they call a function of the script's: in LuaJIT they are C,
-- through which no statement and no pause can get back to the host. What they do is the same, step
-- by step: the algorithms are those of Lua 5.1.

local find, sub, gsub, concat = string.find, string.sub, string.gsub, table.concat
local sort, floor, select, type, tostring = table.sort, math.floor, select, type, tostring
local tonumber, error, pcall = tonumber, error, pcall

-- What stands in the place of a match that found nothing in the rest of the text.
local function replaced(whole, replace, first, ...)
  local value
  if first == nil then
    value = replace(whole)
  else
    value = replace(first, ...)
  end
  if value == nil or value == false then
    return whole
  elseif type(value) ~= "string" and type(value) ~= "number" then
    error("invalid replacement value (a " .. type(value) .. ")", 4)
  end
  return value
end

-- A match with its replacement; nil where there is none any more. What is wrong with a pattern is
-- said of the line of the script.
local function replace_next(text, replace, fine, from, to, ...)
  if not fine then
    error(from, 3)
  elseif from then
    return from, to, replaced(sub(text, from, to), replace, ...)
  end
end

function string.gsub(text, pattern, replace, most, ...)
  local limit = most == nil and math.huge or tonumber(most)
  local is_text = type(text) == "string" or type(text) == "number"
  if type(replace) ~= "function" or not is_text or type(pattern) ~= "string" or not limit then
    return gsub(text, pattern, replace, most, ...)
  end
  text = tostring(text)
  local pieces, count, at = {}, 0, 1
  local is_anchored = sub(pattern, 1, 1) == "^"
  while count < floor(limit) and at <= #text + 1 do
    local from, to, value = replace_next(text, replace, pcall(find, text, pattern, at))
    if not from then
      break
    end
    count = count + 1
    pieces[#pieces + 1] = sub(text, at, from - 1)
    pieces[#pieces + 1] = value
    at = to + 1
    if to < from then
      -- Behind nothing the next character stays as it is.
      pieces[#pieces + 1] = sub(text, from, from)
      at = from + 1
    end
    if is_anchored then
      break
    end
  end
  pieces[#pieces + 1] = sub(text, at)
  return concat(pieces), count
end

local function swap_unless(list, is_less, one, other)
  local is_wrong = is_less(list[other], list[one])
  if is_wrong then
    list[one], list[other] = list[other], list[one]
  end
  return is_wrong
end

-- Divides a range by a value of its middle, and says where that is then.
local function divided(list, is_less, low, high, level)
  local pivot, left, right = list[high - 1], low, high - 1
  while true do
    left = left + 1
    while is_less(list[left], pivot) do
      if left >= high then
        error("invalid order function for sorting", level)
      end
      left = left + 1
    end
    right = right - 1
    while is_less(pivot, list[right]) do
      if right <= low then
        error("invalid order function for sorting", level)
      end
      right = right - 1
    end
    if right < left then
      break
    end
    list[left], list[right] = list[right], list[left]
  end
  list[high - 1], list[left] = list[left], list[high - 1]
  return left
end

-- `level` is how far away the script is, as errors count it.
local function sorted(list, is_less, low, high, level)
  while low < high do
    swap_unless(list, is_less, low, high)
    if high - low == 1 then
      return
    end
    local middle = floor((low + high) / 2)
    if not swap_unless(list, is_less, low, middle) then
      swap_unless(list, is_less, middle, high)
    end
    if high - low == 2 then
      return
    end
    list[middle], list[high - 1] = list[high - 1], list[middle]
    local at = divided(list, is_less, low, high, level)
    -- The shorter half by a call of its own, the longer one by the next round.
    if at - low < high - at then
      sorted(list, is_less, low, at - 1, level + 1)
      low = at + 1
    else
      sorted(list, is_less, at + 1, high, level + 1)
      high = at - 1
    end
  end
end

function table.sort(list, is_less, ...)
  if type(list) ~= "table" or type(is_less) ~= "function" then
    return sort(list, is_less, ...)
  end
  sorted(list, is_less, 1, #list, 4)
end
