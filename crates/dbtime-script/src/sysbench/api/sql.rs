//! Requests to the database, and what came of them.

mod failure;
mod prepared;

use crate::sysbench::lua_host::{HostCall, LuaHost};
use crate::sysbench::sqlite;
use dbtime_model::SqlDialect;
use mlua::{Lua, LuaString, Result, Table};
use std::borrow::Cow;
use std::rc::Rc;

/// A bulk insert is sent when it would become longer than this.
const BULK_BYTES: usize = 512 * 1024;

/// So much of it is shown where it fails.
const SHOWN_CHARS: usize = 4000;

pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    for (name, call) in [("connect", HostCall::Connect), ("disconnect", HostCall::Disconnect)] {
        let on = Rc::clone(lua_host);
        let function = lua.create_function(move |_, ()| {
            on.slot.borrow_mut().set_call(call);
            Ok(())
        })?;
        host.set(name, function)?;
    }
    let on = Rc::clone(lua_host);
    let select_connection = lua.create_function(move |_, connection: u16| {
        on.slot.borrow_mut().select_connection(connection);
        Ok(())
    })?;
    host.set("turn_to", select_connection)?;
    queries(lua, host, lua_host)?;
    prepared::install(lua, host, lua_host)?;
    bulk(lua, host, lua_host)?;
    failure::install(lua, host, lua_host)?;
    results(lua, host, lua_host)
}

/// The text as the database wants it.
fn rewrite_for_sqlite<'a>(lua_host: &LuaHost, sql: &'a str) -> Cow<'a, str> {
    match lua_host.setup.settings.driver {
        SqlDialect::Sqlite => sqlite::rewritten(sql),
        SqlDialect::Mysql | SqlDialect::Postgres => Cow::Borrowed(sql),
    }
}

fn utf8(text: &LuaString) -> Result<mlua::BorrowedStr> {
    text.to_str().map_err(|_| {
        mlua::Error::runtime(
            "the statement is not UTF-8; write other bytes as hexadecimal literals",
        )
    })
}

fn queries(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let query = lua.create_function(move |_, sql: LuaString| {
        let sql = utf8(&sql)?;
        let slot = &mut *on.slot.borrow_mut();
        (slot.call, slot.statement) = (HostCall::Query, Some(on.number(&sql)));
        slot.text.clear();
        slot.text.push_str(&rewrite_for_sqlite(&on, &sql));
        Ok(())
    })?;
    host.set("query", query)?;
    let on = Rc::clone(lua_host);
    let rollback = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        (slot.call, slot.statement) = (HostCall::Rollback, Some(on.number("ROLLBACK")));
        slot.text.clear();
        slot.text.push_str("ROLLBACK");
        Ok(())
    })?;
    host.set("rollback", rollback)?;
    let on = Rc::clone(lua_host);
    let sent = lua.create_function(move |lua, ()| lua.create_string(&on.slot.borrow().text))?;
    host.set("sent", sent)
}

fn bulk(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let begin = lua.create_function(move |_, prefix: LuaString| {
        let bulk = &mut on.slot.borrow_mut().bulk;
        bulk.prefix = (*utf8(&prefix)?).to_owned();
        bulk.text.clear();
        Ok(())
    })?;
    host.set("bulk_begin", begin)?;
    let on = Rc::clone(lua_host);
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
    let on = Rc::clone(lua_host);
    let take = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        if slot.bulk.text.is_empty() {
            return Ok(false);
        }
        // Of its values nothing would be left: the fingerprint is that of the beginning.
        let id = on.number(&format!("{} (...)", slot.bulk.prefix));
        (slot.call, slot.statement) = (HostCall::Query, Some(id));
        slot.text.clear();
        slot.text.push_str(&rewrite_for_sqlite(&on, &slot.bulk.text));
        slot.bulk.text.clear();
        Ok(true)
    })?;
    host.set("bulk_take", take)?;
    let on = Rc::clone(lua_host);
    let sent = lua.create_function(move |_, ()| {
        Ok(on.slot.borrow().text.chars().take(SHOWN_CHARS).collect::<String>())
    })?;
    host.set("bulk_sent", sent)
}

fn results(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let fetch = lua.create_function(move |lua, row: u64| {
        if !on.reads_rows.get() {
            return Err(mlua::Error::runtime(
                "no rows were kept, as no file of the script names fetch_row or query_row",
            ));
        }
        let mut slot = on.slot.borrow_mut();
        let last_results = slot.last_result();
        let set = last_results.results.set(last_results.set);
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
    let on = Rc::clone(lua_host);
    let more = lua.create_function(move |_, ()| {
        let mut slot = on.slot.borrow_mut();
        let last_results = slot.last_result();
        Ok(last_results.set + 1 < last_results.results.len())
    })?;
    host.set("more_results", more)?;
    let on = Rc::clone(lua_host);
    let next = lua.create_function(move |_, ()| {
        let slot = &mut *on.slot.borrow_mut();
        let client = slot.client;
        let last_results = slot.last_result();
        let Some(set) = last_results.results.set(last_results.set + 1) else {
            return Ok((None, 0));
        };
        last_results.set += 1;
        on.count(client, set.columns(), set.affected());
        let rows = if set.columns() == 0 { set.affected() } else { set.rows() };
        Ok((Some(set.columns()), rows))
    })?;
    host.set("next_result", next)
}
