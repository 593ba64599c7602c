//! Programs that a script runs with `os.execute`.
//!
//! The C library's own way ignores Ctrl-C in this process as long as the program runs: nobody would
//! hear that the script is to end.

use super::HostFunctions;
use crate::programs::{raw_status, run_line};
use mlua::{LuaString, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    host.define("run_program", |_, on, command: LuaString| {
        let command = command.as_bytes();
        Ok(raw_status(on.visits.await_program(|| run_line(OsStr::from_bytes(&command)))))
    })?;
    host.define("is_to_end", |_, on, ()| Ok(on.setup.is_to_end()))
}
