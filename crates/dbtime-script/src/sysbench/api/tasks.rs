//! What a main state is to do, and what came of it.

use super::HostFunctions;
use crate::sysbench::main_state::MainTask;
use mlua::{IntoLua, Lua, LuaString, Result, Value};

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    host.define("task", |lua, on, ()| {
        let task = on.task.take().ok_or_else(|| mlua::Error::runtime("there is no task"))?;
        described(lua, task)
    })?;
    host.define("answer", |_, on, answer: bool| {
        on.answer.replace(Some(Ok(answer)));
        Ok(())
    })?;
    host.define("refuse", |_, on, reason: LuaString| {
        on.answer.replace(Some(Err(reason.to_string_lossy())));
        Ok(())
    })
}

/// A task as `client.lua` takes it: its kind, a name, and what else it needs.
fn described(lua: &Lua, task: MainTask) -> Result<(&'static str, Value, Value)> {
    Ok(match task {
        MainTask::Options(_) => ("options", Value::Nil, Value::Nil),
        MainTask::Validate { name, text } => ("validate", name.into_lua(lua)?, text.into_lua(lua)?),
        MainTask::Command(name) => ("command", name.into_lua(lua)?, Value::Nil),
        MainTask::Function(name) => ("function", name.into_lua(lua)?, Value::Nil),
        MainTask::Hook(name, figures) => {
            let stat = lua.create_table()?;
            for (name, figure) in figures {
                stat.set(name, figure)?;
            }
            ("hook", name.into_lua(lua)?, Value::Table(stat))
        }
    })
}
