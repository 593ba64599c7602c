-- The globals of sysbench 0.5, on top of what followed them. One connection and one result of each
-- client are implied; statements and parameters are handed around.

local rt = ...
local rand, sql = rt.host.random, rt.sql

local function connection()
  local con = rt.running.db_connection
  if not con then
    sql.raise("there is no connection; call db_connect() first")
  end
  return con
end

local db = { DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2 }

function db.connect()
  local client = rt.running
  client.db_connection = client.db_connection or sql.driver():connect()
  return client.db_connection
end

function db.disconnect()
  local con = connection()
  rt.running.db_connection = nil
  return con:disconnect()
end

function db.query(query)
  local client = rt.running
  local con = client.db_connection or db.connect()
  client.db_result = con:query(query)
  return client.db_result
end

function db.bulk_insert_init(prefix) return connection():bulk_insert_init(prefix) end
function db.bulk_insert_next(values) return connection():bulk_insert_next(values) end
function db.bulk_insert_done() return connection():bulk_insert_done() end
function db.prepare(query) return connection():prepare(query) end

-- Parameters are variables of the script in 0.5; here they are what bind_create() made.
function db.bind_param(statement, parameters)
  if type(parameters) == "table" and parameters[1] then
    return statement:bind_param(unpack(parameters))
  end
  return statement:bind_param(parameters)
end

function db.bind_result()
  sql.raise("db_bind_result() is not supported; use con:query() and result:fetch_row()")
end

function db.execute(statement)
  local client = rt.running
  client.db_result = statement:execute()
  return client.db_result
end

function db.store_results() return rt.running.db_result end

function db.free_results()
  local client = rt.running
  if client.db_result then
    client.db_result:free()
  end
  client.db_result = nil
end

function db.close(statement) return statement:close() end

rt.db = db
rt.legacy = {
  sb_rand = rand.default, sb_rand_uniform = rand.uniform, sb_rand_gaussian = rand.gaussian,
  sb_rand_special = rand.special, sb_rand_str = rand.string, sb_rand_uniq = rand.unique,
  sb_rnd = function() return rand.uniform(0, 4294967294) end,
  test = rt.host.script, mysql_table_engine = "innodb", myisam_max_rows = 1000000,
}
for name, value in pairs(db) do
  rt.legacy[type(value) == "function" and "db_" .. name or name] = value
end
