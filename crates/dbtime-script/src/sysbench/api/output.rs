//! What a script prints, counts and waits for, and why it ends.

use super::wrapped;
use crate::sysbench::lua_host::LuaHost;
use crate::sysbench::output::LogPriority;
use crate::sysbench::stats::SysbenchCounter;
use dbtime_model::Nanos;
use mlua::{Lua, LuaString, Result, Table};
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// How scripts get to a database: sysbench's interface, or that of 0.5.
pub(in crate::sysbench) const DATABASES: [&str; 5] =
    ["sysbench.sql", "sysbench.db", "db_", "loadstring", "load("];

/// A script that says none of these reads no results, and none are kept for it. What is behind the
/// last two is not known yet.
const READERS: [&str; 6] =
    ["fetch_row", "query_row", "next_result", "more_results", "loadstring", "load("];

pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let write = lua.create_function(move |_, text: LuaString| {
        on.setup.settings.output.write(&text.to_string_lossy());
        Ok(())
    })?;
    host.set("write", write)?;
    let on = Rc::clone(lua_host);
    let log = lua.create_function(move |_, (priority, text): (u32, LuaString)| {
        let priority = LogPriority::numbered(priority);
        on.setup.settings.output.log(priority, &text.to_string_lossy());
        Ok(())
    })?;
    host.set("log", log)?;
    let on = Rc::clone(lua_host);
    type Trouble = (LuaString, LuaString, bool);
    let stop_reason = lua.create_function(move |_, (words, trace, is_late): Trouble| {
        let words = words.to_string_lossy();
        let trace = trace.to_string_lossy();
        if is_late {
            on.setup.report_fatal_after_run(&words, &trace)
        } else {
            on.report_fatal(&words, &trace)
        }
        Ok(())
    })?;
    host.set("trouble", stop_reason)?;
    let on = Rc::clone(lua_host);
    let seen = lua.create_function(move |_, source: LuaString| {
        let source = source.to_string_lossy();
        if READERS.iter().any(|reader| source.contains(reader)) {
            on.reads_rows.set(true);
        }
        if DATABASES.iter().any(|word| source.contains(word)) {
            on.names_sql.set(true);
        }
        Ok(())
    })?;
    host.set("seen", seen)?;
    let on = Rc::clone(lua_host);
    let exit = lua.create_function(move |_, status: f64| {
        if let Some(exit) = &on.setup.settings.exit {
            exit.call(status as i32);
        }
        Ok(())
    })?;
    host.set("exit", exit)?;
    counts(lua, host, lua_host)
}

fn counts(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let count = lua.create_function(move |_, number: f64| {
        let counter = SysbenchCounter::ALL.get(number as usize);
        let counter = counter.ok_or_else(|| {
            mlua::Error::runtime(format!("sb_counter_inc: there is no counter {number}"))
        })?;
        on.add_own(*counter);
        Ok(())
    })?;
    host.set("count", count)?;
    let on = Rc::clone(lua_host);
    let reconnected = lua.create_function(move |_, ()| {
        on.add_own(SysbenchCounter::Reconnect);
        Ok(())
    })?;
    host.set("reconnected", reconnected)?;
    let on = Rc::clone(lua_host);
    let uses_sql = lua.create_function(move |_, ()| {
        on.setup.uses_sql.store(true, Ordering::Relaxed);
        Ok(())
    })?;
    host.set("uses_sql", uses_sql)?;
    let on = Rc::clone(lua_host);
    let restarted = lua.create_function(move |_, ()| {
        on.slot.borrow_mut().restarts += 1;
        Ok(())
    })?;
    host.set("restarted", restarted)?;
    let on = Rc::clone(lua_host);
    let sleep = lua.create_function(move |_, microseconds: f64| {
        on.slot.borrow_mut().sleep = Nanos(u64::from(wrapped(microseconds)) * 1000);
        Ok(())
    })?;
    host.set("sleep", sleep)
}
