//! What is left of messages, by their levels, codes, contexts and languages.

use super::*;

fn shown(entries: &[&str]) -> Vec<String> {
    let message = LogMessage::of(entries);
    entries.iter().map(|entry| message.without_values(entry).into_owned()).collect()
}

/// Entries with what a server puts before them.
fn begun(prefix: &str, texts: &[&str]) -> Vec<String> {
    let texts = texts.iter().filter(|text| !text.is_empty());
    texts.map(|text| format!("{prefix}{text}")).collect()
}

#[test]
fn values_and_names_are_left_out() {
    for (entries, expected) in [
        (
            ["42P01 ERROR:  relation \"t\" does not exist at character 15", "", ""],
            ["42P01 ERROR:  relation \"?\" does not exist at character 15", "", ""],
        ),
        (
            [
                "23505 ERROR:  duplicate key value violates unique constraint \"k\"",
                "23505 DETAIL:  Key (id)=(hush) already exists.",
                "23505 CONTEXT:  SQL statement \"INSERT INTO t VALUES ('hush')\"",
            ],
            [
                "23505 ERROR:  duplicate key value violates unique constraint \"?\"",
                "23505 DETAIL:  Key (?)=(?) already exists.",
                "23505 CONTEXT:  SQL statement \"?\"",
            ],
        ),
        (
            ["22P02 ERROR:  invalid input syntax for type integer: \"hush\"", "", ""],
            ["22P02 ERROR:  invalid input syntax for type integer: \"?\"", "", ""],
        ),
        (
            [
                "40P01 ERROR:  deadlock detected",
                "40P01 DETAIL:  Process 1 waits for ShareLock on transaction 5; blocked by process \
                 2.\n\tProcess 1: DO 'hush'",
                "40P01 HINT:  See server log for query details.",
            ],
            [
                "40P01 ERROR:  deadlock detected",
                "40P01 DETAIL:  Process 1 waits for ShareLock on transaction 5; blocked by process \
                 2.\n\t?",
                "40P01 HINT:  See server log for query details.",
            ],
        ),
        (
            ["00000 LOG:  execute s: SELECT $1", "00000 DETAIL:  parameters: $1 = 'a'", ""],
            ["00000 LOG:  execute ?: ?", "00000 DETAIL:  parameters: ?", ""],
        ),
        (
            ["42703 ERROR:  column t.hush does not exist at character 8", "", ""],
            ["42703 ERROR:  column ? does not exist at character 8", "", ""],
        ),
        (
            [
                "42P01 ERROR:  relation \"hush\" does not exist at character 15",
                "42P01 QUERY:  SELECT * FROM hush",
                "42P01 CONTEXT:  PL/pgSQL function f() line 3 at EXECUTE",
            ],
            [
                "42P01 ERROR:  relation \"?\" does not exist at character 15",
                "42P01 QUERY:  ?",
                "42P01 CONTEXT:  PL/pgSQL function ? line 3 at EXECUTE",
            ],
        ),
    ] {
        let [entries, expected] = [entries, expected].map(|texts| begun("9 UTC [7] ", &texts));
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        assert_eq!(shown(&entries), expected);
    }
}

#[test]
fn lines_of_programs_are_left_out_and_what_another_prefix_names() {
    for line in ["hush", "account: hush", "a [1] hush", "FEHLER:  hush"] {
        assert!(!LogMessage::is_one(line));
        assert_eq!(shown(&[line]), ["?"]);
    }
    for (line, expected) in [
        ("hush LOG:  shutting down", "? LOG:  shutting down"),
        ("2026-11-30 10:00:00 CET hush [7] LOG:  shutting down", "? LOG:  shutting down"),
        ("2026-11-30 10:00:00 CET [7] LOG:  shutting down", ""),
        ("hush LOG:  shutting down\n\thush", "? LOG:  shutting ?"),
        ("9 [7] 55P03 ERROR:  no lock\n\thush", "9 [7] 55P03 ERROR:  ?"),
        (
            "9 [7] 00000 LOG:  statement: COPY t TO\n\tprogram 'x'\n\thush",
            "9 [7] 00000 LOG:  statement: ?",
        ),
    ] {
        let expected = if expected.is_empty() { line } else { expected };
        assert!(LogMessage::is_one(line));
        assert_eq!(shown(&[line]), [expected]);
    }
    for level in ["FATAL", "ERROR", "PANIC"] {
        let lines = [format!("hush {level}:  hush"), "hush CONTEXT:  hush: hush".to_owned()];
        let shown = shown(&lines.each_ref().map(String::as_str));
        assert!(!shown[0].contains("hush"), "{shown:?}");
    }
    let step = "running bootstrap script ... 9 [7] FATAL:  out of memory";
    assert_eq!(shown(&[step]), [step]);
}

#[test]
fn further_texts_that_are_not_known_are_left_out() {
    let first = "9 [7] 00000 LOG:  shutting down";
    for (text, expected) in [
        ("LOCATION:  hush, hush.c:5", "LOCATION:  ?"),
        ("BACKTRACE:  \n\tpostgres: hush", "BACKTRACE:  ?"),
        ("DETAIL:  Process holding the lock: hush", ""),
        ("HINT:  hush", ""),
        (
            "HINT:  Consider increasing the configuration parameter \"hush\".",
            "HINT:  Consider increasing the configuration parameter \"?\".",
        ),
    ] {
        let [text, expected] = [text, expected].map(|text| match text {
            "" => String::new(),
            text => format!("9 [7] 00000 {text}"),
        });
        assert_eq!(shown(&[first, &text]), [first, &expected]);
    }
}

#[test]
fn a_further_text_that_has_another_code_is_of_a_program() {
    let error = "9 [7] 40P01 ERROR:  deadlock detected";
    for text in ["DETAIL:  hush", "HINT:  hush", "CONTEXT:  hush", "9 [7] 00000 HINT:  hush"] {
        assert_eq!(shown(&[error, text]), [error, ""]);
    }
    let raised = ["9 [7] P0001 ERROR:  hush", "CONTEXT:  hush", "9 [7] P0001 HINT:  hush"];
    assert!(!shown(&raised).concat().contains("hush"));
}

#[test]
fn statements_that_a_server_is_set_to_log_have_no_literals() {
    for (text, expected) in [
        ("LOG:  statement: SELECT 'hush'\n\tFROM t", "LOG:  statement: ?"),
        ("LOG:  duration: 1.2 ms  statement: SELECT 4711", "LOG:  duration: 1.2 ms  statement: ?"),
        (
            "LOG:  duration: 1.2 ms  bind <unnamed>: SELECT 'hush'",
            "LOG:  duration: 1.2 ms  bind <unnamed>: ?",
        ),
        ("LOG:  statement: ALTER ROLE r PASSWORD hush", "LOG:  statement: ?"),
        ("LOG:  statement: DO $$BEGIN PERFORM 'hush'; END$$", "LOG:  statement: ?"),
        (
            "LOG:  duration: 1.2 ms  plan:\n\tQuery Text: SELECT 'hush'\n\tResult",
            "LOG:  duration: 1.2 ms  plan: ?",
        ),
        ("LOG:  AUDIT: SESSION,1,1,READ,SELECT,,,SELECT 'hush'", "LOG:  AUDIT: ?"),
        ("DETAIL:  Parameters: $1 = 'hush'", "DETAIL:  Parameters: ?"),
        ("DETAIL:  prepare: PREPARE s AS SELECT 'hush'", "DETAIL:  prepare: ?"),
        ("STATEMENT:  SELECT 'hush',\n\t5", "STATEMENT:  SELECT ?, ?"),
        ("STATEMENT:  EXECUTE hush(5)", "STATEMENT:  EXECUTE ?(?)"),
        ("CONTEXT:  portal \"p\" with parameters: $1 = 'hush'", "CONTEXT:  ?"),
    ] {
        let first = "9 UTC [7] 00000 LOG:  statement: SELECT";
        let entry = format!("9 UTC [7] 00000 {text}");
        let entries = [first, &entry];
        let from = usize::from(text.starts_with("LOG"));
        let expected = format!("9 UTC [7] 00000 {expected}");
        assert_eq!(shown(&entries[from..]).last(), Some(&expected));
        let bare = format!("[7]{text}");
        assert!(!shown(&[&bare]).concat().contains("hush"), "by another prefix: {bare}");
    }
    for text in [
        "LOG:  checkpoint starting: time",
        "LOG:  process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
        "LOG:  duration: 0.5 ms",
    ] {
        assert_eq!(shown(&[text]), [text]);
    }
}

#[test]
fn a_code_before_the_words_is_none_of_them() {
    for (text, expected) in [
        ("00000 LOG:  00000: statement: SELECT 'hush'", "00000 LOG:  00000: statement: ?"),
        ("00000 LOG:  00000: shutting down", "00000 LOG:  00000: shutting down"),
        ("22012 ERROR:  22012: value \"hush\"", "22012 ERROR:  22012: value \"?"),
    ] {
        assert_eq!(shown(&[&format!("9 [7] {text}")]), [format!("9 [7] {expected}")]);
    }
    let entries = ["9 [7] 22012 ERROR:  no", "9 [7] 22012 DETAIL:  22012: 5"];
    assert_eq!(shown(&entries)[1], "");
}

#[test]
fn words_that_were_raised_are_left_out() {
    for (level, code) in [
        ("ERROR", "23505"),
        ("ERROR", "P0001"),
        ("WARNING", "01000"),
        ("LOG", "00000"),
        ("INFO", "00000"),
    ] {
        let line = format!("9 UTC [7] {code} {level}:  account of hush");
        let place = "PL/pgSQL function inline_code_block line 3 at RAISE";
        let context = format!("9 UTC [7] {code} CONTEXT:  {place}");
        let shown = shown(&[&line, &context]);
        assert!(shown[0].contains(level) && !shown[0].contains("hush"), "{shown:?}");
        assert_eq!(shown[1], context);
    }
}

#[test]
fn without_a_context_only_known_words_stay() {
    for level in ["00000 LOG", "00000 INFO", "00000 DEBUG", "00000 NOTICE", "01000 WARNING"] {
        let bare = level.split_once(' ').map_or("", |(_, label)| label);
        for label in [&*format!("9 [7] {level}"), bare] {
            for words in ["account of hush", "parse error: hush", "process hush", "hush"] {
                let shown = shown(&[&format!("{label}:  {words}"), "1 DETAIL:  hush"]);
                assert!(shown[0].starts_with(&format!("{label}:  ?")), "{shown:?}");
                assert_eq!(shown[1], "");
            }
        }
    }
    let coded = "9 [7] 22012 LOG:  account of hush";
    assert!(!shown(&[coded]).concat().contains("hush"), "a RAISE may have any code");
    let audit = "9 [7] 01000 WARNING:  AUDIT: ";
    assert_eq!(shown(&[&format!("{audit}SESSION,hush")]), [format!("{audit}?")]);
    let context = "9 [7] 00000 CONTEXT:  PL/x function f";
    assert!(!shown(&["9 [7] 00000 LOG:  account of hush", context]).concat().contains("hush"));
    for own in [
        "9 [7] 00000 LOG:  database system is ready to accept connections",
        "9 [7] 08006 LOG:  could not receive data from client: Connection reset by peer",
        "9 [7] 57P02 WARNING:  terminating connection because of crash of another server process",
        "9 LOG:  shutting down",
    ] {
        assert_eq!(shown(&[own]), [own]);
    }
}

#[test]
fn values_of_settings_and_what_a_killed_process_was_at_are_left_out() {
    for (entries, expected) in [
        (
            [
                "00000 LOG:  server process (PID 5) was terminated by signal 9: Killed",
                "00000 DETAIL:  Failed process was running: SELECT 'hush'",
            ],
            [
                "00000 LOG:  server process (PID 5) was terminated by signal 9: Killed",
                "00000 DETAIL:  Failed process was running: ?",
            ],
        ),
        (
            [
                "00000 LOG:  archive command failed with exit code 1",
                "00000 DETAIL:  The failed archive command was: cp hush",
            ],
            [
                "00000 LOG:  archive command failed with exit code 1",
                "00000 DETAIL:  The failed archive command was: ?",
            ],
        ),
        (
            ["00000 LOG:  parameter \"primary_conninfo\" changed to \"host=hush\"", ""],
            ["00000 LOG:  parameter \"primary_conninfo\" changed to \"?\"", ""],
        ),
        (
            ["22023 LOG:  invalid value for parameter \"work_mem\": \"hush\"", ""],
            ["22023 LOG:  invalid value for parameter \"work_mem\": \"?\"", ""],
        ),
        (
            ["58P01 FATAL:  could not execute command \"echo hush\": No such file", ""],
            ["58P01 FATAL:  could not execute command \"?\": No such file", ""],
        ),
    ] {
        let [entries, expected] = [entries, expected].map(|texts| begun("[7] ", &texts));
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        assert_eq!(shown(&entries), expected);
    }
    let tree = ["[7] 00000 LOG:  parse tree:", "[7] 00000 DETAIL:  constvalue 2 [ 104 117 ]"];
    assert_eq!(shown(&tree)[1], "", "a literal byte by byte");
}

#[test]
fn of_messages_in_another_language_their_level_is_left() {
    for (entry, expected) in [
        ("9 [7] 42P01 FEHLER:  Relation »hush« existiert nicht", "9 [7] 42P01 FEHLER:  ?"),
        ("9 [7] 42P01 ANWEISUNG:  SELECT 'hush'\n\tFROM t", "9 [7] 42P01 ANWEISUNG:  ?"),
        ("9 [7] 42P01 DÉTAIL : hush", "9 [7] 42P01 DÉTAIL : ?"),
        ("9 [7] 42P01 错误：hush", "9 [7] 42P01 错误：?"),
        ("9 [7] 42P01 hush", "9 [7] 42P01 ?"),
        ("9 [7] 42P01 my hush:  hush", "9 [7] 42P01 ?"),
        ("9 [7] 42P01 HUSH:  hush", "9 [7] 42P01 ?"),
    ] {
        assert_eq!(shown(&[entry]), [expected]);
    }
    let german = "9 [7] 00000 LOG:  Anweisung: SELECT 'hush'";
    assert!(!shown(&[german]).concat().contains("hush"));
}

#[test]
fn without_an_sqlstate_all_that_may_be_a_value_is_left_out() {
    let entries = ["7 FATAL:  \"hush\" is a 5", "7 DETAIL:  Key (id)=(hush) already exists."];
    let detail = "7 DETAIL:  Key (?)=(?) already exists.";
    assert_eq!(shown(&entries), ["7 FATAL:  ?", detail]);
    assert!(LogMessage::goes_on(entries[1]) && !LogMessage::goes_on(entries[0]));
    assert_eq!(shown(&entries[1..]), [detail], "of a message that has begun before");
    let context = "7 CONTEXT:  COPY t, line 1";
    let error = "7 ERROR:  \"hush\" is a 5";
    assert_eq!(shown(&[error, context]), ["7 ERROR:  ?", "7 CONTEXT:  COPY ?, line 1"]);
    assert!(!shown(&["7 ERROR:  account of hush"]).concat().contains("hush"));
}

proptest::proptest! {
    #[test]
    fn no_name_of_a_prepared_statement_is_left(name in "[a-z :/\"']{0,10}") {
        let entry = format!("9 [7] 00000 LOG:  execute {name}qqhushqq{name}: SELECT 1");
        proptest::prop_assert!(!shown(&[&entry]).concat().contains("hush"));
    }

    #[test]
    fn any_entry_is_taken(
        entry in "(\\[7\\] 42P01 |LOG:  |execute |PREPARE |: |duration: |[\" '(\n\té表：]){0,12}",
    ) {
        shown(&[&entry, "DETAIL:  x"]);
    }
}
