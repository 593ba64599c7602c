-- Fails where the option says.

local where = sysbench.cmdline.argv[1]

local function fail()
  local nothing
  return nothing.field
end

if where == "body" then
  error("in the body")
end

function thread_init()
  if where == "thread_init" then
    fail()
  elseif where == "connect" then
    sysbench.sql.driver():connect()
  elseif where == "argument" then
    sysbench.rand.uniform(1)
  elseif where == "memory" then
    hoard = {}
    for index = 1, 10000000 do
      hoard[index] = { index }
    end
  end
end

function event()
  if where == "event" then
    fail()
  elseif where == "table" then
    error({ 1, 2 })
  elseif where == "stop" then
    return true
  elseif where == "exit" then
    os.exit(1)
  end
end

function thread_done()
  print("done")
  if where == "thread_done" then
    fail()
  end
end

if where == "no event" then
  event = nil
end
