//! What Lua may call: the functions of the table `host`, which only our own Lua sees.
//!
//! None of them blocks but those of [`shell`] and [`program_pipe`]. Those of [`sql`] put a request
//! into the host; the Lua that called them yields then, and the request goes to the engine.

mod histogram;
mod output;
mod program_pipe;
mod random;
mod shell;
mod sql;
mod tasks;

pub(super) use output::DATABASES;

use super::lua_host::LuaHost;
use mlua::{Lua, Result, Table};
use std::rc::Rc;

/// Fills the table.
pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    random::install(lua, host, lua_host)?;
    sql::install(lua, host, lua_host)?;
    output::install(lua, host, lua_host)?;
    tasks::install(lua, host, lua_host)?;
    shell::install(lua, host, lua_host)?;
    program_pipe::install(lua, host, lua_host)?;
    histogram::install(lua, host)
}

/// A 32-bit number as C makes it of a Lua number: without its fraction, and wrapped.
#[inline]
fn wrapped(number: f64) -> u32 {
    number as i64 as u32
}
