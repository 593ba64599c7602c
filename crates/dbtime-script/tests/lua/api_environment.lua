#!/usr/bin/env sysbench
-- What a script finds around itself. Needs no database.

local ffi = require("ffi")
ffi.cdef("int usleep(unsigned); void sb_counter_inc(int, sb_counter_type); int abs(int);")

body_runs = (body_runs or 0) + 1
assert(sysbench.opt == nil and foreign == nil)
sysbench.cmdline.options = {
  size = { "how many", 5 }, ready = { "whether", true }, names = { "which", { "a", "b" } },
  bytes = { "how much", 1024, sysbench.cmdline.ARG_SIZE }, plain = { "without default" },
}

local function check_sysbench(tid)
  assert(tid == sysbench.tid and thread_id == tid and test == sysbench.cmdline.script_path)
  assert(sysbench.version == "1.1.0" and sysbench.version_string == "sysbench 1.1.0")
  assert(sysbench.error.NONE == 0 and sysbench.error.RESTART_EVENT == 1)
  assert(sysbench.cmdline.argv[0] == "sysbench" and sysbench.cmdline.command == "run")
  assert(sysbench.opt.flag == true and sysbench.opt.number == 1.5 and sysbench.opt.list[2] == "y")
  assert(sysbench.cmdline.ARG_FILE == 7 and sysbench.cmdline.PARALLEL_COMMAND == true)
  assert(not sysbench.cmdline.command_defined("prepare"))
  assert(not pcall(sysbench.cmdline.read_cmdline_options))
  assert(foreign == "3")
end

local function check_modules()
  local module = require("parts.counted")
  assert(module.loads == 1 and require("parts.counted") == module and parts_loaded == 1)
  local fine, problem = pcall(require, "parts.none")
  assert(not fine and problem:find("no field package.preload['parts.none']", 1, true), problem)
  assert(_G._G == _G and loadstring("return sysbench.tid")() == sysbench.tid)
  assert(getfenv(0) == _G and setfenv and newproxy and table.getn({ 1 }) == 1)
  assert(require("string") == string and package.loaded.ffi == ffi)
end

local function check_coroutines()
  local steps = {}
  local other = coroutine.wrap(function()
    ffi.C.usleep(10)
    coroutine.yield("mine")
    ffi.C.usleep(20)
    return "end"
  end)
  steps[1], steps[2] = other(), other()
  assert(steps[1] == "mine" and steps[2] == "end")
  assert(not pcall(coroutine.wrap(function() error("inside") end)))
  assert(pcall(function() ffi.C.usleep(30) end))
  assert(coroutine.running() == nil and not pcall(coroutine.yield))
end

local function check_c()
  assert(ffi.C.abs(-3) == 3 and ffi.C.SB_CNT_ERROR == 4)
  ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
  ffi.C.sb_counter_inc(sysbench.tid, "SB_CNT_READ")
  assert(not pcall(function() return ffi.C.sb_nothing_like_this end))
end

function thread_init(tid)
  package.path = package.path .. ";" .. sysbench.opt.folder .. "/?.lua"
  assert(body_runs == 1)
  check_sysbench(tid)
  check_modules()
  check_c()
end

function event(tid)
  events = (events or 0) + 1
  check_coroutines()
  os.execute("sleep 0.5")
  local fine, problem = pcall(os.exit, 1)
  assert(not fine and problem:find("os.exit", 1, true))
  print("event", events, tid)
  io.write("and ", 5, "\n")
  if events == 2 then
    sysbench.cmdline.print_test_options()
  end
end
