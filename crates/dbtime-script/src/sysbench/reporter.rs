//! The report hooks of a script, in a state of their own: like the report threads of sysbench they
//! see none of the globals of the clients.

use super::declared::open;
use super::script::{ScriptError, Setup};
use super::state::State;
use mlua::{Function, Table};
use std::sync::Arc;

/// A script's report hooks. They stay on the thread that made them.
pub struct Reporter {
    state: State,
    tid: u32,
}

impl Reporter {
    pub(super) fn new(setup: Arc<Setup>) -> Result<Self, ScriptError> {
        let tid = setup.settings.threads;
        Ok(Self { state: open(setup, tid)?, tid })
    }

    /// Calls `sysbench.hooks.report_intermediate` with the figures of an interval; times are in
    /// seconds. `false`: the script has no such hook.
    ///
    /// # Errors
    /// The hook failed.
    pub fn intermediate(&self, figures: &[(&str, f64)]) -> Result<bool, ScriptError> {
        self.report("report_intermediate", figures)
    }

    /// The same for `sysbench.hooks.report_cumulative`.
    ///
    /// # Errors
    /// The hook failed.
    pub fn cumulative(&self, figures: &[(&str, f64)]) -> Result<bool, ScriptError> {
        self.report("report_cumulative", figures)
    }

    /// Ends what reports have begun to print: the list of `sysbench.report_json`.
    ///
    /// # Errors
    /// Lua failed.
    pub fn finish(&self) -> Result<(), ScriptError> {
        self.state
            .own("finish_reports")
            .and_then(|finish| call(&finish, ()))
            .map_err(|error| ScriptError::Lua(format!("FATAL: {error}")))
    }

    fn report(&self, hook: &str, figures: &[(&str, f64)]) -> Result<bool, ScriptError> {
        self.call(hook, figures).map_err(|error| {
            ScriptError::Lua(format!("FATAL: `sysbench.hooks.{hook}' function failed: {error}"))
        })
    }

    fn call(&self, hook: &str, figures: &[(&str, f64)]) -> mlua::Result<bool> {
        let sysbench: Table = self.state.globals(self.tid)?.get("sysbench")?;
        let Some(hook) = sysbench.get::<Table>("hooks")?.get::<Option<Function>>(hook)? else {
            return Ok(false);
        };
        let stat = self.state.lua().create_table()?;
        for (name, figure) in figures {
            stat.set(*name, *figure)?;
        }
        call(&self.state.own("call")?, (self.tid, hook, stat))?;
        Ok(true)
    }
}

fn call(function: &mlua::Value, arguments: impl mlua::IntoLuaMulti) -> mlua::Result<()> {
    match function.as_function() {
        Some(function) => function.call(arguments),
        None => Err(mlua::Error::runtime("a function was expected")),
    }
}
