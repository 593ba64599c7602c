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

-- As the original this ends all at once, where the host lets a script do that.
function lib_os.exit(status)
  if type(status) ~= "number" then
    status = status == false and 1 or 0
  end
  host.exit(status)
  error("os.exit(" .. status .. ") was called; a script ends with an error", 2)
end

function lib_os.execute(command)
  if type(command) ~= "string" then
    return os.execute(command)
  end
  local seconds = command:match("^%s*sleep%s+([%d.]+)%s*$")
  if seconds then
    return rt.sleep(seconds * 1000000)
  end
  rt.wait_for_end()
  return host.run_program(command)
end

local lib_io = copy(io)

-- Files that this state has opened.
local files = setmetatable({}, { __mode = "k" })

function lib_io.open(...)
  local file, problem, number = io.open(...)
  if file then
    files[file] = true
    return file
  end
  return nil, problem, number
end

-- What has been written is there for a program, as C has it. Only files of this thread are: one
-- that another thread reads would be waited for.
local function write_files()
  for file in pairs(files) do
    if io.type(file) == "file" then
      file:flush()
    end
  end
  if io.type(io.output()) == "file" then
    io.output():flush()
  end
end

function lib_io.popen(command, mode)
  rt.wait_for_end()
  write_files()
  return rt.open_program(command, mode)
end

function lib_io.close(...)
  local file = ...
  if rt.program_type(file) then
    return file:close()
  end
  return io.close(...)
end

function lib_io.type(file)
  return rt.program_type(file) or io.type(file)
end

local function print(...)
  local texts = { ... }
  for index = 1, select("#", ...) do
    texts[index] = tostring(texts[index])
  end
  host.write(concat(texts, "\t") .. "\n")
end

-- Standard output is the host's: it may be for something else.
local stdout = {}

function stdout:write(...)
  host.write(concat({ ... }))
  return self
end

function stdout:flush()
  return self
end

function stdout:setvbuf()
  return true
end

function stdout.close()
  error("stdout cannot be closed by a script", 2)
end

lib_io.stdout = stdout

function lib_io.write(...)
  if io.output() ~= io.stdout then
    return io.write(...)
  end
  return stdout:write(...)
end

-- `ffi` with the functions of sysbench that scripts declare by hand, and those of C that start
-- programs: what they start is known, and ends with the host.

ffi.cdef([[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
]])

ffi.cdef([[
void *dbtime_fdopen(int descriptor, const char *mode) __asm__("fdopen");
int dbtime_fclose(void *file) __asm__("fclose");
]])

local function text_of(text)
  return type(text) == "string" and text or ffi.string(text)
end

-- Programs by the files of C that go to them: a script may have its own name for their type.
local programs = {}

local function address_of(file)
  return tostring(ffi.cast("void *", file))
end

local function popen(command, mode)
  rt.wait_for_end()
  write_files()
  local is_read = text_of(mode):find("r", 1, true) ~= nil
  local pipe = host.open_program(text_of(command), is_read)
  if not pipe then
    return ffi.cast("void *", 0)
  end
  local file = ffi.C.dbtime_fdopen(pipe:give_away(), is_read and "r" or "w")
  programs[address_of(file)] = pipe
  return file
end

local function pclose(file)
  local address = address_of(file)
  local pipe = programs[address]
  if not pipe then
    return -1
  end
  programs[address] = nil
  ffi.C.dbtime_fclose(file)
  return pipe:status()
end

local ours = {
  system = function(command)
    return command == nil and 1 or lib_os.execute(text_of(command))
  end,
  popen = popen,
  pclose = pclose,
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

local function cmdline()
  return rt.running.env.sysbench.cmdline
end

local function command_of(name)
  local commands = cmdline().commands
  return commands and commands[name]
end

local commandline = {
  script_path = host.script, command = host.command, PARALLEL_COMMAND = true,
  command_defined = function(name) return command_of(name) ~= nil end,
  command_parallel = function(name)
    local command = command_of(name)
    return command ~= nil and command[2] == true
  end,
  call_command = function(name)
    local command = command_of(name)
    return command ~= nil and command[1]() ~= false
  end,
  print_test_options = function() host.write(rt.describe_options(cmdline().options)) end,
  read_cmdline_options = function()
    error("sysbench.cmdline.read_cmdline_options() is not supported: "
      .. "options are read before the script runs", 2)
  end,
}

local types = { "BOOL", "INT", "SIZE", "DOUBLE", "STRING", "LIST", "FILE", "MAX", [0] = "NULL" }
for value, name in pairs(types) do
  commandline["ARG_" .. name] = value
end

-- What every client begins with: globals are copied, for a script may change what it likes.

local base = copy(_G)
for _, library in ipairs({ rt.modules, rt.legacy }) do
  for name, value in pairs(library) do
    base[name] = value
  end
end
base.print, base.math, base.os, base.io = print, lib_math, lib_os, lib_io
base.ffi, base.coroutine, base.thread_run = lib_ffi, rt.coroutine, rt.thread_run
rt.jit_opt = package.loaded["jit.opt"]

function rt.environment(client)
  local env = copy(base)
  env._G, env.thread_id, env.package = env, client.tid, rt.new_package(env)
  local cmdline = copy(commandline)
  cmdline.argv = copy(host.argv)
  env.sysbench = {
    tid = client.tid, version = host.version, version_string = "sysbench " .. host.version,
    error = { NONE = 0, RESTART_EVENT = 1 }, cmdline = cmdline,
    rand = copy(rand), hooks = {}, histogram = { new = new_histogram }, db = rt.db,
    sql = rt.sql_namespace(), report_default = rt.report_default, report_csv = rt.report_csv,
    report_json = rt.report_json,
  }
  return env
end

-- Gives a client its options: a script's body has none. A script that declares no options finds
-- them as globals too, except where it has a function of that name.
function rt.export(client)
  local env = client.env
  env.sysbench.opt = copy(rt.options)
  if rt.are_globals then
    for name, value in pairs(rt.options) do
      if type(env[name]) ~= "function" then
        env[name] = value
      end
    end
  end
end
