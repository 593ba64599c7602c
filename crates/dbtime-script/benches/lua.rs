//! What a sysbench script costs before any database is involved: its Lua, and the way from it to a
//! request and back.
//!
//! Budget: 250 ns for an empty event, a microsecond for a statement.

use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{
    ProgramFactory, ProgramPhase, Script, ScriptEvent, ScriptProgram, ScriptProgramStep,
};
use dbtime_model::{MonoNanos, OperationId, SqlDialect};
use dbtime_script::sysbench::options::{CompatMode, OptionValue};
use dbtime_script::sysbench::{ScriptOutput, SysbenchScript, SysbenchSettings, declared_options};
use dbtime_sql::{LexicalRules, fingerprint};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Clients of a script, with an engine that answers at once.
struct Clients {
    programs: Vec<Box<dyn ScriptProgram>>,
    /// Holds the state that the programs share.
    _crew: Box<dyn ProgramFactory>,
    results: ResultSets,
    index: u64,
}

impl Clients {
    fn new(settings: SysbenchSettings, count: u32) -> Self {
        let script = SysbenchScript::new(settings).unwrap_or_else(|error| panic!("{error}"));
        let mut factory = script.factory_for_thread(0).unwrap_or_else(|error| panic!("{error}"));
        let mut results = ResultSets::default();
        let programs = (0..count).map(|client| {
            let mut program = factory.program(client).unwrap_or_else(|error| panic!("{error}"));
            let step = program.begin(ProgramPhase::Open).expect("it has a beginning");
            let is_ask = asks(step, &mut results);
            go_on(program.as_mut(), is_ask, &mut results);
            program
        });
        let programs = programs.collect();
        Self { programs, _crew: factory, results, index: 0 }
    }

    fn event(&mut self) -> u32 {
        self.index += 1;
        let client = (self.index % self.programs.len() as u64) as u32;
        let (operation, due) = (OperationId(0), MonoNanos(0));
        let program = self.programs[client as usize].as_mut();
        program.start(&Ticket { index: self.index, operation, due, client });
        let is_ask = asks(program.resume(ScriptEvent::Started), &mut self.results);
        go_on(program, is_ask, &mut self.results)
    }
}

/// Answers until the program rests; how often.
fn go_on(program: &mut dyn ScriptProgram, mut is_ask: bool, results: &mut ResultSets) -> u32 {
    let mut asked = 0;
    while is_ask {
        asked += 1;
        let step = program.replied(Ok(results));
        is_ask = asks(step, results);
    }
    asked
}

fn asks(step: ScriptProgramStep<'_>, results: &mut ResultSets) -> bool {
    let ScriptProgramStep::Perform { op, statement, .. } = step else {
        assert_eq!(step, ScriptProgramStep::Done);
        return false;
    };
    black_box((op, statement));
    results.clear();
    results.begin_set();
    if matches!(op, ConnectionOp::Query(_) | ConnectionOp::Execute { .. }) {
        results.set_affected(1);
    }
    true
}

fn own(name: &str) -> SysbenchSettings {
    let path = format!("{}/tests/lua/{name}.lua", env!("CARGO_MANIFEST_DIR"));
    SysbenchSettings { seed: 1, ..SysbenchSettings::new(path, SqlDialect::Mysql) }
}

#[divan::bench(sample_size = 100)]
fn empty_event(bencher: Bencher<'_, '_>) {
    let mut clients = Clients::new(own("events"), 1);
    bencher.bench_local(|| clients.event());
}

#[divan::bench(sample_size = 100, args = ["begin", "execute", "query"])]
fn statement(bencher: Bencher<'_, '_>, what: &str) {
    let mut settings = own("costs");
    settings.options.values.insert("what".to_owned(), OptionValue::Text(what.to_owned()));
    let mut clients = Clients::new(settings, 1);
    bencher.bench_local(|| clients.event());
}

/// Making a hundred clients, the state included.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn hundred_clients() -> Clients {
    Clients::new(own("events"), 100)
}

/// An event of twenty statements; only where sysbench's own scripts are installed.
#[divan::bench(sample_size = 100, args = [1, 100, 10_000])]
fn read_write(bencher: Bencher<'_, '_>, clients: u32) {
    let name = "oltp_read_write";
    let silent = ScriptOutput::new(|_| {});
    let Ok(declared) = declared_options(name, Some("run"), CompatMode::V1_0, silent) else {
        return;
    };
    let mut settings = SysbenchSettings {
        seed: 1,
        threads: clients,
        ..SysbenchSettings::new(name, SqlDialect::Mysql)
    };
    for option in declared.options.into_iter().flatten() {
        settings.options.values.insert(option.name, option.default);
    }
    let mut clients = Clients::new(settings, clients);
    bencher.bench_local(|| clients.event());
}

#[divan::bench(sample_size = 100)]
fn fingerprint_of_a_statement(bencher: Bencher<'_, '_>) {
    let mut out = String::new();
    let rules = LexicalRules::unknown(SqlDialect::Mysql);
    let sql = "SELECT c FROM sbtest1 WHERE id BETWEEN 5031 AND 5130 ORDER BY c";
    bencher.bench_local(|| fingerprint(black_box(sql), &rules, &mut out));
}
