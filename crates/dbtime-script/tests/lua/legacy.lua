-- The globals of sysbench 0.5. Nobody connects but the functions that need a connection.

assert(mysql_table_engine == "innodb" and myisam_max_rows == 1000000 and thread_id == sysbench.tid)
assert(sysbench.opt == nil and oltp_size == nil and not pcall(db_bulk_insert_next, "(1)"))

function thread_init(tid)
  assert(tid == thread_id and db_driver == "mysql" and mysql_table_engine == "myisam")
  assert(oltp_size == "7" and alone == "" and threads == 2 and type(help) == "function")
  assert(sysbench.opt.oltp_size == "7")
  local fine, problem = pcall(db_bind_param, {}, {})
  assert(not fine and problem:find("Uninitialized database connection", 1, true), problem)
  values = { 5.9, "x" }
  stmt = db_prepare("UPDATE t SET c = ? WHERE d = ?")
  db_bind_param(stmt, values)
  db_bind_result(stmt, { 1 })
  read = db_prepare("SELECT c FROM t")
end

function help() end

local function fails(words, call, ...)
  local fine, problem = pcall(call, ...)
  assert(not fine and problem:find(words, 1, true), problem)
end

local function check_numbers()
  local number = sb_rand(1, 5) + sb_rand_uniform(1, 5) + sb_rand_gaussian(1, 5)
    + sb_rand_special(1, 5)
  assert(number >= 4 and number <= 20 and sb_rand_uniq() >= 0 and sb_rnd() >= 0)
  for _ = 1, 20 do
    local unique = sb_rand_uniq(1000, 2000000)
    assert(unique >= 1000 and unique <= 2000000)
  end
  fails("no whole number", sb_rand_uniq, 3, 2)
  assert(sb_rand_str("#@"):match("^%d%l$"))
end

function event()
  check_numbers()
  values[1], values[2] = -3.7, nil
  local result = db_execute(stmt)
  assert(db_store_results(result) == nil)
  values[1], values[2] = 5, "y"
  db_execute(stmt)
  db_free_results(db_execute(read))
  assert(db_query("UPDATE t SET c = 1") == nil)
  db_bulk_insert_init("INSERT INTO t VALUES")
  db_bulk_insert_next("(1)")
  db_bulk_insert_done()
  assert(DB_ERROR_NONE == 0 and DB_ERROR_RESTART_TRANSACTION == 1 and DB_ERROR_FAILED == 2)
  fails("table is empty", db_bind_param, stmt, {})
  fails("table was expected", db_bind_param, stmt)
  fails("Unsupported variable type: boolean", db_bind_result, stmt, { true })
  fails("sysbench.stmt expected, got string", db_execute, "stmt")
  fails("db_bulk_insert_next() failed", db_bulk_insert_next, "(2)")
end

function thread_done()
  db_close(stmt)
  db_disconnect()
  db_disconnect()
end
