//! Scripts against a simulated database: ours, which exercise every function, and those that come
//! with sysbench where they are installed.

mod api;
mod callbacks;
mod database;
mod errors;
mod main_state;
mod programs;
mod stock;

use super::options::CompatMode;
use super::stats::StatsTotals;
use super::{ScriptOutput, SysbenchCommand, SysbenchScript, SysbenchSettings};
use database::Database;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{ProgramPhase, Script, ScriptEvent, ScriptProgram, ScriptProgramStep};
use dbtime_model::{ErrorClass, MonoNanos, Nanos, OperationId, SqlDialect};
use std::sync::{Arc, Mutex};

/// How a program came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Done,
    Quit { failed: Option<ErrorClass>, all: bool },
}

/// What the next step of a program is to be taken with.
enum Next {
    Ended(Rest),
    Resume,
    Reply(Result<ResultSets, dbtime_load::failure::DatabaseFailure>),
}

/// One client on connections of its own.
struct Client {
    program: Box<dyn ScriptProgram>,
    database: Database,
    second: Database,
    slept: Vec<Nanos>,
    index: u64,
}

impl Client {
    fn phase(&mut self, phase: ProgramPhase) -> Option<Rest> {
        let step = self.program.begin(phase)?;
        let next = taken(step, [&mut self.database, &mut self.second], &mut self.slept);
        Some(self.until_rest(next))
    }

    fn event(&mut self) -> Rest {
        let ticket =
            Ticket { index: self.index, operation: OperationId(0), due: MonoNanos(0), client: 0 };
        self.index += 1;
        self.program.start(&ticket);
        let step = self.program.resume(ScriptEvent::Started);
        let next = taken(step, [&mut self.database, &mut self.second], &mut self.slept);
        self.until_rest(next)
    }

    fn until_rest(&mut self, mut next: Next) -> Rest {
        loop {
            let step = match next {
                Next::Ended(rest) => return rest,
                Next::Resume => self.program.resume(ScriptEvent::Resumed),
                Next::Reply(Ok(ref mut results)) => self.program.replied(Ok(results)),
                Next::Reply(Err(ref failure)) => self.program.replied(Err(failure)),
            };
            next = taken(step, [&mut self.database, &mut self.second], &mut self.slept);
        }
    }
}

fn taken(
    step: ScriptProgramStep<'_>,
    databases: [&mut Database; 2],
    slept: &mut Vec<Nanos>,
) -> Next {
    match step {
        ScriptProgramStep::Perform { op, connection, .. } => {
            Next::Reply(databases[usize::from(connection)].answer(&op))
        }
        ScriptProgramStep::Sleep(length) => {
            slept.push(length);
            Next::Resume
        }
        ScriptProgramStep::Done => Next::Ended(Rest::Done),
        ScriptProgramStep::Quit { failed, all } => Next::Ended(Rest::Quit { failed, all }),
        ScriptProgramStep::Failed(_) => {
            panic!("scripts do not say {step:?}")
        }
    }
}

/// A script with what it has printed.
struct Stage {
    script: SysbenchScript,
    printed: Arc<Mutex<String>>,
}

impl Stage {
    fn new(settings: SysbenchSettings) -> Self {
        let printed = Arc::<Mutex<String>>::default();
        let to = Arc::clone(&printed);
        let output = ScriptOutput::new(move |text| to.lock().expect("no panic").push_str(text));
        let script = SysbenchScript::new(SysbenchSettings { output, seed: 1, ..settings });
        Self { script: script.unwrap_or_else(|error| panic!("{error}")), printed }
    }

    /// One of our own scripts.
    fn own(name: &str, driver: SqlDialect) -> Self {
        Self::new(own(name, driver))
    }

    fn clients(&self, count: u32) -> Vec<Client> {
        let mut factory =
            self.script.factory_for_thread(0).unwrap_or_else(|error| panic!("{error}"));
        let program = |client| factory.program(client).unwrap_or_else(|error| panic!("{error}"));
        (0..count)
            .map(program)
            .map(|program| Client {
                program,
                database: Database::default(),
                second: Database::default(),
                slept: Vec::new(),
                index: 0,
            })
            .collect()
    }

    fn client(&self) -> Client {
        self.clients(1).remove(0)
    }

    /// Opens a client, runs some events and closes it; all has to go well.
    fn run(&self, events: u32) -> Client {
        let mut client = self.client();
        self.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
        for _ in 0..events {
            let rest = client.event();
            self.expect(Some(Rest::Done), Some(rest));
        }
        self.expect(Some(Rest::Done), client.phase(ProgramPhase::Close));
        client
    }

    fn expect(&self, expected: Option<Rest>, rest: Option<Rest>) {
        assert_eq!(expected, rest, "{}", self.stop_reason());
    }

    fn stop_reason(&self) -> String {
        self.script.stop_reason().unwrap_or_default()
    }

    fn printed(&self) -> String {
        self.printed.lock().expect("no panic").clone()
    }

    fn totals(&self) -> StatsTotals {
        self.script.stats().totals()
    }
}

/// The settings of one of our own scripts.
fn own(name: &str, driver: SqlDialect) -> SysbenchSettings {
    let path = format!("{}/tests/lua/{name}.lua", env!("CARGO_MANIFEST_DIR"));
    SysbenchSettings { compat: CompatMode::V1_1, ..SysbenchSettings::new(path, driver) }
}

fn command(name: &str, is_parallel: bool) -> SysbenchCommand {
    SysbenchCommand::Named { name: name.to_owned(), is_parallel }
}
