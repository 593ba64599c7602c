-- Asks the database inside of functions that the standard library calls back.

local con

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  local text, count = ("a b"):gsub("%w", function(word)
    con:query("SELECT 1")
    return "[" .. word .. "]"
  end)
  local list = { 3, 1, 2 }
  table.sort(list, function(one, other)
    con:query("SELECT 2")
    return one < other
  end)
  print(text, count, table.concat(list, " "))
end
