//! Programs that a script starts.

use super::*;
use dbtime_load::script::EndCondition;
use std::path::PathBuf;

/// The event of a script of which somebody wants an end as soon as this file is there.
fn event_ended_by(file: PathBuf, source: &str) -> (Stage, Client) {
    let source = Some(source.replace("FOLDER", &file.with_file_name("").to_string_lossy()).into());
    let settings = SysbenchSettings { source, ..SysbenchSettings::new("-", SqlDialect::Mysql) };
    let stage = Stage::new(settings);
    stage.script.heed(EndCondition::new(move || file.exists()));
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    let (operation, due) = (OperationId(0), MonoNanos(0));
    client.program.start(&Ticket { index: 0, operation, due, client: 0 });
    (stage, client)
}

#[test]
fn once_a_script_is_to_end_it_starts_no_further_program() {
    for (name, starts) in [
        ("execute", "os.execute('touch FOLDER/second')"),
        ("required", "require('os').execute('touch FOLDER/second')"),
        ("popen", "io.popen('touch FOLDER/second'):close()"),
        ("caught", "while true do pcall(os.execute, 'touch FOLDER/second') end"),
        ("coroutine", "coroutine.wrap(function() os.execute('touch FOLDER/second') end)()"),
    ] {
        let made = tempfile::tempdir().expect("a folder");
        let folder = made.path();
        let source = format!("function event() os.execute('touch FOLDER/first') {starts} end");
        let (stage, mut client) = event_ended_by(folder.join("first"), &source);
        let mut event = ScriptEvent::Started;
        for _ in 0..3 {
            let step = client.program.resume(event);
            // The engine ends it there, as it does what waits for a database.
            assert!(matches!(step, ScriptProgramStep::Sleep(_)), "{name}: {step:?}");
            event = ScriptEvent::Resumed;
        }
        assert!(folder.join("first").exists() && !folder.join("second").exists(), "{name}");
        assert_eq!(stage.script.inside(), []);
    }
}

#[test]
fn what_comes_behind_a_run_starts_its_programs() {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path();
    let source = "function event() os.execute('touch FOLDER/first') end
        function thread_done() os.execute('touch FOLDER/second') end";
    let (_stage, mut client) = event_ended_by(folder.join("first"), source);
    assert!(matches!(client.program.resume(ScriptEvent::Started), ScriptProgramStep::Done));
    assert_eq!(client.phase(ProgramPhase::Close), Some(Rest::Done));
    assert!(folder.join("second").exists());
}
