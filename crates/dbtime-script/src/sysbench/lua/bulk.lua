-- Bulk inserts of connections. The functions say whether all went well; what did not is said.

local rt = ...
local host, CALL, sql = rt.host, rt.code.call, rt.sql
local yield = coroutine.yield
local raise, note, raise_failure = sql.raise, sql.note, sql.raise_failure
local is_usable, turn_to, Connection = sql.is_usable, sql.turn_to, sql.Connection
local IGNORABLE, ALERT = 1, 1

function sql.bulk_begin(con, prefix)
  if not is_usable(con) then
    return true
  end
  local other = con.client.bulk
  if other and other ~= con and other.is_bulk then
    raise("a bulk insert of the same thread is under way on another connection: end it first")
  end
  con.is_bulk, con.client.bulk = true, con
  host.bulk_begin(prefix)
  return true
end

-- Sends what has come together.
local function flush(con)
  if host.bulk_take() and yield(CALL) ~= 0 then
    note(con, host.bulk_sent())
    return false
  end
  return true
end

function sql.bulk_add(con, values)
  if not is_usable(con) then
    return true
  elseif not con.is_bulk then
    host.log(ALERT, "attempt to call bulk_insert_next() before bulk_insert_init()")
    return false
  elseif host.bulk_add(values) then
    return true
  end
  return flush(con) and host.bulk_add(values)
end

function sql.bulk_end(con)
  if not con.is_bulk then
    return true
  end
  con.is_bulk = false
  turn_to(con)
  return flush(con)
end

-- Raises what a bulk insert has failed by; one that may be ignored begins the event anew.
local function check_bulk(con, is_done, name)
  if not is_done and con.error == IGNORABLE then
    raise_failure(con, "a bulk insert")
  end
  return is_done or raise("db_bulk_insert_" .. name .. "() failed")
end

function Connection:bulk_insert_init(prefix)
  return check_bulk(self, sql.bulk_begin(self, prefix), "init")
end

function Connection:bulk_insert_next(values)
  return check_bulk(self, sql.bulk_add(self, values), "next")
end

function Connection:bulk_insert_done()
  return check_bulk(self, sql.bulk_end(self), "done")
end
