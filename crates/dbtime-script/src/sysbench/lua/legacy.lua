-- The globals of sysbench 0.5 as 1.0 still has them. Each client has one connection of its own,
-- which is made by whatever needs it first, and statements whose parameters are read from a table
-- of the script's whenever they are executed. Of results scripts see nothing.

local rt = ...
local host, sql = rt.host, rt.sql
local rand, draw_within = host.random, host.unique_within
local getmetatable, setmetatable, type, tonumber = getmetatable, setmetatable, type, tonumber
local pairs, unpack, error = pairs, unpack, error
local NONE, IGNORABLE = 0, 1

local statement_meta = { __tostring = function() return "sysbench.stmt" end }
local result_meta = { __tostring = function() return "sysbench.rs" end }

local db = { DB_ERROR_NONE = NONE, DB_ERROR_RESTART_TRANSACTION = IGNORABLE, DB_ERROR_FAILED = 2 }

local function connection()
  return rt.running.db_connection or sql.raise("Uninitialized database connection")
end

-- Makes sure that a handle of these functions is what a call wants.
local function check(value, meta, name)
  if getmetatable(value) ~= meta then
    sql.raise(("bad argument #1 to '%s' (%s expected, got %s)"):format(
      name, meta.__tostring(), value == nil and "no value" or type(value)))
  end
  return value
end

local function check_text(value, name)
  if type(value) ~= "string" and type(value) ~= "number" then
    sql.raise(("bad argument #1 to '%s' (string expected, got %s)"):format(
      name, value == nil and "no value" or type(value)))
  end
  return tostring(value)
end

-- Ends a call that failed. What may be ignored begins the event anew; no hook is called for it.
local function fail(con, name)
  if con.error == IGNORABLE then
    error({ errcode = 1 }, 0)
  end
  sql.raise(name .. "() failed")
end

function db.connect()
  local client = rt.running
  client.env.db_driver = host.driver_name
  if not client.db_connection then
    client.db_connection = sql.open(sql.driver())
    if not client.db_connection then
      sql.raise("Failed to connect to the database")
    end
  end
end

local function connected()
  local client = rt.running
  if not client.db_connection then
    db.connect()
  end
  return client.db_connection
end

function db.disconnect()
  local con = rt.running.db_connection
  if con then
    rt.running.db_connection = nil
    con:disconnect()
  end
end

function db.query(query)
  local con = connected()
  if not sql.attempt_query(con, check_text(query, "db_query")) then
    fail(con, "db_query")
  end
end

function db.bulk_insert_init(prefix)
  sql.bulk_begin(connected(), check_text(prefix, "db_bulk_insert_init"))
end

function db.bulk_insert_next(values)
  if not sql.bulk_add(connection(), check_text(values, "db_bulk_insert_next")) then
    sql.raise("db_bulk_insert_next() failed")
  end
end

function db.bulk_insert_done()
  sql.bulk_end(connection())
end

function db.prepare(query)
  local con = connected()
  local statement = sql.try_prepare(con, check_text(query, "db_prepare"))
  if not statement then
    sql.raise("db_prepare() failed")
  end
  return setmetatable({ statement = statement, keys = {}, parameters = {} }, statement_meta)
end

-- The keys of a table with the types of what they hold, which are those of parameters from then on.
local function typed(values)
  if type(values) ~= "table" then
    sql.raise("table was expected")
  end
  local keys, types = {}, {}
  for key, value in pairs(values) do
    local kind = type(value)
    if kind ~= "number" and kind ~= "string" then
      error("Unsupported variable type: " .. kind, 0)
    end
    keys[#keys + 1], types[#types + 1] = key, kind
  end
  if #keys == 0 then
    sql.raise("table is empty")
  end
  return keys, types
end

function db.bind_param(handle, values)
  connection()
  check(handle, statement_meta, "db_bind_param")
  local keys, types = typed(values)
  local statement, parameters = handle.statement, {}
  for index, kind in pairs(types) do
    local of_number = kind == "number"
    parameters[index] = statement:bind_create(of_number and 3 or 12)
  end
  statement:bind_param(unpack(parameters))
  handle.values, handle.keys, handle.types, handle.parameters = values, keys, types, parameters
end

-- What a statement gives back cannot be read: only the call is checked.
function db.bind_result(handle, values)
  connection()
  check(handle, statement_meta, "db_bind_result")
  typed(values)
end

local function set_parameters(handle)
  for index, key in pairs(handle.keys) do
    local value, parameter = handle.values[key], handle.parameters[index]
    if value ~= nil and handle.types[index] == "number" then
      local number = tonumber(value)
      if not number then
        sql.raise("number expected for parameter " .. index .. ", got " .. type(value))
      end
      -- An int of C.
      value = number < 0 and -(-number - -number % 1) or number - number % 1
    elseif value ~= nil and type(value) ~= "string" and type(value) ~= "number" then
      sql.raise("string expected for parameter " .. index .. ", got " .. type(value))
    end
    parameter:set(value)
  end
end

-- A failure that may not be ignored is said, counted, and does not end the event.
function db.execute(handle)
  local con = connection()
  check(handle, statement_meta, "db_execute")
  set_parameters(handle)
  local columns = sql.attempt_execute(handle.statement)
  if not columns and con.error == IGNORABLE then
    fail(con, "db_execute")
  end
  return setmetatable({ has_rows = (columns or 0) > 0, connection = con }, result_meta)
end

function db.store_results(result)
  connection()
  check(result, result_meta, "db_store_results")
end

function db.free_results(result)
  connection()
  check(result, result_meta, "db_free_results")
  if result.has_rows then
    result.has_rows = false
    sql.free_rows(result.connection)
  end
end

function db.close(handle)
  connection()
  check(handle, statement_meta, "db_close").statement:close()
end

rt.db = db
rt.legacy = {
  sb_rand = rand.default, sb_rand_uniform = rand.uniform, sb_rand_gaussian = rand.gaussian,
  sb_rand_special = rand.special, sb_rand_str = rand.string,
  sb_rand_uniq = function(from, to)
    from, to = from or 0, to or 4294967295
    return draw_within(from, to) or sql.raise(
      ("sb_rand_uniq: no whole number from 0 to 4294967295 lies between %s and %s"):format(from, to))
  end,
  sb_rnd = function()
    local _, low = host.random_halves()
    return low
  end,
  test = host.script, mysql_table_engine = "innodb", myisam_max_rows = 1000000,
}
for name, value in pairs(db) do
  rt.legacy[type(value) == "function" and "db_" .. name or name] = value
end
