-- The reports that scripts may set as hooks, and the list of a script's options.

local rt = ...
local host = rt.host

local function rates(stat)
  local seconds = stat.time_interval
  local function rate(count) return count / seconds end
  return rate(stat.events), rate(stat.reads + stat.writes + stat.other), rate(stat.reads),
    rate(stat.writes), rate(stat.other), stat.latency_pct * 1000, rate(stat.errors),
    rate(stat.reconnects)
end

function rt.report_default(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  host.write(("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) "
    .. "lat (ms,%u%%): %4.2f err/s: %4.2f reconn/s: %4.2f\n"):format(
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, host.percentile,
    latency, errors, reconnects))
end

function rt.report_csv(stat)
  host.write(("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n"):format(
    stat.time_total, stat.threads_running, rates(stat)))
end

local form = [[
  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]]

-- A list that is open has printed an entry and waits for another, or for its end.
local is_open = false

function rt.report_json(stat)
  host.write(is_open and ",\n" or "[\n")
  is_open = true
  host.write(form:format(stat.time_total, stat.threads_running, rates(stat)))
end

function rt.finish_reports()
  if is_open then
    host.write("\n]\n")
  end
  is_open = false
end

local forms = { "[=on|off]", "=N", "=SIZE", "=N", "=STRING", "=[LIST,...]", "=FILENAME" }

-- The number of an option's type, as it is when the script names none.
function rt.type_of_option(option)
  local kinds = { boolean = 1, number = 4, string = 5, table = 6 }
  return option[3] or kinds[type(option[2])] or 5
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
    width = math.max(width, #name + #(forms[rt.type_of_option(option)] or ""))
  end
  table.sort(names)
  local lines = { host.script .. " options:" }
  for _, name in ipairs(names) do
    local option = options[name]
    local default = rt.default_of_option(option)
    local left = name .. (forms[rt.type_of_option(option)] or "")
    lines[#lines + 1] = ("  --%s%s %s%s"):format(left, (" "):rep(width - #left),
      tostring(option[1] or ""), default and " [" .. table.concat(default, ",") .. "]" or "")
  end
  return table.concat(lines, "\n") .. "\n\n"
end
