//! The command line: reads flags, calls the lab, shows what comes back.

#![forbid(unsafe_code)]

mod artifacts;
mod begun_files;
mod cli;
mod commands;
mod document_output;
mod exit;
mod foreign;
mod foreign_files;
mod given_secrets;
mod group_records;
mod interrupt;
mod live;
mod live_phase;
mod log_digests;
mod output_file;
mod own_stream;
mod parent_watch;
mod pipes;
mod program_end;
mod program_guard;
mod read_files;
mod recorded_sweep;
mod recording_end;
mod run_events;
mod run_leftovers;
mod screen;
mod secrets;
mod spec;
mod study;
mod sweep;

use exit::{CommandFailure, ProcessExit};
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::survive_file_limits();
    program_guard::install();
    let outcome = std::panic::catch_unwind(|| {
        let cli = cli::parse(std::env::args_os())?;
        commands::dispatch(cli.command)
    });
    let exit = match outcome {
        Ok(Ok(exit)) => {
            begun_files::end_all(&format!("exit code {}; see what it printed", exit.code()));
            exit
        }
        Ok(Err(failure)) => {
            let words = failure.words();
            let exit = failure.report();
            begun_files::end_all(&words);
            exit
        }
        Err(_) => {
            screen::error("this is a bug in dbtime: please report the lines above");
            begun_files::end_all("a bug in dbtime; see what it printed");
            ProcessExit::Bug
        }
    };
    let exit = match screen::loss() {
        Some(error) => {
            screen::error(&format!("cannot write the output to stdout: {error}"));
            exit.without_output()
        }
        None => exit,
    };
    // The state of a script that ran out of memory is left to the system, with its programs.
    program_end::end_programs();
    program_end::name_survivors();
    exit.into()
}

impl From<clap::Error> for CommandFailure {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error.into())
    }
}
