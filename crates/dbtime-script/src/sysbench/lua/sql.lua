-- `sysbench.sql`: drivers, connections and results; statements are in `statement.lua`, bulk
-- inserts in `bulk.lua`.
--
-- A call puts its request into the host, yields, and is resumed with
--   0, columns, rows   what the first statement answered; rows that were changed for no columns
--   1                  it failed; host.failure() says how

local rt = ...
local host, CALL = rt.host, rt.code.call
local yield, collect, getinfo = coroutine.yield, collectgarbage, debug.getinfo
local tostring, type, unpack = tostring, type, unpack
local error, setmetatable = error, setmetatable
local ask_query = host.query
local NONE, IGNORABLE, FATAL = 0, 1, 2
local RESTART = 1
-- How much a line of the log matters: less is more.
local ALERT, CRITICAL = 1, 0

-- The methods and the metatable of objects that raise an error for members they do not have.
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
local Result, result_meta = class("sql_result", { statement = true })

-- Clients may have several connections; requests and results are those of the one that was turned
-- to last.

local function turn_to(con)
  local client, number = con.client, con.number
  if client.current ~= number then
    client.current = number
    host.turn_to(number)
  end
end

-- Failures

local function restore(con)
  turn_to(con)
  yield(host.disconnect() or CALL)
  con.generation = con.generation + 1
  while yield(host.connect() or CALL) ~= 0 do
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
    if place.source:sub(1, 1) == "@" or place.source == "=stdin" then
      text = ("%s:%d: %s"):format(place.short_src, place.currentline, text)
      break
    end
  end
  error(text, 0)
end

-- Makes a connection fit for the event's next beginning.
local function mend(con, is_lost, needs_rollback)
  if is_lost then
    restore(con)
  elseif needs_rollback then
    yield(host.rollback() or CALL)
  end
end

-- Takes note of what became of the last request: what may be ignored is mended, all else is said.
-- Returns what there would be to mend.
local function note(con, query)
  local is_ignorable, is_lost, needs_rollback, errno, state, message = host.failure()
  con.sql_errno, con.sql_state, con.sql_errmsg = errno, state, message
  con.has_failed, con.has_rows = true, false
  con.error = is_ignorable and IGNORABLE or FATAL
  if is_ignorable then
    mend(con, is_lost, needs_rollback)
  else
    host.log_failure(query)
  end
  return is_lost, needs_rollback
end

-- Raises what the last failure of a connection comes to, once the script's hook has seen it.
local function raise_failure(con, query, is_lost, needs_rollback)
  if not con.has_failed then
    raise("SQL API error")
  end
  local errno, state, message = con.sql_errno, con.sql_state, con.sql_errmsg
  local description = {
    connection = con, query = query, sql_errno = errno, sql_state = state, sql_errmsg = message,
  }
  if con.error == FATAL then
    local hook = rt.running.env.sysbench.hooks.sql_error_ignorable
    if type(hook) ~= "function" or not hook(description) then
      raise(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message))
    end
    mend(con, is_lost, needs_rollback)
  end
  description.errcode = RESTART
  error(description, 0)
end

local function failed(con, query)
  raise_failure(con, query, note(con, query))
end

-- Every connection has one result, and every call begins it anew. Without a result set sysbench
-- 1.0 gives a result too, with the number of rows that were changed; 1.1 gives nil.
local function answer(con, statement, columns, rows)
  con.error, con.has_rows = NONE, columns > 0
  if columns == 0 and not host.gives_results then
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

-- The lowest number that no connection of the client has.
local function free_number(client)
  local number = 0
  while client.open[number] do
    number = number + 1
  end
  return number
end

-- A new connection; nil, where it cannot be made, which is said.
local function open(driver)
  local client = rt.running
  if client.open[0] then
    -- A connection that the script has forgotten may be made again.
    collect()
  end
  local con = setmetatable({
    driver = driver, error = NONE, sql_errno = 0, sql_state = "", sql_errmsg = "", generation = 0,
    is_open = true, is_bulk = false, has_rows = false, has_failed = false, client = client,
    number = free_number(client), forgotten = {},
  }, connection_meta)
  turn_to(con)
  if client.is_connected[con.number] then
    yield(host.disconnect() or CALL)
  end
  client.is_connected[con.number] = true
  if host.cannot_connect() or yield(host.connect() or CALL) ~= 0 then
    client.is_connected[con.number] = false
    host.log_failure("")
    return nil
  end
  con.result = setmetatable({ connection = con, counter = 1, nfields = 0, nrows = 0 }, result_meta)
  client.open[con.number] = con
  return con
end

function Driver:connect()
  local con = open(self)
  if not con then
    error("connection creation failed", 2)
  end
  return con
end

-- Connections

local function is_usable(con)
  if con.is_open then
    turn_to(con)
    return true
  end
  host.log(ALERT, "attempt to use an already closed connection")
  return false
end

local function check_open(con)
  if not is_usable(con) then
    con.error = FATAL
    raise_failure(con)
  end
end

function Connection:disconnect()
  if not self.is_open then
    host.log(ALERT, "attempt to close an already closed connection")
    return true
  end
  turn_to(self)
  self.is_open, self.client.open[self.number] = false, nil
  self.client.is_connected[self.number] = false
  yield(host.disconnect() or CALL)
  return true
end

function Connection:reconnect()
  if host.driver_name == "pgsql" then
    host.log(ALERT, "reconnect is not supported by the current driver")
  elseif not self.is_open then
    host.log(ALERT, "attempt to close an already closed connection")
  else
    restore(self)
  end
  return true
end

function Connection:query(sql)
  check_open(self)
  ask_query(sql)
  local status, columns, rows = yield(CALL)
  if status == 0 then
    return answer(self, nil, columns, rows)
  end
  return failed(self, sql)
end

-- The same for the older interface: the number of columns, or nil where it failed.
local function attempt_query(con, sql)
  ask_query(sql)
  local status, columns = yield(CALL)
  if status == 0 then
    con.error, con.has_rows = NONE, columns > 0
    return columns
  end
  note(con, sql)
end

function Connection:query_row(sql)
  check_open(self)
  ask_query(sql)
  local status, columns, rows = yield(CALL)
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
  turn_to(self)
  return host.more_results()
end

function Connection:next_result()
  turn_to(self)
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

-- Results

local function is_readable(con)
  if not con.is_open then
    host.log(ALERT, "attempt to use an already closed connection")
  elseif not con.has_rows then
    host.log(ALERT, "attempt to fetch row from an invalid result set")
  end
  return con.is_open and con.has_rows
end

function Result:fetch_row()
  if self.statement and host.driver_name == "mysql" then
    error("fetch_row() on the result of a prepared statement is not supported by sysbench "
      .. "on MySQL; use con:query()", 2)
  end
  local con, row = self.connection, self.row
  if not is_readable(con) then
    return nil
  elseif self.nrows == 0 then
    host.log(ALERT, "attempt to fetch row from an empty result set")
    return nil
  elseif row >= self.nrows then
    return nil
  end
  self.row = row + 1
  turn_to(con)
  return host.fetch_row(row)
end

-- Gives the rows of a connection back. Returns whether there were any.
local function free_rows(con)
  local had_rows = con.is_open and con.has_rows
  if not con.is_open then
    host.log(ALERT, "attempt to use an already closed connection")
  elseif not had_rows then
    host.log(ALERT, "attempt to free an invalid result set")
  end
  con.has_rows = false
  return had_rows
end

function Result:free()
  if not free_rows(self.connection) then
    error("db_free_results() failed", 0)
  end
  self.nrows, self.nfields = 0, 0
  return true
end

-- The table that scripts see

local names = {
  "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIME", "DATE", "DATETIME",
  "TIMESTAMP", "CHAR", "VARCHAR", [0] = "NONE",
}

local known = { mysql = "mysql", pgsql = "pgsql", sqlite = "mysql" }

local function driver(name)
  if name ~= nil and known[name] == nil then
    host.log(CRITICAL, "invalid database driver name: '" .. tostring(name) .. "'")
    error("failed to initialize the DB driver", 2)
  elseif name ~= nil and known[name] ~= host.driver_name then
    error(("the script asks for the driver '%s', but the run uses '%s'"):format(
      name, host.driver_name), 2)
  end
  host.uses_sql()
  return setmetatable({}, driver_meta)
end

rt.sql = {
  class = class, raise = raise, note = note, failed = failed, raise_failure = raise_failure,
  answer = answer, check_open = check_open, turn_to = turn_to, Connection = Connection,
  driver = driver, open = open, attempt_query = attempt_query, free_rows = free_rows,
  is_usable = is_usable,
}

local types = {}
for value, name in pairs(names) do
  types[name] = value
end

function rt.sql_namespace()
  return {
    driver = driver, type = types, error = { NONE = NONE, IGNORABLE = IGNORABLE, FATAL = FATAL },
  }
end
