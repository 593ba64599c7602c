-- The globals of a client, and the parts of `sysbench` that have nothing to do with SQL.

local rt = ...
local host = rt.host
local ffi = require("ffi")
local floor, unit, concat = math.floor, host.math_unit, table.concat

rt.real_package = package

local function copy(from)
  local to = {}
  for key, value in pairs(from) do
    to[key] = value
  end
  return to
end

-- Standard libraries, with what must not block, end or write behind the back of the host.

local lib_math = copy(math)

function lib_math.random(from, to)
  if not from then
    return unit()
  end
  if not to then
    from, to = 1, from
  end
  if to < from then
    error("bad argument to 'random' (interval is empty)", 2)
  end
  return floor(unit() * (to - from + 1)) + from
end

function lib_math.randomseed(seed)
  host.math_seed(tonumber(seed) or 0)
end

local lib_os = copy(os)

function lib_os.exit(status)
  error("os.exit(" .. tostring(status or "") .. ") was called; a script ends with an error", 2)
end

function lib_os.execute(command)
  local seconds = type(command) == "string" and command:match("^%s*sleep%s+([%d.]+)%s*$")
  if seconds then
    return rt.sleep(seconds * 1000000)
  end
  return os.execute(command)
end

local lib_io = copy(io)

local function print(...)
  local texts = { ... }
  for index = 1, select("#", ...) do
    texts[index] = tostring(texts[index])
  end
  host.write(concat(texts, "\t") .. "\n")
end

function lib_io.write(...)
  if io.output() ~= io.stdout then
    return io.write(...)
  end
  host.write(concat({ ... }))
  return io.stdout
end

-- `ffi` with the functions of sysbench that scripts declare by hand.

ffi.cdef([[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
]])

local ours = {
  usleep = rt.sleep,
  sleep = function(seconds) return rt.sleep(tonumber(seconds) * 1000000) end,
  sb_more_events = rt.more_events,
  sb_event_start = function() end,
  sb_event_stop = rt.event_stop,
  sb_counter_inc = function(_, counter)
    if type(counter) == "string" then
      counter = ffi.C[counter]
    end
    host.count(tonumber(counter))
  end,
}

local declared = {}
local lib_ffi = copy(ffi)
lib_ffi.C = setmetatable({}, {
  __index = function(_, name)
    local own = ours[name]
    if own == nil then
      return ffi.C[name]
    end
    return own
  end,
  __newindex = function(_, name, value) ffi.C[name] = value end,
})

-- All clients of a state share its C declarations, and each of them declares the same.
function lib_ffi.cdef(text, ...)
  if declared[text] then
    return
  end
  local fine, problem = pcall(ffi.cdef, text, ...)
  if not fine and not problem:find("attempt to redefine 'sb_", 1, true)
    and not problem:find("attempt to redefine 'SB_", 1, true) then
    error(problem, 2)
  end
  declared[text] = true
end

-- `sysbench`

local rand = copy(host.random)

function rand.uniform_uint64()
  local high, low = host.random_halves()
  return ffi.cast("uint64_t", high) * 4294967296ULL + ffi.cast("uint64_t", low)
end

local Histogram = {}
Histogram.__index = setmetatable({}, {
  __index = function(_, name) error("a histogram has no member named '" .. name .. "'", 2) end,
})
Histogram.__tostring = function() return "<histogram>" end

function Histogram.__index:update(value)
  host.histogram_update(self.id, value)
end

function Histogram.__index:print()
  host.write(host.histogram_text(self.id))
end

local function new_histogram(size, low, high)
  if type(size) ~= "number" or type(low) ~= "number" or type(high) ~= "number" then
    error("sysbench.histogram.new wants a size, the lowest and the highest value", 2)
  end
  return setmetatable({ id = host.histogram_new(size, low, high) }, Histogram)
end

local types = { "BOOL", "INT", "SIZE", "DOUBLE", "STRING", "LIST", "FILE", "MAX", [0] = "NULL" }

local function commandline(client)
  local cmdline = {
    argv = copy(host.argv), command = host.command, script_path = host.script,
    PARALLEL_COMMAND = true,
  }
  for value, name in pairs(types) do
    cmdline["ARG_" .. name] = value
  end
  function cmdline.command_defined(name)
    local commands = cmdline.commands
    return commands ~= nil and commands[name] ~= nil
  end
  function cmdline.command_parallel(name)
    return cmdline.command_defined(name) and cmdline.commands[name][2] == true
  end
  function cmdline.call_command(name)
    if not cmdline.command_defined(name) then
      return false
    end
    return cmdline.commands[name][1]() ~= false
  end
  function cmdline.print_test_options()
    host.write(rt.describe_options(cmdline.options))
  end
  function cmdline.read_cmdline_options()
    error("sysbench.cmdline.read_cmdline_options() is not supported: "
      .. "options are read before the script runs", 2)
  end
  return cmdline
end

function rt.environment(client)
  local env = copy(rt.base)
  env._G = env
  local loaded = rt.give_modules(env)
  for name in ("string table bit jit debug math os io coroutine ffi"):gmatch("%w+") do
    loaded[name] = env[name]
  end
  loaded["jit.opt"], loaded.package = rt.jit_opt, env.package
  env.sysbench = {
    tid = client.tid, version = host.version, version_string = "sysbench " .. host.version,
    error = { NONE = 0, RESTART_EVENT = 1 },
    opt = host.opt and copy(host.opt), cmdline = commandline(client),
    rand = copy(rand), hooks = {}, histogram = { new = new_histogram },
    sql = rt.sql_namespace(), report_default = rt.report_default, report_csv = rt.report_csv,
    report_json = rt.report_json,
  }
  env.thread_run = rt.thread_run
  rt.give_legacy(env)
  for name, value in pairs(host.globals) do
    env[name] = value
  end
  return env
end

rt.base = copy(_G)
rt.jit_opt = package.loaded["jit.opt"]
rt.base.print, rt.base.math, rt.base.os, rt.base.io = print, lib_math, lib_os, lib_io
rt.base.ffi, rt.base.coroutine = lib_ffi, rt.coroutine
