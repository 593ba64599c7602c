//! Developer automation: the rules of the workspace that neither the compiler nor clippy knows.
//!
//! ```text
//! cargo run -p xtask -- floors    dependencies only point down
//! cargo run -p xtask -- tidy      files, names, lists and documents hold together
//! cargo run -p xtask              both
//! cargo run -p xtask -- record-format
//!                                 writes docs/record-format.md from the types of the record
//! cargo run -p xtask -- licences FILE
//!                                 writes the licences of all crates that dbtime is linked with
//! ```
//! The same checks are tests, so that `cargo test` runs them too.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers")]

mod floors;
mod licences;
mod metadata;
mod record_format;
mod tidy;
mod tree;

use anyhow::{Result, bail};
use std::process::ExitCode;
use tree::{SourceTree, TidyProblem};

/// Looks at the workspace and says what is wrong with it.
type CheckTask = fn(&SourceTree) -> Result<Vec<TidyProblem>>;

/// Every task, sorted. To add one, write its file and a line here.
const TASKS: &[(&str, CheckTask)] = &[("floors", floors::run), ("tidy", tidy::run)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Writes a file, and checks nothing.
type WriteTask = fn(&[String]) -> Result<()>;

/// Every task that writes a file: its name, what follows it on the command line, and its function.
const WRITERS: &[(&str, &str, WriteTask)] =
    &[("licences", " FILE", licences::run), ("record-format", "", record_format::run)];

/// Runs the named tasks, or all of them; whether nothing was found.
fn run(arguments: &[String]) -> Result<bool> {
    if let Some((name, rest)) = arguments.split_first()
        && let Some((_, _, write)) = WRITERS.iter().find(|(writer, _, _)| writer == name)
    {
        write(rest)?;
        return Ok(true);
    }
    if let Some(unknown) = arguments.iter().find(|a| TASKS.iter().all(|(name, _)| name != a)) {
        let writers = WRITERS.iter().map(|(name, rest, _)| format!("{name}{rest}"));
        let names: Vec<String> =
            TASKS.iter().map(|(name, _)| (*name).to_owned()).chain(writers).collect();
        bail!("there is no task `{unknown}`; there are: {}", names.join(", "));
    }
    let tree = SourceTree::read()?;
    let mut is_clean = true;
    for (name, task) in TASKS {
        if !arguments.is_empty() && arguments.iter().all(|a| a != name) {
            continue;
        }
        let problems = task(&tree)?;
        for problem in &problems {
            println!("{problem}");
        }
        let wrong = problems.iter().filter(|problem| !problem.is_advice).count();
        println!("{name}: {}", if wrong == 0 { "ok".to_owned() } else { format!("{wrong} wrong") });
        is_clean &= wrong == 0;
    }
    Ok(is_clean)
}
