-- What a script declares for its command line: options, with types and defaults, and commands.

local rt = ...
local type, tostring, pairs, ipairs = type, tostring, pairs, ipairs
local error, concat, sort = error, table.concat, table.sort
local max = math.max

local forms = { "[=on|off]", "=N", "=SIZE", "=N", "=STRING", "=[LIST,...]", "=FILENAME" }
local kinds = { boolean = 1, number = 4, string = 5, table = 6 }

-- The number of an option's type, as it is when the script names none.
function rt.type_of_option(option)
  return option[3] or kinds[type(option[2])] or 5
end

-- Raises what is wrong with the options that a script declares.
function rt.check_options(options)
  if type(options) ~= "table" then
    error("wrong type for sysbench.cmdline.options: " .. type(options))
  end
  for name, option in pairs(options) do
    if type(name) ~= "string" or type(option) ~= "table" then
      error("wrong table structure in sysbench.cmdline.options")
    elseif option[1] == nil then
      error("nil description for option " .. name)
    elseif option[3] == nil and option[2] ~= nil and not kinds[type(option[2])] then
      error("cannot determine type for option " .. name)
    elseif option[3] ~= nil and type(option[3]) ~= "number" then
      error("wrong type for option " .. name)
    end
  end
end

-- A default as texts.
function rt.default_of_option(option)
  local default = option[2]
  if default == nil then
    return nil
  elseif type(default) == "boolean" then
    return { default and "on" or "off" }
  elseif type(default) ~= "table" then
    return { tostring(default) }
  end
  local texts = {}
  for index, value in ipairs(default) do
    texts[index] = tostring(value)
  end
  return texts
end

function rt.describe_options(options)
  local names, width = {}, 0
  for name, option in pairs(options or {}) do
    names[#names + 1] = name
    width = max(width, #name + #(forms[rt.type_of_option(option)] or ""))
  end
  sort(names)
  local lines = {}
  for index, name in ipairs(names) do
    local option = options[name]
    local default = rt.default_of_option(option)
    local left = name .. (forms[rt.type_of_option(option)] or "")
    lines[index] = ("  --%s%s %s%s\n"):format(left, (" "):rep(width - #left),
      tostring(option[1] or ""), default and " [" .. concat(default, ",") .. "]" or "")
  end
  return concat(lines) .. "\n"
end
