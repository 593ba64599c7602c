//! Programs that a script starts.

use super::*;
use dbtime_load::script::EndCondition;
use std::path::PathBuf;

/// A folder for the files that the programs of a test make.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("dbtime-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

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
        let folder = folder(name);
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
        std::fs::remove_dir_all(folder).expect("removed");
    }
}

#[test]
fn what_comes_behind_a_run_starts_its_programs() {
    let folder = folder("behind");
    let source = "function event() os.execute('touch FOLDER/first') end
        function thread_done() os.execute('touch FOLDER/second') end";
    let (_stage, mut client) = event_ended_by(folder.join("first"), source);
    assert!(matches!(client.program.resume(ScriptEvent::Started), ScriptProgramStep::Done));
    assert_eq!(client.phase(ProgramPhase::Close), Some(Rest::Done));
    assert!(folder.join("second").exists());
    std::fs::remove_dir_all(folder).expect("removed");
}
