//! Programs that a script starts.

use super::*;
use dbtime_load::script::{EndCondition, ScriptVisit};
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn once_a_script_is_to_end_it_starts_no_further_program() {
    for second in [
        "\\shell touch FOLDER/second",
        "\\setshell x touch FOLDER/second",
        "\\if 1\n\\shell touch FOLDER/second\n\\endif",
    ] {
        let made = tempfile::tempdir().expect("a folder");
        let text = format!("\\shell touch FOLDER/first\n{second}\nSELECT 1;");
        let text = text.replace("FOLDER", &made.path().to_string_lossy());
        let settings = PgbenchSettings { allow_shell: true, ..PgbenchSettings::default() };
        let mut stage = Stage::new(&text, settings);
        let first = made.path().join("first");
        stage.script.heed(EndCondition::new(move || first.exists()));
        let program = stage.program.as_mut().expect("a client");
        let (operation, due) = (OperationId(0), MonoNanos(0));
        program.start(&Ticket { index: 0, operation, due, client: 0 });
        let mut event = ScriptEvent::Started;
        for _ in 0..3 {
            let step = program.resume(event);
            // The engine ends it there, as it does what waits for a database.
            assert!(matches!(step, ScriptProgramStep::Sleep(_)), "{second}: {step:?}");
            event = ScriptEvent::Resumed;
        }
        let is_there = |name: &str| made.path().join(name).exists();
        assert!(is_there("first") && !is_there("second"), "{second}");
    }
}

/// The client that waits for a program, and the command of that; lets the program end.
fn awaited(script: &PgbenchScript, go: &Path) -> (ScriptVisit, Option<String>) {
    let begun = Instant::now();
    loop {
        if let Some(&visit) = script.inside().first() {
            let command = script.awaited_program(visit.client);
            std::fs::write(go, "").expect("a file");
            return (visit, command);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it waits for none");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_waits_for_a_program_is_seen_with_its_command() {
    for (start, shown) in [
        ("\\shell for", "\\shell for"),
        ("\\setshell x for", "\\setshell for"),
        ("\\shell PGPASSWORD=geheim; for", "\\shell PGPASSWORD=…"),
    ] {
        let made = tempfile::tempdir().expect("a folder");
        let go = made.path().join("go");
        let until = "i in $(seq 600); do [ -e FILE ] && break; sleep 0.1; done; echo 1";
        let until = until.replace("FILE", &go.to_string_lossy());
        let settings = PgbenchSettings { allow_shell: true, ..PgbenchSettings::default() };
        let mut stage = Stage::new(&format!("{start} {until}\nSELECT 1;"), settings);
        let program = stage.program.as_mut().expect("a client").as_mut();
        let script = &stage.script;
        let (log, seen) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| awaited(script, &go));
            (play(program, &mut well), watch.join().expect("it is seen"))
        });
        assert_eq!(log, ["query SELECT 1;", "done"], "{start}");
        assert_eq!(seen.0, ScriptVisit { client: 0, number: 1, awaits_program: true });
        assert_eq!(seen.1.as_deref(), Some(shown));
        assert_eq!(stage.script.inside(), []);
    }
}

#[test]
fn what_is_not_allowed_is_refused_at_the_end_too() {
    let mut stage = Stage::new("\\shell true", PgbenchSettings::default());
    stage.script.heed(EndCondition::new(|| true));
    assert_eq!(stage.play(&mut well), ["quit other"]);
}
