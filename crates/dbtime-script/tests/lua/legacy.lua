-- The globals of sysbench 0.5.

function thread_init(tid)
  assert(tid == thread_id and mysql_table_engine == "innodb" and myisam_max_rows == 1000000)
  db_connect()
  stmt = db_prepare("SELECT c FROM t WHERE id = ?")
  id = stmt:bind_create(sysbench.sql.type.INT)
  db_bind_param(stmt, { id })
end

function event()
  local number = sb_rand(1, 5) + sb_rand_uniform(1, 5) + sb_rand_gaussian(1, 5)
    + sb_rand_special(1, 5)
  assert(number >= 4 and number <= 20 and sb_rand_uniq() >= 0 and sb_rnd() >= 0)
  assert(sb_rand_str("#@"):match("^%d%l$"))
  id:set(number)
  local result = db_execute(stmt)
  assert(db_store_results() == result)
  db_free_results()
  db_query("UPDATE t SET c = 1")
  db_bulk_insert_init("INSERT INTO t VALUES")
  db_bulk_insert_next("(1)")
  db_bulk_insert_done()
  assert(DB_ERROR_NONE == 0 and DB_ERROR_RESTART_TRANSACTION == 1 and DB_ERROR_FAILED == 2)
  assert(not pcall(db_bind_result))
end

function thread_done()
  db_close(stmt)
  db_disconnect()
end
