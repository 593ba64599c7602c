//! Where PostgreSQL's processes write down what they wait for: `my_wait_event_info`, exported since
//! version 14, holds the address.

use super::program::ServerProgram;
use crate::trace::servers::unreadable;
use procfs::process::{MMapPath, Process};

/// Where the variable lies in a program that is not moved as it is loaded.
///
/// # Errors
/// Why it is not known, for people.
pub(crate) fn wait_variable(program: &ServerProgram) -> Result<u64, String> {
    program.extent("my_wait_event_info").map(|variable| variable.start)
}

/// Where the variable lies in the processes of a server, which are copies of the first and have
/// their program at `base`.
pub(crate) fn wait_event(base: u64, variable: u64) -> u64 {
    if variable >= base { variable } else { base.wrapping_add(variable) }
}

/// Where a process has its program.
///
/// # Errors
/// Why it is not known, for people.
pub(crate) fn program_base(process: u32) -> Result<u64, String> {
    base(process).map_err(|error| unreadable(&error))
}

fn base(process: u32) -> procfs::ProcResult<u64> {
    let process = Process::new(process.cast_signed())?;
    let program = process.exe()?;
    let maps = process.maps()?;
    let of_program = |path: &MMapPath| matches!(path, MMapPath::Path(path) if *path == program);
    let starts = maps.iter().filter(|map| of_program(&map.pathname)).map(|map| map.address.0);
    starts.min().ok_or_else(|| procfs::ProcError::Other("it has no program".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_lies_where_this_function_is() {
        let own = base(std::process::id()).expect("it runs");
        let here = wait_event as *const () as u64;
        assert!((own..own + (1 << 32)).contains(&here), "{own:x} {here:x}");
    }
}
