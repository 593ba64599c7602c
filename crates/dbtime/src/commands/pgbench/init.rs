//! `-i`: the tables, and what pgbench says while it makes them.

use super::{INITIALIZE, Job};
use crate::exit::Failure;
use crate::screen;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos, SqlDialect};
use dbtime_script::pgbench::Loading;
use dbtime_script::pgbench::init::{DEFAULT_STEPS, Initialization, Partitions, steps};
use dbtime_script::pgbench::loading::Told;
use dbtime_script::pgbench::options::{Initialize, PartitionMethod, Step};
use dbtime_script::pgbench::rows::Table;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// How many accounts there are between two lines about them.
const TOLD_ROWS: u64 = 100_000;

/// How long it is between two such lines with `-q`.
const TOLD_QUIETLY: Nanos = Nanos::from_secs(5);

/// Makes the tables that a command line asks for.
pub(super) fn run(job: &Job, what: &Initialize) -> Result<(), Failure> {
    let letters: String = what.steps.iter().map(|step| letter(*step)).collect();
    let wanted = Initialization {
        dialect: job.place.dialect,
        scale: what.scale.into(),
        fillfactor: what.fillfactor.unwrap_or(100),
        tablespace: what.tablespace.clone(),
        index_tablespace: what.index_tablespace.clone(),
        unlogged: what.is_unlogged,
        partitions: what.partitions.map(|partitions| match partitions.method {
            PartitionMethod::Range => Partitions::Range(partitions.count),
            PartitionMethod::Hash => Partitions::Hash(partitions.count),
        }),
    };
    let pace = if what.is_quiet { Pace::Quiet } else { Pace::Usual };
    let (loading, teller) = loading(&letters, &wanted, pace)?;
    job.once(INITIALIZE, Arc::new(loading))?;
    screen::beside(&teller.last_line());
    Ok(())
}

/// What makes the tables of a target that is made for a run.
pub(super) fn of_run(dialect: SqlDialect, scale: u64) -> Result<Loading, Failure> {
    let wanted = Initialization { dialect, scale, ..Initialization::default() };
    loading(DEFAULT_STEPS, &wanted, Pace::Quiet).map(|(loading, _)| loading)
}

fn loading(
    letters: &str,
    wanted: &Initialization,
    pace: Pace,
) -> Result<(Loading, Arc<Teller>), Failure> {
    let steps = steps(letters, wanted).map_err(Failure::usage)?;
    let parts = match wanted.partitions {
        Some(Partitions::Range(parts) | Partitions::Hash(parts)) => parts,
        None => 0,
    };
    let teller = Arc::new(Teller { pace, parts, state: Mutex::new(State::new()) });
    let listener = Arc::clone(&teller);
    Ok((Loading::new(steps, wanted, move |told| listener.tell(&told)), teller))
}

fn letter(step: Step) -> char {
    match step {
        Step::Drop => 'd',
        Step::Create => 't',
        Step::Generate => 'g',
        Step::GenerateThere => 'G',
        Step::Vacuum => 'v',
        Step::PrimaryKeys => 'p',
        Step::ForeignKeys => 'f',
    }
}

/// How often rows are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Usual,
    Quiet,
}

/// Prints pgbench's lines.
struct Teller {
    pace: Pace,
    /// Parts of the accounts; 0: one table.
    parts: u32,
    state: Mutex<State>,
}

struct State {
    begun: MonoNanos,
    step_began: MonoNanos,
    /// When rows began to be loaded.
    loading_began: Option<MonoNanos>,
    /// How many lines of rows with `-q` there have been.
    told: u64,
    /// Steps that are done, and what they took.
    done: Vec<(&'static str, Nanos)>,
}

impl State {
    fn new() -> Self {
        let begun = now();
        Self { begun, step_began: begun, loading_began: None, told: 0, done: Vec::new() }
    }
}

impl Teller {
    fn tell(&self, told: &Told<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let present = now();
        match told {
            Told::Begins(step) => {
                (state.step_began, state.loading_began, state.told) = (present, None, 0);
                screen::note(step.notice);
                if step.name == "create tables" && self.parts > 0 {
                    screen::note(&format!("creating {} partitions...", self.parts));
                }
            }
            Told::Loaded { table: Table::Accounts, done, total } => {
                let began = state.step_began;
                let elapsed = present - *state.loading_began.get_or_insert(began);
                let is_due = match self.pace {
                    Pace::Usual => done.is_multiple_of(TOLD_ROWS),
                    Pace::Quiet => done == total || elapsed.0 / TOLD_QUIETLY.0 > state.told,
                };
                if is_due {
                    state.told = elapsed.0 / TOLD_QUIETLY.0;
                    screen::note(&rows_line(*done, *total, elapsed));
                }
            }
            Told::Loaded { .. } => {}
            Told::Ended(step) => {
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
