-- The globals of sysbench 0.5, on top of what followed them.

local rt = ...
local host = rt.host

-- One connection and one result are implied; statements and parameters are handed around.
function rt.give_legacy(env)
  local sysbench = env.sysbench
  local rand, con, result = sysbench.rand, nil, nil

  local function connection()
    if not con then
      error("there is no connection; call db_connect() first", 3)
    end
    return con
  end

  local db = { DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2 }

  function db.connect()
    con = con or sysbench.sql.driver():connect()
    return con
  end

  function db.disconnect()
    local open = connection()
    con = nil
    return open:disconnect()
  end

  function db.query(sql)
    if not con then
      db.connect()
    end
    result = con:query(sql)
    return result
  end

  function db.bulk_insert_init(prefix) return connection():bulk_insert_init(prefix) end
  function db.bulk_insert_next(values) return connection():bulk_insert_next(values) end
  function db.bulk_insert_done() return connection():bulk_insert_done() end
  function db.prepare(sql) return connection():prepare(sql) end

  -- Parameters are tables or variables in 0.5; here they are what bind_create() made.
  function db.bind_param(statement, parameters)
    if type(parameters) == "table" and parameters[1] then
      return statement:bind_param(unpack(parameters))
    end
    return statement:bind_param(parameters)
  end

  function db.bind_result()
    error("db_bind_result() is not supported; use con:query() and result:fetch_row()", 2)
  end

  function db.execute(statement)
    result = statement:execute()
    return result
  end

  function db.store_results() return result end

  function db.free_results()
    if result then
      result:free()
    end
    result = nil
  end

  function db.close(statement) return statement:close() end

  sysbench.db = db
  for name, value in pairs(db) do
    env[type(value) == "function" and "db_" .. name or name] = value
  end
  env.sb_rand, env.sb_rand_uniform, env.sb_rand_gaussian = rand.default, rand.uniform, rand.gaussian
  env.sb_rand_special, env.sb_rand_str, env.sb_rand_uniq = rand.special, rand.string, rand.unique
  env.sb_rnd = function() return rand.uniform(0, 4294967294) end
  env.thread_id, env.test = sysbench.tid, host.script
  env.mysql_table_engine, env.myisam_max_rows = "innodb", 1000000
end
