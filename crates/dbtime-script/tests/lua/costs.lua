-- One statement of each kind an event, so that their costs can be told apart.

local events

function thread_init()
  con = sysbench.sql.driver():connect()
  stmt = con:prepare("UPDATE t SET a=? WHERE id=?")
  value = stmt:bind_create(sysbench.sql.type.INT)
  id = stmt:bind_create(sysbench.sql.type.INT)
  stmt:bind_param(value, id)
  begin = con:prepare("BEGIN")
  event = events[sysbench.opt.what]
end

events = {
  execute = function()
    value:set(sysbench.rand.uniform(1, 1000))
    id:set(sysbench.rand.uniform(1, 1000))
    stmt:execute()
  end,
  begin = function() begin:execute() end,
  query = function()
    con:query(string.format("UPDATE t SET a=%d WHERE id=%d", 5, sysbench.rand.uniform(1, 1000)))
  end,
}

