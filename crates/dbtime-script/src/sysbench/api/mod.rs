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
use mlua::{FromLuaMulti, IntoLuaMulti, Lua, Result, Table};
use std::rc::Rc;

/// Where functions go that Lua may call, and what they work on.
struct HostFunctions<'a> {
    lua: &'a Lua,
    lua_host: &'a Rc<LuaHost>,
    table: &'a Table,
}

impl HostFunctions<'_> {
    fn define<A: FromLuaMulti, R: IntoLuaMulti>(
        &self,
        name: &str,
        call: impl Fn(&Lua, &Rc<LuaHost>, A) -> Result<R> + 'static,
    ) -> Result<()> {
        let on = Rc::clone(self.lua_host);
        self.table.set(name, self.lua.create_function(move |lua, given| call(lua, &on, given))?)
    }
}

/// Fills the table.
pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let host = &HostFunctions { lua, lua_host, table: host };
    random::install(host)?;
    sql::install(host)?;
    output::install(host)?;
    tasks::install(host)?;
    shell::install(host)?;
    program_pipe::install(host)?;
    histogram::install(host)
}

/// A 32-bit number as C makes it of a Lua number: without its fraction, and wrapped.
#[inline]
fn wrapped(number: f64) -> u32 {
    number as i64 as u32
}
