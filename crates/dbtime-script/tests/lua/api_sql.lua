-- Every function of sysbench.sql, on a table of its own. Runs on any database.

local function raises(text, fn, ...)
  local fine, problem = pcall(fn, ...)
  assert(not fine, "nothing was raised; expected: " .. text)
  assert(tostring(problem):find(text, 1, true), tostring(problem))
end

local function check_driver()
  local driver = sysbench.sql.driver()
  assert(driver:name() == "mysql" or driver:name() == "pgsql")
  assert(tostring(driver) == "<sql_driver>")
  assert(sysbench.sql.driver(driver:name()):name() == driver:name())
  raises("failed to initialize the DB driver", sysbench.sql.driver, "nope")
  raises("no member named 'nope'", function() return driver.nope end)
  return driver
end

local function check_queries()
  assert(con:query("DROP TABLE IF EXISTS dbtime_api") == nil)
  local create = "CREATE TABLE dbtime_api (id BIGINT NOT NULL PRIMARY KEY, absent INTEGER)"
  assert(con:query(create) == nil)
  raises("db_bulk_insert_next() failed", function() con:bulk_insert_next("(1, NULL)") end)
  con:bulk_insert_init("INSERT INTO dbtime_api VALUES")
  for id = 1, 3 do
    con:bulk_insert_next("(" .. id .. ", NULL)")
  end
  con:bulk_insert_done()
  local result = con:query("SELECT id, absent FROM dbtime_api ORDER BY id LIMIT 3")
  assert(result.nrows == 3 and result.nfields == 2 and tostring(result) == "<sql_result>")
  assert(result.statement == nil)
  for id = 1, 3 do
    local row = result:fetch_row()
    assert(row[1] == tostring(id) and row[2] == nil and type(row[1]) == "string")
  end
  assert(result:fetch_row() == nil)
  result:free()
  raises("db_free_results() failed", result.free, result)
  local id, absent = con:query_row("SELECT id, absent FROM dbtime_api ORDER BY id LIMIT 1")
  assert(id == "1" and absent == nil)
  assert(con:query_row("UPDATE dbtime_api SET absent = 1 WHERE id = 1") == nil)
  assert(con.error == sysbench.sql.error.NONE and con.driver:name())
  raises("no member named 'nope'", function() return con.nope end)
end

local function check_statements()
  local t = sysbench.sql.type
  local insert = con:prepare("INSERT INTO dbtime_api VALUES (?, ?)")
  local id, absent = insert:bind_create(t.BIGINT), insert:bind_create(t.INT)
  insert:bind_param(id, absent)
  id:set(4)
  absent:set(nil)
  assert(insert:execute() == nil and insert.connection == con)
  id:set(5.9)
  absent:set("17")
  insert:execute()
  id:set(9007199254740993LL)
  absent:set(true)
  insert:execute()
  assert(tostring(insert) == "<sql_statement>" and tostring(id) == "<sql_param>")
  raises("number expected", id.set, id, "x")
  raises("Unsupported argument type: 8", insert.bind_create, insert, t.DATE)
  raises("a parameter expected", insert.bind_param, insert, 5)
  raises("Unsupported argument type: ", id.set_rand_str, id, "###")
  assert(insert:close() == 0 and insert:close() == 0)
  raises("the statement is closed", insert.execute, insert)

  local select = con:prepare("SELECT id, absent FROM dbtime_api WHERE id = ?")
  local one = select:bind_create(t.INT)
  select:bind_param(one)
  one:set(1)
  local result = select:execute()
  assert(result.nfields == 2 and result.nrows == 1 and result.statement == select)
  if con.driver:name() == "mysql" then
    raises("not supported", result.fetch_row, result)
  else
    assert(result:fetch_row()[1] == "1")
  end
  select:close()
end

local function check_texts()
  local t = sysbench.sql.type
  con:query("DROP TABLE IF EXISTS dbtime_texts")
  con:query("CREATE TABLE dbtime_texts (a CHAR(20), b VARCHAR(20), c FLOAT, d INTEGER, e INTEGER)")
  local insert = con:prepare("INSERT INTO dbtime_texts VALUES (?, ?, ?, ?, ?)")
  local p = {
    insert:bind_create(t.CHAR, 5), insert:bind_create(t.VARCHAR, 20), insert:bind_create(t.DOUBLE),
    insert:bind_create(t.TINYINT), insert:bind_create(t.SMALLINT),
  }
  insert:bind_param(unpack(p))
  p[1]:set("longer than five")
  p[2]:set_rand_str("##-@@")
  p[3]:set(2)
  p[4]:set(-1)
  insert:execute()
  insert:close()
  con:query("DROP TABLE dbtime_texts")
end

local function check_connections()
  if sysbench.opt.single then
    return
  end
  local other = drv:connect()
  local two = con:query("SELECT 1 UNION SELECT 2 UNION SELECT 3 LIMIT 2")
  local one = other:query("SELECT 1 LIMIT 1")
  assert(two.nrows == 2 and one.nrows == 1, "each connection has a result of its own")
  assert(one:fetch_row() and not one:fetch_row())
  assert(two:fetch_row() and two:fetch_row() and not two:fetch_row())
  local statement = other:prepare("SELECT 1 LIMIT 1")
  con:query("SELECT 1 UNION SELECT 2 UNION SELECT 3 LIMIT 2")
  assert(statement:execute().nrows == 1)
  other:disconnect()
end

function thread_init()
  drv = check_driver()
  con = drv:connect()
  check_connections()
  check_queries()
  check_statements()
  check_texts()
end

function event()
  if con.driver:name() == "mysql" and sysbench.opt.multiple then
    local first = con:query("SELECT 1 LIMIT 1;SELECT 2 UNION SELECT 3 LIMIT 2")
    assert(first.nrows == 1 and con:more_results())
    assert(con:next_result().nrows == 2 and not con:more_results() and con:next_result() == nil)
  end
end

function thread_done()
  con:query("DROP TABLE dbtime_api")
  con:disconnect()
  raises("SQL API error", con.query, con, "SELECT 1")
  con = drv:connect()
  con:reconnect()
  con = nil
  -- A connection that nobody holds any more makes room for another.
  con = drv:connect()
  con:disconnect()
end
