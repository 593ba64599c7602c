-- `sysbench.sql`: drivers, connections, statements, parameters and results.
--
-- A call puts its request on the host's desk, yields, and is resumed with
--   0, columns, rows   what the (first) statement answered
--   1                  it failed; host.failure() says how

local rt = ...
local host, ASK = rt.host, rt.code.ask
local yield, collect, getinfo = coroutine.yield, collectgarbage, debug.getinfo
local type, tostring, tonumber, unpack, error = type, tostring, tonumber, unpack, error
local setmetatable, concat = setmetatable, table.concat
local ask_query, ask_execute, ask_execute_many = host.query, host.execute, host.execute_many
local rand_string = host.random.string
local NONE, IGNORABLE, FATAL = 0, 1, 2
local RESTART = 1

local function class(name, allowed)
  local methods = setmetatable({}, {
    __index = function(_, key)
      if allowed and allowed[key] then
        return nil
      end
      error(("'struct %s' has no member named '%s'"):format(name, tostring(key)), 2)
    end,
  })
  return methods, { __index = methods, __tostring = function() return "<" .. name .. ">" end }
end

local Driver, driver_meta = class("sql_driver")
local Connection, connection_meta = class("sql_connection")
local Statement, statement_meta = class("sql_statement")
local Parameter, parameter_meta = class("sql_param", { value = true })
local Result, result_meta = class("sql_result", { statement = true })

-- Failures

local function restore(con)
  yield(host.disconnect() or ASK)
  con.generation = con.generation + 1
  while yield(host.connect() or ASK) ~= 0 do
    rt.sleep(1000)
  end
  host.reconnected()
end

-- Raises an error at the line of the script that is at work, however deep in our own Lua.
local function raise(text)
  for level = 2, 50 do
    local place = getinfo(level, "Sl")
    if not place then
      break
    end
    if place.source:sub(1, 1) == "@" then
      text = ("%s:%d: %s"):format(place.short_src, place.currentline, text)
      break
    end
  end
  error(text, 0)
end

local function failed(con, query)
  local is_ignorable, is_lost, wants_rollback, errno, state, message = host.failure()
  con.sql_errno, con.sql_state, con.sql_errmsg = errno, state, message
  local description = {
    connection = con, query = query, sql_errno = errno, sql_state = state, sql_errmsg = message,
  }
  if not is_ignorable then
    local hook = rt.running.env.sysbench.hooks.sql_error_ignorable
    is_ignorable = hook and hook(description)
  end
  if not is_ignorable then
    con.error = FATAL
    host.log_failure(query)
    raise(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message))
  end
  con.error = IGNORABLE
  host.count_error()
  if is_lost then
    restore(con)
  elseif wants_rollback then
    yield(host.rollback() or ASK)
  end
  description.errcode = RESTART
  error(description, 0)
end

-- Every connection has one result, and every call begins it anew.
local function answer(con, statement, columns, rows)
  con.error = NONE
  if columns == 0 then
    return nil
  end
  local result = con.result
  result.nfields, result.nrows, result.row, result.statement = columns, rows, 0, statement
  return result
end

-- Drivers

function Driver.name()
  return host.driver_name
end

function Driver:connect()
  local client = rt.running
  if client.open[1] then
    collect()
  end
  if client.open[1] then
    error("a second connection of one thread at the same time is not supported: "
      .. "disconnect the first, or use it", 2)
  end
  if client.is_connected then
    yield(host.disconnect() or ASK)
  end
  client.is_connected = true
  if yield(host.connect() or ASK) ~= 0 then
    client.is_connected = false
    local _, _, _, errno, _, message = host.failure()
    host.log(("FATAL: unable to connect, error %d: %s"):format(errno, message))
    raise("connection creation failed: " .. message)
  end
  local con = setmetatable({
    driver = self, error = NONE, sql_errno = 0, sql_state = "", sql_errmsg = "", generation = 0,
    is_open = true, is_bulk = false, client = client,
  }, connection_meta)
  con.result = setmetatable({ connection = con, counter = 1, nfields = 0, nrows = 0 }, result_meta)
  client.open[1] = con
  return con
end

-- Connections

local function check_open(con)
  if not con.is_open then
    raise("the connection is closed")
  end
end

function Connection:disconnect()
  if self.is_open then
    self.is_open, self.client.open[1] = false, nil
    self.client.is_connected = false
    yield(host.disconnect() or ASK)
  end
  return 0
end

function Connection:reconnect()
  check_open(self)
  restore(self)
  return 0
end

function Connection:query(sql)
  check_open(self)
  ask_query(sql)
  local status, columns, rows = yield(ASK)
  if status == 0 then
    if columns == 0 then
      self.error = NONE
      return nil
    end
    return answer(self, nil, columns, rows)
  end
  return failed(self, sql)
end

function Connection:query_row(sql)
  check_open(self)
  ask_query(sql)
  local status, columns, rows = yield(ASK)
  if status ~= 0 then
    return failed(self, sql)
  end
  answer(self, nil, columns, rows)
  if columns == 0 or rows == 0 then
    return nil
  end
  return unpack(host.fetch_row(0), 1, columns)
end

function Connection:more_results()
  return host.more_results()
end

function Connection:next_result()
  local columns, rows = host.next_result()
  if columns then
    return answer(self, nil, columns, rows)
  end
end

-- Kept for scripts that ask by themselves: what failed has been raised already.
function Connection:check_error(_, query)
  if self.error == FATAL then
    error(("SQL error, errno = %d, state = '%s': %s, query = '%s'"):format(
      self.sql_errno, self.sql_state, self.sql_errmsg, tostring(query)), 2)
  end
end

function Connection:bulk_insert_init(prefix)
  check_open(self)
  self.is_bulk = true
  host.bulk_begin(prefix)
  return 0
end

local function flush(con)
  if host.bulk_take() then
    if yield(ASK) ~= 0 then
      failed(con, "a bulk insert")
    end
  end
end

function Connection:bulk_insert_next(values)
  check_open(self)
  if not self.is_bulk then
    error("bulk_insert_next() called without bulk_insert_init()", 2)
  end
  if not host.bulk_add(values) then
    flush(self)
    host.bulk_add(values)
  end
  return 0
end

function Connection:bulk_insert_done()
  check_open(self)
  if self.is_bulk then
    self.is_bulk = false
    flush(self)
  end
  return 0
end

-- Statements

local function prepare_now(statement)
  local con = statement.connection
  host.prepare(statement.handle, statement.sql)
  if host.prepares and yield(ASK) ~= 0 then
    failed(con, statement.sql)
  end
  statement.is_pending = false
end

function Connection:prepare(sql)
  check_open(self)
  if type(sql) ~= "string" then
    error("bad argument #1 to 'prepare' (string expected, got " .. type(sql) .. ")", 2)
  end
  local statement = setmetatable({
    connection = self, sql = sql, handle = host.new_handle(), count = 0, is_pending = true,
    generation = self.generation,
  }, statement_meta)
  if not (host.driver_name == "pgsql" and sql:find("?", 1, true)) then
    prepare_now(statement)
  end
  return statement
end

local function check_usable(statement)
  if not statement.handle then
    raise("the statement is closed")
  elseif not statement.connection.is_open then
    raise("the connection of the statement is closed")
  elseif statement.generation ~= statement.connection.generation then
    raise("the statement went with the connection that was lost: prepare it again in "
      .. "sysbench.hooks.before_restart_event")
  elseif statement.is_pending then
    prepare_now(statement)
  end
end

function Statement:execute()
  local con, handle, count = self.connection, self.handle, self.count
  if not handle or self.is_pending or not con.is_open or self.generation ~= con.generation then
    check_usable(self)
  end
  if count == 1 then
    ask_execute(handle, self[1].value)
  elseif count == 2 then
    ask_execute(handle, self[1].value, self[2].value)
  elseif count == 0 then
    ask_execute(handle)
  elseif count == 4 then
    ask_execute(handle, self[1].value, self[2].value, self[3].value, self[4].value)
  else
    local values = {}
    for index = 1, count do
      values[index] = self[index].value
    end
    ask_execute_many(handle, unpack(values, 1, count))
  end
  local status, columns, rows = yield(ASK)
  if status == 0 then
    if columns == 0 then
      con.error = NONE
      return nil
    end
    return answer(con, self, columns, rows)
  end
  return failed(con, self.sql)
end

function Statement:next_result()
  return self.connection:next_result()
end

function Statement:close()
  if not self.handle then
    return 0
  end
  local con, handle = self.connection, self.handle
  self.handle = false
  host.free_handle(handle)
  local is_there = host.prepares and con.is_open and not self.is_pending
    and self.generation == con.generation
  if is_there and yield(host.close(handle) or ASK) ~= 0 then
    failed(con, self.sql)
  end
  return 0
end

-- Parameters. What they hold is what the host sends.

local integer, real, text = "i", "r", "s"
local kinds = { integer, integer, integer, integer, real, real, [11] = text, [12] = text }

function Statement:bind_create(sql_type, max_len)
  local kind = kinds[sql_type]
  if not kind then
    error("unsupported parameter type: " .. tostring(sql_type)
      .. "; use an integer, float, double, char or varchar of sysbench.sql.type", 2)
  end
  return setmetatable({
    statement = self, type = sql_type, kind = kind, max_len = max_len or false,
  }, parameter_meta)
end

function Statement:bind_param(...)
  local count, letters = select("#", ...), {}
  for index = 1, count do
    local parameter = select(index, ...)
    if getmetatable(parameter) ~= parameter_meta then
      error(("bad argument #%d to 'bind_param' (a parameter expected, got %s)"):format(
        index, type(parameter)), 2)
    end
    self[index], letters[index] = parameter, parameter.kind
  end
  for index = count + 1, self.count do
    self[index] = nil
  end
  self.count = count
  check_usable(self)
  host.bind(self.handle, concat(letters))
  return 0
end

local function number_of(value)
  if type(value) == "cdata" then
    return (tostring(value):gsub("U?LL$", ""))
  elseif type(value) == "boolean" then
    return value and 1 or 0
  end
  return tonumber(value)
end

function Parameter:set(value)
  if value == nil or type(value) == "number" and self.kind ~= text then
    self.value = value
  elseif self.kind == text then
    value = tostring(value)
    local longest = self.max_len
    if longest and #value > longest then
      value = value:sub(1, longest)
    end
    self.value = value
  else
    local number = number_of(value)
    if number == nil then
      error("bad argument #1 to 'set' (number expected, got " .. type(value) .. ")", 2)
    end
    self.value = number
  end
end

function Parameter:set_rand_str(template)
  if self.kind ~= text then
    error("set_rand_str() wants a parameter of type char or varchar", 2)
  end
  local value = rand_string(template)
  local longest = self.max_len
  if longest and #value > longest then
    value = value:sub(1, longest)
  end
  self.value = value
end

-- Results

function Result:fetch_row()
  if self.statement and host.driver_name == "mysql" then
    error("fetch_row() on the result of a prepared statement is not supported by sysbench "
      .. "on MySQL; use con:query()", 2)
  end
  local row = self.row
  if row >= self.nrows then
    return nil
  end
  self.row = row + 1
  return host.fetch_row(row)
end

function Result:free()
  self.nrows = 0
  return 0
end

-- The table that scripts see

local names = {
  "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIME", "DATE", "DATETIME",
  "TIMESTAMP", "CHAR", "VARCHAR", [0] = "NONE",
}

local known = { mysql = "mysql", pgsql = "pgsql", sqlite = "mysql" }

local function driver(name)
  if name ~= nil and known[name] == nil then
    host.log("FATAL: invalid database driver name: '" .. tostring(name) .. "'")
    error("failed to initialize the DB driver", 2)
  elseif name ~= nil and known[name] ~= host.driver_name then
    error(("the script asks for the driver '%s', but the run uses '%s'"):format(
      name, host.driver_name), 2)
  end
  return setmetatable({}, driver_meta)
end

function rt.sql_namespace()
  local types = {}
  for value, name in pairs(names) do
    types[name] = value
  end
  return {
    driver = driver, type = types, error = { NONE = NONE, IGNORABLE = IGNORABLE, FATAL = FATAL },
  }
end
