-- `sysbench.sql`: statements and their parameters.

local rt = ...
local host, CALL = rt.host, rt.code.call
local yield = coroutine.yield
local ffi = require("ffi")
local type, tostring, tonumber, unpack, error = type, tostring, tonumber, unpack, error
local select, getmetatable, setmetatable, concat = select, getmetatable, setmetatable, table.concat
local newproxy, remove = newproxy, table.remove
local ask_execute, ask_execute_many = host.execute, host.execute_many
local rand_string = host.random.string
local sql = rt.sql
local raise, note, failed, answer = sql.raise, sql.note, sql.failed, sql.answer
local check_open, turn_to = sql.check_open, sql.turn_to
local FATAL = 2
local Connection = sql.Connection
local Statement, statement_meta = sql.class("sql_statement")
local Parameter, parameter_meta = sql.class("sql_param", { value = true })

-- What tells that a script has forgotten a statement: LuaJIT calls `__gc` of userdata alone. It
-- may do so while any client runs, so that the statement is only noted, and closed when its
-- connection prepares the next one.
local function guard(con, handle)
  local proxy, generation = newproxy(true), con.generation
  getmetatable(proxy).__gc = function()
    local forgotten = con.forgotten
    forgotten[#forgotten + 1] = { handle = handle, generation = generation }
  end
  return proxy
end

-- Gives the handle back, which may be another statement's from then on.
local function free(statement)
  getmetatable(statement.guard).__gc = nil
  host.free_handle(statement.handle)
  statement.handle = false
end

local function close_forgotten(con)
  local forgotten = con.forgotten
  while #forgotten > 0 do
    local one = remove(forgotten)
    host.free_handle(one.handle)
    if host.prepares and one.generation == con.generation then
      yield(host.close(one.handle) or CALL)
    end
  end
end

-- Prepares a statement on the server. What goes wrong is said, and nothing is known of it but that:
-- the connection keeps what failed before. Returns whether it is there.
local function prepare_now(statement)
  local con = statement.connection
  turn_to(con)
  host.prepare(statement.handle, statement.sql)
  if host.prepares and yield(CALL) ~= 0 then
    free(statement)
    host.log_failure(statement.sql)
    con.error = FATAL
    return false
  end
  statement.is_pending = false
  return true
end

-- A statement of a connection that is open; nil where it cannot be prepared.
local function try_prepare(con, text)
  close_forgotten(con)
  local handle = host.new_handle()
  local statement = setmetatable({
    connection = con, sql = text, handle = handle, count = 0, is_pending = true,
    generation = con.generation, guard = guard(con, handle),
  }, statement_meta)
  local is_late = host.driver_name == "pgsql" and text:find("?", 1, true)
  return (is_late or prepare_now(statement)) and statement or nil
end

function Connection:prepare(text)
  check_open(self)
  if type(text) ~= "string" then
    error("bad argument #1 to 'prepare' (string expected, got " .. type(text) .. ")", 2)
  end
  local statement = try_prepare(self, text)
  if not statement and not self.has_failed then
    error("SQL API error", 2)
  end
  return statement or sql.raise_failure(self, text)
end

local function check_usable(statement)
  if not statement.handle then
    raise("the statement is closed")
  elseif not statement.connection.is_open then
    raise("the connection of the statement is closed")
  elseif statement.generation ~= statement.connection.generation then
    raise("the statement went with the connection that was lost: prepare it again in "
      .. "sysbench.hooks.before_restart_event")
  elseif statement.is_pending and not prepare_now(statement) then
    sql.raise_failure(statement.connection, statement.sql)
  end
end

local put = ffi.cast(
  "uint32_t (*)(double, double, double, double, const void *, uint32_t, uint32_t)",
  host.put_numbers)
local lua_host = host.lua_host

local function value_at(statement, index, count)
  if index > count then
    return 0
  end
  return statement[index].value
end

-- Whether a few numbers are all that is bound, and have been put into the host. LuaJIT compiles that
-- as a whole; other values go by a function of the host's, for which it leaves compiled code.
local function puts_numbers(statement, handle, count)
  if count > 4 then
    return false
  end
  local a, b = value_at(statement, 1, count), value_at(statement, 2, count)
  local c, d = value_at(statement, 3, count), value_at(statement, 4, count)
  return type(a) == "number" and type(b) == "number" and type(c) == "number"
    and type(d) == "number" and put(a, b, c, d, lua_host, handle, count) == 1
end

-- Puts the execution of a statement into the host.
local function call_host(self)
  local con, handle, count = self.connection, self.handle, self.count
  if con.number ~= con.client.current then
    turn_to(con)
  end
  if not handle or self.is_pending or not con.is_open or self.generation ~= con.generation then
    check_usable(self)
  end
  if puts_numbers(self, handle, count) then
    -- Nothing else is to be done.
  elseif count == 1 then
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
end

-- The text of a statement that has failed: where nothing is prepared, with its values.
local function sent(statement)
  return host.prepares and statement.sql or host.sent()
end

function Statement:execute()
  call_host(self)
  local status, columns, rows = yield(CALL)
  if status == 0 then
    return answer(self.connection, self, columns, rows)
  end
  return failed(self.connection, sent(self))
end

-- The same for the older interface: the number of columns, or nil where it failed.
function sql.attempt_execute(statement)
  call_host(statement)
  local status, columns = yield(CALL)
  local con = statement.connection
  if status == 0 then
    con.error, con.has_rows = 0, columns > 0
    return columns
  end
  note(con, sent(statement))
end

sql.try_prepare = try_prepare

function Statement:next_result()
  return self.connection:next_result()
end

function Statement:close()
  if not self.handle then
    return 0
  end
  local con, handle = self.connection, self.handle
  free(self)
  local is_there = host.prepares and con.is_open and not self.is_pending
    and self.generation == con.generation
  if is_there then
    turn_to(con)
    if yield(host.close(handle) or CALL) ~= 0 then
      failed(con, self.sql)
    end
  end
  return 0
end

-- Parameters. What they hold is what the host sends.

local integer, real, text = "i", "r", "s"
local kinds = { integer, integer, integer, integer, real, real, [11] = text, [12] = text }

function Statement:bind_create(sql_type, max_len)
  local kind = kinds[sql_type]
  if not kind then
    error("Unsupported argument type: " .. tostring(sql_type), 2)
  end
  return setmetatable({
    statement = self, type = sql_type, kind = kind, max_len = max_len or false,
  }, parameter_meta)
end

function Statement:bind_param(...)
  local count, letters = select("#", ...), {}
  if count == 0 then
    return nil
  end
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
    error("Unsupported argument type: " .. tostring(self.type), 2)
  end
  local value = rand_string(template)
  local longest = self.max_len
  if longest and #value > longest then
    value = value:sub(1, longest)
  end
  self.value = value
end
