//! What a script prints, counts and waits for, and why it ends.

use super::{HostFunctions, wrapped};
use crate::sysbench::output::LogPriority;
use crate::sysbench::stats::SysbenchCounter;
use dbtime_model::Nanos;
use mlua::{LuaString, Result};
use std::sync::atomic::Ordering;

/// How scripts get to a database: sysbench's interface, or that of 0.5.
pub(in crate::sysbench) const DATABASES: [&str; 5] =
    ["sysbench.sql", "sysbench.db", "db_", "loadstring", "load("];

/// A script that says none of these reads no results, and none are kept for it. What is behind the
/// last two is not known yet.
const READERS: [&str; 6] =
    ["fetch_row", "query_row", "next_result", "more_results", "loadstring", "load("];

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    host.define("write", |_, on, text: LuaString| {
        on.setup.settings.output.write(&text.to_string_lossy());
        Ok(())
    })?;
    host.define("log", |_, on, (priority, text): (u32, LuaString)| {
        let priority = LogPriority::numbered(priority);
        on.setup.settings.output.log(priority, &text.to_string_lossy());
        Ok(())
    })?;
    type Trouble = (LuaString, LuaString, bool);
    host.define("trouble", |_, on, (words, trace, is_late): Trouble| {
        let words = words.to_string_lossy();
        let trace = trace.to_string_lossy();
        if is_late {
            on.setup.report_fatal_after_run(&words, &trace)
        } else {
            on.report_fatal(&words, &trace)
        }
        Ok(())
    })?;
    host.define("seen", |_, on, source: LuaString| {
        let source = source.to_string_lossy();
        if READERS.iter().any(|reader| source.contains(reader)) {
            on.reads_rows.set(true);
        }
        if DATABASES.iter().any(|word| source.contains(word)) {
            on.names_sql.set(true);
        }
        Ok(())
    })?;
    host.define("exit", |_, on, status: f64| {
        if let Some(exit) = &on.setup.settings.exit {
            exit.call(status as i32);
        }
        Ok(())
    })?;
    counts(host)
}

fn counts(host: &HostFunctions<'_>) -> Result<()> {
    host.define("count", |_, on, number: f64| {
        let counter = SysbenchCounter::ALL.get(number as usize);
        let counter = counter.ok_or_else(|| {
            mlua::Error::runtime(format!("sb_counter_inc: there is no counter {number}"))
        })?;
        on.add_own(*counter);
        Ok(())
    })?;
    host.define("reconnected", |_, on, ()| {
        on.add_own(SysbenchCounter::Reconnect);
        Ok(())
    })?;
    host.define("uses_sql", |_, on, ()| {
        on.setup.uses_sql.store(true, Ordering::Relaxed);
        Ok(())
    })?;
    host.define("restarted", |_, on, ()| {
        on.slot.borrow_mut().restarts += 1;
        Ok(())
    })?;
    host.define("sleep", |_, on, microseconds: f64| {
        on.slot.borrow_mut().sleep = Nanos(u64::from(wrapped(microseconds)) * 1000);
        Ok(())
    })
}
