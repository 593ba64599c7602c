//! Programs that a script runs with `os.execute`.
//!
//! The C library's own way ignores Ctrl-C in this process as long as the program runs: nobody would
//! hear that the script is to end.

use mlua::{Lua, LuaString, Result, Table};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// What is told of a program that could not be started.
const NOT_STARTED: i32 = -1;

pub(super) fn install(lua: &Lua, host: &Table) -> Result<()> {
    let run = lua.create_function(|_, command: LuaString| {
        let command = command.as_bytes();
        let status = Command::new("/bin/sh").arg("-c").arg(OsStr::from_bytes(&command)).status();
        Ok(status.map_or(NOT_STARTED, ExitStatusExt::into_raw))
    })?;
    host.set("run_program", run)
}
