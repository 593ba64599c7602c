-- What statements without rows give: an object with sysbench 1.0, nil with 1.1.

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  local result = con:query("UPDATE t SET a = 1")
  if sysbench.version == "1.0.20" then
    assert(result.nfields == 0 and result.nrows == 1 and result:fetch_row() == nil)
  else
    assert(result == nil)
  end
  assert(con:query_row("UPDATE t SET a = 2") == nil)
  assert(sysbench.sql.error.FATAL == 2)
end
