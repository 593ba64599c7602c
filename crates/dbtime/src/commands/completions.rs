//! `dbtime completions`: what completes command lines in a shell, from the grammar itself.

use crate::cli::{self, CompletionsArgs};
use crate::exit::ProcessExit;
use crate::screen;

pub(crate) fn run(args: &CompletionsArgs) -> ProcessExit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::public_command(), "dbtime", &mut script);
    screen::result(&String::from_utf8_lossy(&script));
    ProcessExit::Fine
}
