//! `-i`: the tables, and what pgbench says while it makes them.

use super::PgbenchJob;
use super::target::PgbenchPlace;
use crate::exit::CommandFailure;
use crate::screen;
use dbtime_lab::OneShot;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_script::pgbench::options::InitOptions;
use dbtime_script::pgbench::{
    DEFAULT_STEPS, LoadingProgress, LoadingScript, PartitionScheme, PgbenchTables, ResultTable,
    init_steps,
};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// How many accounts there are between two lines about them.
const ROWS_PER_LINE: u64 = 100_000;

/// How long it is between two such lines with `-q`.
const QUIET_INTERVAL: Nanos = Nanos::from_secs(5);

/// Makes the tables that a command line asks for.
pub(super) fn run(job: &PgbenchJob, what: &InitOptions) -> Result<(), CommandFailure> {
    let initialization = PgbenchTables {
        dialect: job.place.dialect,
        scale: what.scale.into(),
        fillfactor: what.fillfactor.unwrap_or(100),
        tablespace: what.tablespace.clone(),
        index_tablespace: what.index_tablespace.clone(),
        unlogged: what.is_unlogged,
        partitions: what.partitions,
    };
    let pace = if what.is_quiet { InitPace::Quiet } else { InitPace::Usual };
    let (loading, printer) = loading(&what.steps, &initialization, &job.place.database, pace)?;
    job.once("initialize", OneShot::Tables, Arc::new(loading))?;
    screen::to_stderr(&printer.last_line());
    Ok(())
}

/// What makes the tables of a target that is made for a run.
pub(super) fn of_run(place: &PgbenchPlace, scale: u64) -> Result<LoadingScript, CommandFailure> {
    let initialization =
        PgbenchTables { dialect: place.dialect, scale, ..PgbenchTables::default() };
    let loading = loading(DEFAULT_STEPS, &initialization, &place.database, InitPace::Quiet)?;
    Ok(loading.0)
}

fn loading(
    letters: &str,
    initialization: &PgbenchTables,
    database: &str,
    pace: InitPace,
) -> Result<(LoadingScript, Arc<LoadingPrinter>), CommandFailure> {
    let steps = init_steps(letters, initialization).map_err(CommandFailure::usage)?;
    let parts = match initialization.partitions {
        Some(PartitionScheme::Range(parts) | PartitionScheme::Hash(parts)) => parts,
        None => 0,
    };
    let printer = Arc::new(LoadingPrinter { pace, parts, state: Mutex::new(InitState::new()) });
    let listener = Arc::clone(&printer);
    let listen = move |progress: LoadingProgress<'_>| listener.print(&progress);
    Ok((LoadingScript::new(steps, initialization, database, listen), printer))
}

/// How often rows are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InitPace {
    Usual,
    Quiet,
}

/// Prints pgbench's lines.
struct LoadingPrinter {
    pace: InitPace,
    /// Parts of the accounts; 0: one table.
    parts: u32,
    state: Mutex<InitState>,
}

struct InitState {
    begun: MonoNanos,
    step_began: MonoNanos,
    /// When rows began to be loaded.
    loading_began: Option<MonoNanos>,
    /// How many lines of rows with `-q` there have been.
    lines: u64,
    /// Steps that are done, and what they took.
    done: Vec<(&'static str, Nanos)>,
}

impl InitState {
    fn new() -> Self {
        let begun = now();
        Self { begun, step_began: begun, loading_began: None, lines: 0, done: Vec::new() }
    }
}

impl LoadingPrinter {
    fn print(&self, progress: &LoadingProgress<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let present = now();
        match progress {
            LoadingProgress::Begins(step) => {
                (state.step_began, state.loading_began, state.lines) = (present, None, 0);
                screen::note(step.notice);
                if step.letter == 't' && self.parts > 0 {
                    screen::note(&format!("creating {} partitions...", self.parts));
                }
            }
            LoadingProgress::Loaded { table: ResultTable::Accounts, done, total } => {
                let began = state.step_began;
                let elapsed = present - *state.loading_began.get_or_insert(began);
                let is_due = match self.pace {
                    InitPace::Usual => done.is_multiple_of(ROWS_PER_LINE),
                    InitPace::Quiet => done == total || elapsed.0 / QUIET_INTERVAL.0 > state.lines,
                };
                if is_due {
                    state.lines = elapsed.0 / QUIET_INTERVAL.0;
                    screen::note(&rows_line(*done, *total, elapsed));
                }
            }
            LoadingProgress::Loaded { .. } => {}
            LoadingProgress::Ended(step) => {
                let took = present - state.step_began;
                state.done.push((step.name, took));
            }
        }
    }

    fn last_line(&self) -> String {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut steps = String::new();
        for (index, (name, took)) in state.done.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // Writing into a `String` cannot fail.
            let _ = write!(steps, "{comma}{name} {:.2} s", took.as_secs());
        }
        format!("done in {:.2} s ({steps}).\n", (now() - state.begun).as_secs())
    }
}

fn rows_line(done: u64, total: u64, elapsed: Nanos) -> String {
    let (percent, elapsed) = (done * 100 / total, elapsed.as_secs());
    let remaining = (total - done) as f64 * elapsed / done as f64;
    format!(
        "{done} of {total} tuples ({percent}%) done (elapsed {elapsed:.2} s, remaining \
         {remaining:.2} s)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_of_as_pgbench_does() {
        let line = rows_line(100_000, 300_000, Nanos::from_millis(160));
        let expected = "100000 of 300000 tuples (33%) done (elapsed 0.16 s, remaining 0.32 s)";
        assert_eq!(line, expected);
    }
}
