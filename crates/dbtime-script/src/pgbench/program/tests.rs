//! Clients on a stage: every request is written down, and answered by the test.

mod errors;
mod flow;
mod lifecycle;
mod programs;
mod streams;

use crate::pgbench::notice::{NoticeListener, PgbenchNotice};
use crate::pgbench::script::PgbenchScript;
use crate::pgbench::settings::PgbenchSettings;
use dbtime_load::connection_op::{ConnectionOp, PipelineEntry};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::{SqlValue, Ticket};
use dbtime_load::results::ResultSets;
use dbtime_load::script::{Script, ScriptEvent, ScriptProgram, ScriptProgramStep};
use dbtime_model::{ErrorClass, MonoNanos, OperationId, Outcome, Sample};
use std::sync::{Arc, Mutex};

/// What answers a request, given as it is written down.
type Answer<'a> = dyn FnMut(&str) -> Result<ResultSets, DatabaseFailure> + 'a;

/// Runs a client's next transaction and writes down what it asks and how it ends.
fn play(program: &mut dyn ScriptProgram, answer: &mut Answer<'_>) -> Vec<String> {
    let mut ticket =
        Ticket { index: 0, operation: OperationId(0), due: dbtime_machine::now(), client: 0 };
    ticket.operation = program.operation(&ticket);
    program.start(&ticket);
    let mut log = Vec::new();
    let mut step = written(program.resume(ScriptEvent::Started));
    loop {
        log.push(step.clone());
        let outcome = match step.split_whitespace().next() {
            Some("done") => Outcome::Completed,
            Some("failed" | "quit") if step.ends_with("none") => Outcome::Completed,
            Some("failed" | "quit") => Outcome::Failed(ErrorClass::Conflict),
            Some("sleep") => {
                step = written(program.resume(ScriptEvent::Resumed));
                continue;
            }
            _ => {
                step = match answer(&step) {
                    Ok(mut results) => written(program.replied(Ok(&mut results))),
                    Err(failure) => written(program.replied(Err(&failure))),
                };
                continue;
            }
        };
        program.ended(&sample(&ticket, outcome));
        return log;
    }
}

fn sample(ticket: &Ticket, outcome: Outcome) -> Sample {
    let due = MonoNanos(ticket.due.0);
    let done = MonoNanos(due.0 + 2_000_000);
    let operation = ticket.operation;
    Sample {
        operation,
        outcome,
        due,
        ready: due,
        sent: due,
        done,
        late: dbtime_model::Nanos::ZERO,
        retries: 0,
    }
}

/// A step as a line: a statement comes with its parameters behind tabs.
fn written(step: ScriptProgramStep<'_>) -> String {
    match step {
        ScriptProgramStep::Perform { op, .. } => match op {
            ConnectionOp::Connect => "connect".to_owned(),
            ConnectionOp::Disconnect => "disconnect".to_owned(),
            ConnectionOp::Query(sql) => format!("query {sql}"),
            ConnectionOp::QueryWith { sql, parameters } => {
                format!("with {sql}{}", values(parameters))
            }
            ConnectionOp::Prepare { handle, sql } => format!("prepare {handle} {sql}"),
            ConnectionOp::Execute { handle, parameters, keeps_rows } => {
                let keeps = if keeps_rows { "keep" } else { "" };
                format!("execute{keeps} {handle}{}", values(parameters))
            }
            ConnectionOp::Pipeline(piped) => {
                format!("pipeline {}", piped.iter().map(entry).collect::<Vec<_>>().join("|"))
            }
            ConnectionOp::Close { handle } => format!("close {handle}"),
            ConnectionOp::Copy { sql, .. } => format!("copy {sql}"),
        },
        ScriptProgramStep::Sleep(length) => format!("sleep {}", length.exact()),
        ScriptProgramStep::Done => "done".to_owned(),
        ScriptProgramStep::Failed(class) => format!("failed {}", class.name()),
        ScriptProgramStep::Quit { failed, all } => {
            assert!(!all, "one client does not end the run");
            format!("quit {}", failed.map_or("none", ErrorClass::name))
        }
    }
}

fn entry(piped: &PipelineEntry) -> String {
    match piped {
        PipelineEntry::Execute { handle, parameters } => {
            format!("execute {handle}{}", values(parameters))
        }
        PipelineEntry::QueryWith { sql, parameters } => format!("with {sql}{}", values(parameters)),
        PipelineEntry::Sync => "sync".to_owned(),
    }
}

fn values(values: &[SqlValue]) -> String {
    let one = |value: &SqlValue| match value {
        SqlValue::Null => "\t\\N".to_owned(),
        SqlValue::Integer(value) => format!("\t{value}"),
        SqlValue::Real(value) => format!("\t{value}"),
        SqlValue::Text(value) => format!("\t{value}"),
    };
    values.iter().map(one).collect()
}

/// The rows of `SELECT 1 AS a, 2 AS b; …`; of anything else, that nothing was returned.
fn rows(sql: &str) -> ResultSets {
    let mut results = ResultSets::default();
    for statement in sql.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        results.begin_set();
        let Some(columns) = statement.strip_prefix("SELECT ") else { continue };
        let pairs: Vec<_> =
            columns.split(", ").filter_map(|pair| pair.split_once(" AS ")).collect();
        pairs.iter().for_each(|(_, name)| results.push_column(name.as_bytes()));
        if !pairs.is_empty() {
            pairs.iter().for_each(|(value, _)| results.push_value(Some(value.as_bytes())));
            results.end_row();
        }
    }
    results
}

/// Answers every query with the rows it asks for.
fn well(step: &str) -> Result<ResultSets, DatabaseFailure> {
    Ok(rows(step.strip_prefix("query ").unwrap_or("")))
}

fn failure(class: ErrorClass, state: &str, message: &str) -> DatabaseFailure {
    DatabaseFailure { class, ..DatabaseFailure::statement(state, state, message) }
}

/// One script with one client, and what it says.
struct Stage {
    script: PgbenchScript,
    program: Option<Box<dyn ScriptProgram>>,
    notices: Arc<Mutex<Vec<PgbenchNotice>>>,
}

impl Stage {
    fn new(text: &str, mut settings: PgbenchSettings) -> Self {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&notices);
        settings.listener =
            NoticeListener::new(move |notice| told.lock().expect("whole").push(notice));
        settings.scripts.add("e.sql", text, 1).expect("a script");
        let script = PgbenchScript::new(settings).expect("settings that go together");
        let program = script
            .factory_for_thread(0)
            .and_then(|mut factory| factory.program(0))
            .expect("a client");
        Self { script, program: Some(program), notices }
    }

    fn play(&mut self, answer: &mut Answer<'_>) -> Vec<String> {
        play(self.program.as_mut().expect("a client").as_mut(), answer)
    }

    /// What was said since the last time.
    fn said(&self) -> Vec<PgbenchNotice> {
        std::mem::take(&mut self.notices.lock().expect("whole"))
    }
}
