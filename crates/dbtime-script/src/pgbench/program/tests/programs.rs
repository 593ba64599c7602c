//! Programs that a script starts.

use super::*;
use dbtime_load::script::EndCondition;

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

#[test]
fn what_is_not_allowed_is_refused_at_the_end_too() {
    let mut stage = Stage::new("\\shell true", PgbenchSettings::default());
    stage.script.heed(EndCondition::new(|| true));
    assert_eq!(stage.play(&mut well), ["quit other"]);
}
