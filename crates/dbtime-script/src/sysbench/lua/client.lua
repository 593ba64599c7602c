-- Clients: what sysbench calls a thread is a coroutine with globals of its own. All of them stay
-- in tables here, and the host resumes them by number.

local rt = ...
local host, code = rt.host, rt.code
local CALL, SLEEP, DONE, READY = code.call, code.sleep, code.done, code.ready
local OVER, CLOSED, FAILED = code.over, code.closed, code.failed
local resume, yield, create = coroutine.resume, coroutine.yield, coroutine.create
local status, running = coroutine.status, coroutine.running
local traceback, getinfo = debug.traceback, debug.getinfo
local setfenv, xpcall = setfenv, xpcall
local RESTART = 1
local clients = {}

-- An error with the place where it was raised, which is gone once it is caught.
local Raised = {}

local function text_of(problem)
  if type(problem) == "string" then
    return problem
  end
  if type(problem) == "table" and problem.errcode and problem.sql_errmsg then
    return ("SQL error, errno = %s, state = '%s': %s"):format(
      tostring(problem.sql_errno), tostring(problem.sql_state), tostring(problem.sql_errmsg))
  end
  if type(problem) == "userdata" or type(problem) == "number" then
    return (tostring(problem):gsub("\nstack traceback:.*", ""):gsub("^runtime error: ", ""))
  end
  return "(not a string)"
end

-- What host functions raise says no place: it is that of the script that called them.
local function placed(problem, info)
  local text = text_of(problem)
  if type(problem) ~= "userdata" then
    return text
  end
  for level = 1, 50 do
    local place = info(level)
    if not place then
      break
    end
    local is_script = place.source:sub(1, 1) == "@" or place.source == "=stdin"
    if place.currentline > 0 and is_script then
      return ("%s:%d: %s"):format(place.short_src, place.currentline, text)
    end
  end
  return text
end

local function on_error(problem)
  if type(problem) == "table" then
    return problem
  end
  local text = placed(problem, function(level) return getinfo(level + 3, "Sl") end)
  return setmetatable({ text = text, traceback = traceback("", 2) }, Raised)
end

-- An error's text, and where it was raised.
local function described(client, problem)
  if getmetatable(problem) == Raised then
    return problem.text, problem.traceback
  end
  local thread = client.thread
  local text = placed(problem, function(level) return getinfo(thread, level - 1, "Sl") end)
  return text, traceback(thread, "")
end

local function words_of(stage)
  return stage and ("`" .. stage .. "' function failed: ") or ""
end

local function die(client, problem)
  local trace
  problem, trace = described(client, problem)
  local stage = client.stage
  local words = words_of(stage)
  -- What was counted until then stays, and the other clients are to end as well.
  local is_late = stage == "thread_done"
  if stage == "thread_init" then
    problem = problem .. "\nFATAL: Thread initialization failed!"
  end
  host.trouble("FATAL: " .. words .. problem, trace, is_late)
  return is_late and CLOSED or FAILED
end

-- Waits until the client is given the next transaction; false: there is none.
local function next_ticket(client, how)
  client.ticket = yield(how)
  return client.ticket
end

function rt.more_events()
  local client = rt.running
  if client.is_fresh then
    client.is_fresh = false
    return true
  end
  if client.ticket then
    return next_ticket(client, DONE)
  end
  return false
end

function rt.event_stop()
  local client = rt.running
  if client.ticket and not client.is_fresh then
    client.is_fresh = next_ticket(client, DONE)
  end
end

local more_events = rt.more_events

function rt.thread_run(tid)
  local client = rt.running
  local env = client.env
  while more_events() do
    local fine, result = xpcall(env.event, on_error, tid)
    while not fine do
      if getmetatable(result) == Raised or result.errcode ~= RESTART then
        error(result, 0)
      end
      local hook = env.sysbench.hooks.before_restart_event
      if hook then
        hook(result)
      end
      host.restarted()
      fine, result = xpcall(env.event, on_error, tid)
    end
    if result then
      return
    end
  end
end

-- What every client does first: the script itself.
local function run_body(client)
  setfenv(0, client.env)
  local main, problem = rt.load_file(client.file, client.env)
  if not main then
    error(problem, 0)
  end
  main(client.module)
end

local function live(client)
  run_body(client)
  rt.export(client)
  local env, tid = client.env, client.tid
  if env.thread_init then
    client.stage = "thread_init"
    env.thread_init(tid)
  end
  client.stage = "thread_run"
  if env.thread_run == rt.thread_run and type(env.event) ~= "function" then
    client.stage = nil
    error("cannot find the event() function in " .. host.script_name, 0)
  end
  client.is_fresh = next_ticket(client, READY)
  if client.ticket then
    env.thread_run(tid)
    if client.ticket then
      yield(OVER)
    end
  end
  if env.thread_done then
    client.stage = "thread_done"
    env.thread_done(tid)
  end
  return CLOSED
end

-- Runs a command: one of the script's own, or a global function.
local function command(client, name)
  local env = client.env
  local own = (env.sysbench.cmdline.commands or {})[name]
  client.stage = own and "sysbench.cmdline.call_command" or name
  if not own then
    env[name]()
  elseif env.sysbench.cmdline.call_command(name) == false then
    client.stage = nil
    error(("the command '%s' said that it failed"):format(name), 0)
  end
end

-- A command runs as the client's only transaction.
local function obey(client)
  run_body(client)
  rt.export(client)
  yield(READY)
  command(client, host.command)
  yield(OVER)
  return CLOSED
end

-- What a main state may be given to do, and what it answers.
local tasks = { command = command }

function tasks.options(client)
  rt.export(client)
end

function tasks.validate(client, name, text)
  client.stage = nil
  local check = client.env.sysbench.cmdline.options[name][4]
  return not check or check(name, text)
end

tasks["function"] = function(client, name)
  local does = client.env[name]
  client.stage = name
  if does ~= nil then
    does()
  end
  return does ~= nil
end

function tasks.hook(client, name, stat)
  local hook = client.env.sysbench.hooks[name]
  if type(hook) ~= "function" then
    return false
  end
  client.stage = "sysbench.hooks." .. name
  hook(stat)
  return true
end

local function answer(client, fine, result)
  if fine then
    return host.answer(result and true or false)
  end
  local problem, trace = described(client, result)
  host.refuse("FATAL: " .. words_of(client.stage) .. problem .. trace)
end

-- A main state: the body, and then one task after another.
local function serve(client)
  run_body(client)
  local options = client.env.sysbench.cmdline.options
  if options ~= nil then
    client.stage = "sysbench.cmdline.read_cmdline_options"
    rt.check_options(options)
  end
  while true do
    yield(READY)
    local kind, name, argument = host.task()
    answer(client, xpcall(tasks[kind], on_error, client, name, argument))
  end
end

-- Only the body: for what the script declares.
local function declare(client)
  run_body(client)
  yield(READY)
  return CLOSED
end

local lives = { run = live, command = obey, main = serve, declare = declare }

-- A new client; it is at its beginning until it is resumed.
function rt.add_client(index, tid, life)
  local client = { tid = tid, file = host.file, module = host.module }
  -- Weak: a connection that the script has forgotten may be made again.
  client.open, client.is_connected = setmetatable({}, { __mode = "v" }), {}
  client.current = 0
  client.env = rt.environment(client)
  client.thread = create(function() return lives[life](client) end)
  clients[index] = client
end

function rt.remove_client(index)
  clients[index] = nil
end

-- Resumes a client until it wants something, and says what that is.
function rt.dispatch(index, a, b, c)
  local client = clients[index]
  rt.running = client
  local fine, wants = resume(client.thread, a, b, c)
  if fine then
    return wants
  end
  return die(client, wants)
end

function rt.environment_of(index)
  return clients[index].env
end

-- Whether a client has come to what is behind its run, which a loop of its own may have too.
local function is_behind_run(client)
  return client.stage == "thread_done" or client.stage == "thread_run" and not client.ticket
end

-- Before a program is started and behind a pause: a script that is to end comes no further, as at a
-- call of its database. What comes behind a run is still done.
function rt.wait_for_end()
  while not is_behind_run(rt.running) and host.is_to_end() do
    host.sleep(1000000)
    yield(SLEEP)
  end
end

function rt.sleep(microseconds)
  host.sleep(tonumber(microseconds) or 0)
  yield(SLEEP)
  rt.wait_for_end()
  return 0
end

-- Coroutines of the script itself let through what is meant for the host.
local function passed(thread, fine, wants, ...)
  if fine and (wants == CALL or wants == SLEEP or wants == DONE) and status(thread) ~= "dead" then
    return passed(thread, resume(thread, yield(wants)))
  end
  return fine, wants, ...
end

local function unwrapped(fine, ...)
  if not fine then
    error((...), 0)
  end
  return ...
end

rt.coroutine = {}
for name, value in pairs(coroutine) do
  rt.coroutine[name] = value
end

-- To a script its client is no coroutine.
function rt.coroutine.running()
  local thread = running()
  if thread ~= rt.running.thread then
    return thread
  end
end

function rt.coroutine.yield(...)
  if running() == rt.running.thread then
    error("attempt to yield from outside a coroutine", 2)
  end
  return yield(...)
end

function rt.coroutine.resume(thread, ...)
  return passed(thread, resume(thread, ...))
end

function rt.coroutine.wrap(fn)
  local thread = create(fn)
  return function(...) return unwrapped(passed(thread, resume(thread, ...))) end
end
