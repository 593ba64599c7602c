//! Requests to the database, and what came of them.

use crate::sysbench::desk::{Ask, Desk, Kind, Prepared, Slot};
use crate::sysbench::failure::Judged;
use crate::sysbench::literal;
use crate::sysbench::settings::Driver;
use crate::sysbench::sqlite;
use dbtime_load::program::Value;
use mlua::{LightUserData, Lua, LuaString, Result, Table, Value as Given, Variadic};
use std::borrow::Cow;
use std::ffi::c_void;
use std::rc::Rc;

/// A bulk insert is sent when it would become longer than this.
const BULK_BYTES: usize = 512 * 1024;

pub(super) fn install(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    for (name, ask) in [("connect", Ask::Connect), ("disconnect", Ask::Disconnect)] {
        let on = Rc::clone(desk);
        let function = lua.create_function(move |_, ()| {
            on.slot.borrow_mut().ask(ask);
            Ok(())
        })?;
        host.set(name, function)?;
    }
    let on = Rc::clone(desk);
    let turn_to = lua.create_function(move |_, connection: u16| {
        on.slot.borrow_mut().turn_to(connection);
        Ok(())
    })?;
    host.set("turn_to", turn_to)?;
    queries(lua, host, desk)?;
    statements(lua, host, desk)?;
    executions(lua, host, desk)?;
    bulk(lua, host, desk)?;
    failures(lua, host, desk)?;
    results(lua, host, desk)
}

/// The text as the database wants it.
fn spoken<'a>(desk: &Desk, sql: &'a str) -> Cow<'a, str> {
    match desk.setup.settings.driver {
        Driver::Sqlite => sqlite::rewritten(sql),
        Driver::Mysql | Driver::Pgsql => Cow::Borrowed(sql),
    }
}

fn utf8(text: &LuaString) -> Result<mlua::BorrowedStr> {
    text.to_str().map_err(|_| {
        mlua::Error::runtime(
            "the statement is not UTF-8; write other bytes as hexadecimal literals",
        )
    })
}

fn queries(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let query = lua.create_function(move |_, sql: LuaString| {
        let sql = utf8(&sql)?;
        let slot = &mut *on.slot.borrow_mut();
        (slot.ask, slot.statement) = (Ask::Query, Some(on.number(&sql)));
        slot.text.clear();
        slot.text.push_str(&spoken(&on, &sql));
        Ok(())
    })?;
    host.set("query", query)?;
    let on = Rc::clone(desk);
    let rollback = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        (slot.ask, slot.statement) = (Ask::Rollback, Some(on.number("ROLLBACK")));
        slot.text.clear();
        slot.text.push_str("ROLLBACK");
        Ok(())
    })?;
    host.set("rollback", rollback)
}

fn statements(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let new_handle = lua.create_function(move |_, ()| {
        let prepared = &mut on.slot.borrow_mut().prepared;
        let free = prepared.iter().position(Option::is_none).unwrap_or(prepared.len());
        if free == prepared.len() {
            prepared.push(None);
        }
        // Taken from here on, whether it is prepared now or once it is bound.
        let id = dbtime_model::StatementId(0);
        prepared[free] = Some(Prepared { id, kinds: Box::default(), text: None });
        Ok(free)
    })?;
    host.set("new_handle", new_handle)?;
    let on = Rc::clone(desk);
    let prepare = lua.create_function(move |_, (handle, sql): (u32, LuaString)| {
        prepare(&on, handle, &utf8(&sql)?);
        Ok(())
    })?;
    host.set("prepare", prepare)?;
    let on = Rc::clone(desk);
    let bind = lua.create_function(move |_, (handle, letters): (usize, LuaString)| {
        let kind = |letter: &u8| match letter {
            b'i' => Kind::Integer,
            b'r' => Kind::Real,
            _ => Kind::Text,
        };
        if let Some(Some(prepared)) = on.slot.borrow_mut().prepared.get_mut(handle) {
            prepared.kinds = letters.as_bytes().iter().map(kind).collect();
        }
        Ok(())
    })?;
    host.set("bind", bind)?;
    let on = Rc::clone(desk);
    let free_handle = lua.create_function(move |_, handle: usize| {
        if let Some(prepared) = on.slot.borrow_mut().prepared.get_mut(handle) {
            *prepared = None;
        }
        Ok(())
    })?;
    host.set("free_handle", free_handle)?;
    let on = Rc::clone(desk);
    let close = lua.create_function(move |_, handle: u32| {
        let slot = &mut *on.slot.borrow_mut();
        slot.handle = handle;
        slot.ask(Ask::Close);
        Ok(())
    })?;
    host.set("close", close)
}

/// The number of the statement is found here, so that executing it looks nothing up.
fn prepare(desk: &Desk, handle: u32, sql: &str) {
    let setup = &desk.setup;
    let sql = match setup.settings.driver {
        Driver::Pgsql if setup.prepares => Cow::Owned(literal::numbered(sql)),
        _ => spoken(desk, sql),
    };
    let id = desk.number(&sql);
    let slot = &mut *desk.slot.borrow_mut();
    slot.ask(Ask::Prepare);
    slot.handle = handle;
    slot.text.clear();
    slot.text.push_str(&sql);
    let text = (!setup.prepares).then(|| Box::from(&*sql));
    if let Some(prepared) = slot.prepared.get_mut(handle as usize) {
        *prepared = Some(Prepared { id, kinds: Box::default(), text });
    }
}

fn executions(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    type Few = (u32, Given, Given, Given, Given);
    let few = lua
        .create_function(move |_, (handle, a, b, c, d): Few| execute(&on, handle, &[a, b, c, d]))?;
    host.set("execute", few)?;
    let on = Rc::clone(desk);
    let many = lua.create_function(move |_, (handle, values): (u32, Variadic<Given>)| {
        execute(&on, handle, &values)
    })?;
    host.set("execute_many", many)?;
    host.set("put_numbers", LightUserData(put_numbers as *mut c_void))
}

/// Asks for a statement whose parameters are numbers, at most four. Returns 0 where it has others,
/// or is none of the server's: then it goes the long way. LuaJIT calls this from what it has
/// compiled.
///
/// # Safety
/// `desk` is the address that the Lua state was given, and that state is alive: it holds a share in
/// the desk for as long.
unsafe extern "C" fn put_numbers(
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    desk: *const Desk,
    handle: u32,
    count: u32,
) -> u32 {
    // SAFETY: see above; the desk is only ever shared.
    let desk = unsafe { &*desk };
    let numbers = [a, b, c, d];
    let is_put = desk.slot.try_borrow_mut().ok().zip(numbers.get(..count as usize));
    u32::from(is_put.is_some_and(|(mut slot, numbers)| put(&mut slot, handle, numbers)))
}

#[inline]
fn put(slot: &mut Slot, handle: u32, numbers: &[f64]) -> bool {
    let Slot { ask, values, statement, prepared, handle: own, .. } = slot;
    let Some(Some(prepared)) = prepared.get(handle as usize) else { return false };
    if prepared.text.is_some() || prepared.kinds.len() != numbers.len() {
        return false;
    }
    values.resize(numbers.len(), Value::Null);
    for ((value, kind), number) in values.iter_mut().zip(&*prepared.kinds).zip(numbers) {
        *value = match kind {
            Kind::Integer => Value::Integer(*number as i64),
            Kind::Real => Value::Real(*number),
            Kind::Text => return false,
        };
    }
    (*ask, *own, *statement) = (Ask::Execute, handle, Some(prepared.id));
    true
}

#[inline]
fn execute(desk: &Desk, handle: u32, given: &[Given]) -> Result<()> {
    let Slot { ask, text, values, statement, prepared, handle: own, .. } =
        &mut **desk.slot.borrow_mut();
    let Some(Some(prepared)) = prepared.get(handle as usize) else {
        return Err(mlua::Error::runtime("the statement is closed"));
    };
    values.resize(prepared.kinds.len(), Value::Null);
    for (index, (value, &kind)) in values.iter_mut().zip(&*prepared.kinds).enumerate() {
        set(value, kind, given.get(index))?;
    }
    (*ask, *own, *statement) = (Ask::Execute, handle, Some(prepared.id));
    if let Some(pattern) = &prepared.text {
        let has_escapes = desk.setup.settings.driver == Driver::Mysql;
        literal::filled(pattern, values, has_escapes, text);
        *ask = Ask::Query;
    }
    Ok(())
}

/// The value as its parameter's type has it. A text keeps its room.
#[inline]
fn set(value: &mut Value, kind: Kind, given: Option<&Given>) -> Result<()> {
    *value = match (kind, given) {
        (_, None | Some(Given::Nil)) => Value::Null,
        (Kind::Integer, Some(Given::Integer(number))) => Value::Integer(*number),
        (Kind::Integer, Some(Given::Number(number))) => Value::Integer(*number as i64),
        (Kind::Real, Some(Given::Integer(number))) => Value::Real(*number as f64),
        (Kind::Real, Some(Given::Number(number))) => Value::Real(*number),
        (Kind::Text, Some(Given::String(given))) => {
            let given = given.to_str().map_err(|_| {
                mlua::Error::runtime("a parameter is not UTF-8; only text can be sent")
            })?;
            if let Value::Text(text) = value {
                text.clear();
                text.push_str(&given);
                return Ok(());
            }
            Value::Text((*given).to_owned())
        }
        (_, Some(Given::String(digits))) => from_digits(kind, &digits.to_string_lossy()),
        (_, Some(other)) => {
            let kind = other.type_name();
            return Err(mlua::Error::runtime(format!("a parameter cannot be a {kind}")));
        }
    };
    Ok(())
}

/// A 64-bit number that Lua's own numbers cannot hold.
fn from_digits(kind: Kind, digits: &str) -> Value {
    if kind == Kind::Real {
        return digits.parse().map_or(Value::Null, Value::Real);
    }
    let unsigned = || digits.parse::<u64>().map(u64::cast_signed);
    digits.parse().or_else(|_| unsigned()).map_or(Value::Null, Value::Integer)
}

fn bulk(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let begin = lua.create_function(move |_, prefix: LuaString| {
        let bulk = &mut on.slot.borrow_mut().bulk;
        bulk.prefix = (*utf8(&prefix)?).to_owned();
        bulk.text.clear();
        Ok(())
    })?;
    host.set("bulk_begin", begin)?;
    let on = Rc::clone(desk);
    let add = lua.create_function(move |_, values: LuaString| {
        let bulk = &mut on.slot.borrow_mut().bulk;
        let values = utf8(&values)?;
        if bulk.text.is_empty() {
            bulk.text.push_str(&bulk.prefix);
        } else if bulk.text.len() + values.len() + 1 > BULK_BYTES {
            return Ok(false);
        } else {
            bulk.text.push(',');
        }
        bulk.text.push_str(&values);
        Ok(true)
    })?;
    host.set("bulk_add", add)?;
    let on = Rc::clone(desk);
    let take = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        if slot.bulk.text.is_empty() {
            return Ok(false);
        }
        // Of its values nothing would be left: the fingerprint is that of the beginning.
        let id = on.number(&format!("{} (...)", slot.bulk.prefix));
        (slot.ask, slot.statement) = (Ask::Query, Some(id));
        slot.text.clear();
        slot.text.push_str(&spoken(&on, &slot.bulk.text));
        slot.bulk.text.clear();
        Ok(true)
    })?;
    host.set("bulk_take", take)
}

fn failures(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let failure = lua.create_function(move |lua, ()| {
        let slot = on.slot.borrow();
        let failed = slot.failure.as_ref();
        let failed = failed.ok_or_else(|| mlua::Error::runtime("nothing has failed"))?;
        Ok((
            failed.is_ignorable,
            failed.is_lost,
            failed.wants_rollback,
            failed.number,
            lua.create_string(&failed.state)?,
            lua.create_string(&failed.message)?,
        ))
    })?;
    host.set("failure", failure)?;
    let on = Rc::clone(desk);
    let log = lua.create_function(move |_, query: LuaString| {
        let text = said(&on.slot.borrow(), on.setup.settings.driver, &query.to_string_lossy());
        on.setup.settings.output.write(&text);
        Ok(())
    })?;
    host.set("log_failure", log)
}

/// What the driver says about a failure that ends the run.
fn said(slot: &Slot, driver: Driver, query: &str) -> String {
    let Some(Judged { number, message, .. }) = &slot.failure else { return String::new() };
    match (driver, slot.ask) {
        (Driver::Pgsql, Ask::Connect) => {
            format!("FATAL: Connection to database failed: {message}\n")
        }
        (Driver::Pgsql, Ask::Prepare) => format!("FATAL: PQprepare() failed: {message}\n"),
        (Driver::Pgsql, ask) => {
            let function = if ask == Ask::Execute { "PQexecPrepared" } else { "PQexec" };
            format!("FATAL: {function}() failed: 7 {message}\nFATAL: failed query was: {query}\n")
        }
        (_, Ask::Connect) => format!(
            "FATAL: unable to connect to MySQL server, aborting...\n\
             FATAL: error {number}: {message}\n"
        ),
        (_, Ask::Prepare) => format!(
            "FATAL: mysql_stmt_prepare() failed\nFATAL: MySQL error: {number} \"{message}\"\n"
        ),
        (_, ask) => {
            let function =
                if ask == Ask::Execute { "mysql_stmt_execute" } else { "mysql_drv_query" };
            format!("FATAL: {function}() returned error {number} ({message}) for query '{query}'\n")
        }
    }
}

fn results(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let fetch = lua.create_function(move |lua, row: u64| {
        if !on.reads_rows.get() {
            return Err(mlua::Error::runtime(
                "no rows were kept, for no file of the script says fetch_row or query_row",
            ));
        }
        let mut slot = on.slot.borrow_mut();
        let brought = slot.brought();
        let set = brought.results.set(brought.set);
        let set = set.ok_or_else(|| mlua::Error::runtime("the result is gone"))?;
        let out = lua.create_table_with_capacity(set.columns(), 0)?;
        for column in 0..set.columns() {
            if let Some(value) = set.value(row, column) {
                out.raw_set(column + 1, lua.create_string(value)?)?;
            }
        }
        Ok(out)
    })?;
    host.set("fetch_row", fetch)?;
    let on = Rc::clone(desk);
    let more = lua.create_function(move |_, ()| {
        let mut slot = on.slot.borrow_mut();
        let brought = slot.brought();
        Ok(brought.set + 1 < brought.results.len())
    })?;
    host.set("more_results", more)?;
    let on = Rc::clone(desk);
    let next = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        let client = slot.client;
        let brought = slot.brought();
        let Some(set) = brought.results.set(brought.set + 1) else { return Ok((None, 0)) };
        brought.set += 1;
        on.count(client, set.columns(), set.affected());
        let rows = if set.columns() == 0 { set.affected() } else { set.rows() };
        Ok((Some(set.columns()), rows))
    })?;
    host.set("next_result", next)
}
