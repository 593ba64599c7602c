//! Requests to the database, and what came of them.

mod failure;
mod prepared;

use super::HostFunctions;
use crate::sysbench::lua_host::{HostCall, LuaHost};
use crate::sysbench::sqlite;
use dbtime_model::SqlDialect;
use mlua::{LuaString, Result};
use std::borrow::Cow;

/// A bulk insert is sent when it would become longer than this.
const BULK_BYTES: usize = 512 * 1024;

/// So much of it is shown where it fails.
const SHOWN_CHARS: usize = 4000;

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    for (name, call) in [("connect", HostCall::Connect), ("disconnect", HostCall::Disconnect)] {
        host.define(name, move |_, on, ()| {
            on.slot.borrow_mut().set_call(call);
            Ok(())
        })?;
    }
    host.define("turn_to", |_, on, connection: u16| {
        on.slot.borrow_mut().select_connection(connection);
        Ok(())
    })?;
    queries(host)?;
    prepared::install(host)?;
    bulk(host)?;
    failure::install(host)?;
    results(host)
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

fn queries(host: &HostFunctions<'_>) -> Result<()> {
    host.define("query", |_, on, sql: LuaString| {
        let sql = utf8(&sql)?;
        let slot = &mut *on.slot.borrow_mut();
        (slot.call, slot.statement) = (HostCall::Query, Some(on.number(&sql)));
        slot.text.clear();
        slot.text.push_str(&rewrite_for_sqlite(on, &sql));
        Ok(())
    })?;
    host.define("rollback", |_, on, ()| {
        let slot = &mut *on.slot.borrow_mut();
        (slot.call, slot.statement) = (HostCall::Rollback, Some(on.number("ROLLBACK")));
        slot.text.clear();
        slot.text.push_str("ROLLBACK");
        Ok(())
    })?;
    host.define("sent", |lua, on, ()| lua.create_string(&on.slot.borrow().text))
}

fn bulk(host: &HostFunctions<'_>) -> Result<()> {
    host.define("bulk_begin", |_, on, prefix: LuaString| {
        let bulk = &mut on.slot.borrow_mut().bulk;
        bulk.prefix = (*utf8(&prefix)?).to_owned();
        bulk.text.clear();
        Ok(())
    })?;
    host.define("bulk_add", |_, on, values: LuaString| {
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
    host.define("bulk_take", |_, on, ()| {
        let slot = &mut *on.slot.borrow_mut();
        if slot.bulk.text.is_empty() {
            return Ok(false);
        }
        // Of its values nothing would be left: the fingerprint is that of the beginning.
        let id = on.number(&format!("{} (...)", slot.bulk.prefix));
        (slot.call, slot.statement) = (HostCall::Query, Some(id));
        slot.text.clear();
        slot.text.push_str(&rewrite_for_sqlite(on, &slot.bulk.text));
        slot.bulk.text.clear();
        Ok(true)
    })?;
    host.define("bulk_sent", |_, on, ()| {
        Ok(on.slot.borrow().text.chars().take(SHOWN_CHARS).collect::<String>())
    })
}

fn results(host: &HostFunctions<'_>) -> Result<()> {
    host.define("fetch_row", |lua, on, row: u64| {
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
    host.define("more_results", |_, on, ()| {
        let mut slot = on.slot.borrow_mut();
        let last_results = slot.last_result();
        Ok(last_results.set + 1 < last_results.results.len())
    })?;
    host.define("next_result", |_, on, ()| {
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
    })
}
