-- Events that start again, and what the hooks are told.

function thread_init()
  con = sysbench.sql.driver():connect()
  update = con:prepare("UPDATE t SET a = a + 1")
end

function event()
  tries = (tries or 0) + 1
  con:query("BEGIN")
  update:execute()
  con:query("COMMIT")
end

function sysbench.hooks.before_restart_event(failure)
  assert(failure.connection == con and failure.errcode == sysbench.error.RESTART_EVENT)
  print("restart", tries, failure.sql_errno, failure.sql_state, failure.query)
  if failure.sql_errno == 2013 then
    update:close()
    update = con:prepare("UPDATE t SET a = a + 1")
  end
end

function sysbench.hooks.sql_error_ignorable(failure)
  return sysbench.opt.hook and failure.sql_errno == 1062
end
