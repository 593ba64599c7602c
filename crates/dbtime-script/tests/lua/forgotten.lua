-- Statements that a script forgets, and one that it keeps.

function thread_init()
  con = sysbench.sql.driver():connect()
  kept = con:prepare("SELECT 1")
  local closed = con:prepare("SELECT 2")
  closed:close()
  closed = nil
  collectgarbage()
end

function event()
  local statement = con:prepare("SELECT 3")
  statement:execute()
  statement = nil
  collectgarbage()
  kept:execute()
end
