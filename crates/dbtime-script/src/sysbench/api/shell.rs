//! Programs that a script runs with `os.execute`.
//!
//! The C library's own way ignores Ctrl-C in this process as long as the program runs: nobody would
//! hear that the script is to end.

use crate::programs::{raw_status, run_line};
use crate::sysbench::lua_host::LuaHost;
use mlua::{Lua, LuaString, Result, Table};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let run = lua.create_function(move |_, command: LuaString| {
        let command = command.as_bytes();
        Ok(raw_status(on.visits.await_program(|| run_line(OsStr::from_bytes(&command)))))
    })?;
    host.set("run_program", run)?;
    let on = Rc::clone(lua_host);
    let is_to_end = lua.create_function(move |_, ()| Ok(on.setup.is_to_end()))?;
    host.set("is_to_end", is_to_end)
}
