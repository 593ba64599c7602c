//! What goes wrong: in the database, in the script, and in what is said about it.

use super::super::options::OptionValue;
use super::super::stats::SysbenchCounter;
use super::*;
use dbtime_model::SqlDialect;

const FATAL: Rest = Rest::Quit { failed: Some(ErrorClass::Other), all: true };

fn failing(place: &str) -> SysbenchSettings {
    let mut settings = own("failing", SqlDialect::Mysql);
    settings.argv.push(place.to_owned());
    settings
}

/// Opens a client of the script and runs an event; what it came to, and why.
fn fate(settings: SysbenchSettings) -> (Option<Rest>, Option<Rest>, String) {
    let stage = Stage::new(settings);
    let mut client = stage.client();
    let opened = client.phase(ProgramPhase::Open);
    let ran = (opened == Some(Rest::Done)).then(|| client.event());
    if opened == Some(FATAL) || ran == Some(FATAL) {
        assert_eq!(client.phase(ProgramPhase::Close), None, "one that has failed is left alone");
    }
    (opened, ran, stage.stop_reason())
}

#[test]
fn what_is_wrong_with_a_script_is_said_with_its_place() {
    for (place, words) in [
        ("body", "FATAL: .../failing.lua:11: in the body"),
        (
            "thread_init",
            "FATAL: `thread_init' function failed: .../failing.lua:7: attempt to index local \
             'nothing' (a nil value)",
        ),
        ("argument", "FATAL: `thread_init' function failed: .../failing.lua:20: bad argument #2"),
        ("no event", "FATAL: cannot find the event() function in "),
    ] {
        let (opened, _, stop_reason) = fate(failing(place));
        assert_eq!(opened, Some(FATAL), "{place}");
        assert!(has(&stop_reason, words), "{stop_reason}");
    }
    for (place, words) in [
        ("event", "FATAL: `thread_run' function failed: .../failing.lua:7: attempt to index"),
        ("table", "FATAL: `thread_run' function failed: (not a string)"),
        ("exit", "os.exit(1) was called"),
    ] {
        let (_, ran, stop_reason) = fate(failing(place));
        assert_eq!(ran, Some(FATAL), "{place}");
        assert!(has(&stop_reason, words), "{stop_reason}");
        assert!(stop_reason.contains("stack traceback:"), "{stop_reason}");
    }
}

/// Whether a text holds another, in which `...` stands for the folder of a file.
fn has(text: &str, expected: &str) -> bool {
    expected.split("...").all(|piece| text.contains(piece))
}

#[test]
fn an_event_that_says_so_is_a_clients_last() {
    let stage = Stage::new(failing("stop"));
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    assert_eq!(client.event(), Rest::Quit { failed: None, all: false });
    assert_eq!(client.phase(ProgramPhase::Close), Some(Rest::Done));
    assert_eq!(stage.printed(), "done\n");
    let stage = Stage::new(failing("thread_done"));
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    // What was counted is not lost for it.
    assert_eq!(client.phase(ProgramPhase::Close), Some(Rest::Done));
    assert_eq!((stage.stop_reason(), stage.script.fails_late()), (String::new(), true));
    let said = "done\nFATAL: `thread_done' function failed: .../failing.lua:7: ";
    assert!(has(&stage.printed(), said), "{}", stage.printed());
    assert!(!stage.printed().contains("traceback"), "{}", stage.printed());
}

#[test]
fn a_state_that_is_full_says_which_knob_to_turn() {
    let settings = SysbenchSettings { memory_limit: 20 << 20, ..failing("memory") };
    let (opened, _, stop_reason) = fate(settings);
    assert_eq!(opened, Some(FATAL));
    assert!(
        stop_reason.contains("not enough memory (the limit for a thread's Lua state is 20971520")
    );
}

#[test]
fn a_connection_that_cannot_be_made_ends_the_run() {
    let stage = Stage::new(failing("connect"));
    let mut client = stage.client();
    client.database.fail("connect", "2002", "HY000");
    assert_eq!(client.phase(ProgramPhase::Open), Some(FATAL));
    assert!(stage.stop_reason().contains("connection creation failed"));
    assert!(
        stage.printed().starts_with(
            "FATAL: unable to connect to MySQL server, aborting...\nFATAL: error 2002"
        )
    );
}

/// The script that is restarted, opened.
fn restarted(driver: SqlDialect, hook: bool) -> (Stage, Client) {
    let mut settings = own("restart", driver);
    settings.options.values.insert("hook".to_owned(), OptionValue::Bool(hook));
    let stage = Stage::new(settings);
    let mut client = stage.client();
    stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
    (stage, client)
}

fn ignored(stage: &Stage) -> [u64; 2] {
    [SysbenchCounter::Error, SysbenchCounter::Reconnect].map(|counter| stage.totals().get(counter))
}

#[test]
fn a_deadlock_starts_the_event_again() {
    let (stage, mut client) = restarted(SqlDialect::Mysql, false);
    client.database.fail("execute UPDATE", "1213", "40001");
    client.database.fail("query COMMIT", "1205", "HY000");
    assert_eq!((client.event(), client.program.retries()), (Rest::Done, 2));
    assert_eq!(client.database.count("query BEGIN"), 3);
    assert_eq!(
        stage.printed(),
        "restart\t1\t1213\t40001\tUPDATE t SET a = a + 1\nrestart\t2\t1205\tHY000\tCOMMIT\n"
    );
    assert_eq!(ignored(&stage), [2, 0]);
    assert_eq!((client.event(), client.program.retries()), (Rest::Done, 0));
}

#[test]
fn postgres_rolls_back_before_it_starts_again() {
    for driver in [SqlDialect::Postgres, SqlDialect::Sqlite] {
        let (stage, mut client) = restarted(driver, false);
        client.database.fail("execute UPDATE", "40P01", "40P01");
        if driver == SqlDialect::Sqlite {
            client.database.failures[0].1.class = ErrorClass::Busy;
        }
        assert_eq!(client.event(), Rest::Done);
        let log = &client.database.log;
        let end: Vec<&str> = log[log.len() - 6..].iter().map(String::as_str).collect();
        assert_eq!(
            end[1..4],
            ["execute UPDATE t SET a = a + 1 []", "query ROLLBACK", "query BEGIN"]
        );
        assert_eq!(ignored(&stage), [1, 0]);
        let counted = [SysbenchCounter::Write, SysbenchCounter::Other]
            .map(|counter| stage.totals().get(counter));
        assert_eq!(counted, [1, 3]);
    }
}

#[test]
fn a_lost_connection_is_made_again_where_that_is_ignored() {
    let mut settings = own("restart", SqlDialect::Mysql);
    let all = OptionValue::List(vec!["all".to_owned()]);
    settings.options.values.insert("mysql_ignore_errors".to_owned(), all);
    let stage = Stage::new(settings);
    let mut client = stage.client();
    stage.expect(Some(Rest::Done), client.phase(ProgramPhase::Open));
    client.database.fail("execute UPDATE", "2013", "HY000");
    client.database.fail("connect", "2002", "HY000");
    let rest = client.event();
    stage.expect(Some(Rest::Done), Some(rest));
    assert_eq!((client.slept.as_slice(), ignored(&stage)), (&[Nanos(1_000_000)][..], [1, 1]));
    assert_eq!((client.database.count("prepare"), client.database.count("close")), (2, 0));
}

#[test]
fn other_errors_end_the_run_unless_the_hook_has_a_word() {
    let (stage, mut client) = restarted(SqlDialect::Mysql, true);
    client.database.fail("execute UPDATE", "1062", "23000");
    assert_eq!(client.event(), Rest::Done);
    assert_eq!(ignored(&stage), [1, 0]);
    client.database.fail("execute UPDATE", "1146", "42S02");
    assert_eq!(client.event(), FATAL);
    assert!(has(&stage.stop_reason(), {
        "FATAL: `thread_run' function failed: .../restart.lua:11: SQL error, errno = 1146, \
         state = '42S02': failure 114642S02"
    }));
    assert!(stage.printed().contains("for query 'UPDATE t SET a = a + 1'"));
    assert_eq!(client.phase(ProgramPhase::Close), None);
}

#[test]
fn a_client_that_was_cut_off_is_not_asked_to_tidy_up() {
    let (_stage, mut client) = restarted(SqlDialect::Mysql, false);
    let (operation, due) = (OperationId(0), MonoNanos(0));
    client.program.start(&Ticket { index: 0, operation, due, client: 0 });
    assert!(matches!(
        client.program.resume(ScriptEvent::Started),
        ScriptProgramStep::Perform { .. }
    ));
    assert_eq!(client.phase(ProgramPhase::Close), None);
}

#[test]
fn nobody_is_inside_lua_between_events() {
    let stage = Stage::own("events", SqlDialect::Mysql);
    stage.run(5);
    assert_eq!(stage.script.inside(), []);
}

#[test]
fn of_a_bulk_insert_that_fails_the_beginning_is_shown() {
    let source = "function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:bulk_insert_init('INSERT INTO t VALUES')
  for id = 1, 10000 do con:bulk_insert_next('(' .. id .. ')') end
  con:bulk_insert_done()
end";
    let source = Some(source.into());
    let stage =
        Stage::new(SysbenchSettings { source, ..SysbenchSettings::new("-", SqlDialect::Mysql) });
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    client.database.fail("query INSERT", "1146", "42S02");
    assert_eq!(client.event(), FATAL);
    let printed = stage.printed();
    let line = printed.lines().find(|line| line.contains("for query 'INSERT INTO t VALUES(1),(2)"));
    let length = line.expect("what failed").len();
    assert!((4_000..4_200).contains(&length), "{length}");
}

#[test]
fn a_name_that_the_target_has_stays_in_a_message() {
    let source = "function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end";
    let stage = Stage::new(SysbenchSettings {
        source: Some(source.into()),
        target: "mysql://u@h/shop".to_owned(),
        ..SysbenchSettings::new("-", SqlDialect::Mysql)
    });
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    client.database.fail("query SELECT", "1146", "42S02");
    client.database.failures[0].1.message = "Table 'shop.hush' doesn't exist".to_owned();
    assert_eq!(client.event(), FATAL);
    let said = format!("{}\n{}", stage.printed(), stage.stop_reason());
    assert!(said.contains("Table 'shop.?' doesn't exist"), "{said}");
}

#[test]
fn passwords_are_repeated_neither_to_people_nor_to_scripts() {
    let source = "function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query(\"ALTER USER u IDENTIFIED BY 'hush' FOO\") end
sysbench.hooks.sql_error_ignorable = function(e) print('learnt', e.sql_errmsg) end";
    for (driver, words) in [
        (SqlDialect::Mysql, "1064 (no, near ***) for query '***'"),
        (SqlDialect::Sqlite, "(no, near ***) for query '***'"),
        (SqlDialect::Postgres, "failed query was: ***"),
    ] {
        let source = Some(source.into());
        let stage = Stage::new(SysbenchSettings { source, ..SysbenchSettings::new("-", driver) });
        let mut client = stage.client();
        assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
        client.database.fail("query ALTER", "1064", "42000");
        client.database.failures[0].1.message = "no, near 'hush'".to_owned();
        assert_eq!(client.event(), FATAL);
        let said = format!("{}\n{}", stage.printed(), stage.stop_reason());
        assert!(said.contains(words) && said.contains("learnt\tno, near ***"), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }
}
