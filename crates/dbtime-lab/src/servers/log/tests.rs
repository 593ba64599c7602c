//! What of a log is shown, and which of its lines say why a server did not start.

use super::*;

#[test]
fn trouble_is_told_rather_than_the_end() {
    let text = "[Note] a\n[ERROR] unknown variable 'x=1'\n[Note] b\n[ERROR] Aborting\n\n[Note] c";
    assert_eq!(key_lines(text), ["[ERROR] unknown variable 'x=1'", "[ERROR] Aborting"]);
    let text = "LOG:  a\nFATAL:  could not map\nHINT:  lower it\nLOG:  down\n";
    assert_eq!(key_lines(text), ["FATAL:  could not map", "HINT:  lower it"]);
}

#[test]
fn without_trouble_the_end_is_told() {
    let many: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let lines = key_lines(&many);
    assert_eq!((lines.len(), lines[0], lines[7]), (8, "line 12", "line 19"));
    assert!(key_lines("").is_empty());
}

#[test]
fn a_log_that_statements_go_to_is_of_its_own_format() {
    for (name, value, format) in [
        ("General-Log_File", "/dev/stderr", LogFormat::MysqlWithStatements),
        ("slow_query_log_file", "/proc/self/fd/2", LogFormat::MysqlWithStatements),
        ("general_log_file", "general.log", LogFormat::Mysql),
        ("general_log", "1", LogFormat::Mysql),
    ] {
        let given = [(name.to_owned(), value.to_owned())];
        assert_eq!(LogFormat::of(Product::Mariadb, &given), format, "{name}");
    }
    let log = "2026-11-30 10:00:01 0 [Note] hush\n";
    assert_eq!(kept_of(log, LogFormat::MysqlWithStatements), "");
    assert_eq!(kept_of(log, LogFormat::Mysql), log);
}

#[test]
fn only_what_is_new_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let quote = |log: &LogFrom<'_>| log.quote(LogFormat::Mysql);
    assert_eq!(quote(&LogFrom::end_of(&path)), "it printed nothing");
    fs::write(&path, "old\n").expect("written");
    let log = LogFrom::end_of(&path);
    fs::write(&path, b"old\nnew \xff\n").expect("written");
    assert_eq!(log.text(), "new \u{fffd}\n");
    assert_eq!(quote(&log), "its log:\n    new \u{fffd}");
    let hidden = log.quote(LogFormat::MysqlWithStatements);
    assert_eq!(hidden, "what it printed may have values, and is not shown");
    // A single line that is longer than what is read.
    fs::write(&path, "a".repeat(MAX_READ_BYTES as usize + 9)).expect("written");
    assert_eq!((log.text(), log.quote(LogFormat::Mysql)), (String::new(), hidden));
}

#[test]
fn of_a_long_log_its_last_lines_are_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let log = LogFrom { path: &path, offset: 4 };
    let line = format!("{}\n", "a".repeat(1023));
    let most = MAX_READ_BYTES as usize;
    let many = line.repeat(most / line.len());
    for (text, expected) in [
        (format!("old\n{many}"), many.clone()),
        (format!("old\nnew\n{many}"), many.clone()),
        (format!("old\n{many}last\n"), format!("{}last\n", &many[line.len()..])),
        ("old".to_owned(), String::new()),
    ] {
        fs::write(&path, &text).expect("written");
        assert!(log.text() == expected, "{} of {} bytes", log.text().len(), text.len());
    }
}

#[test]
fn lines_that_go_on_with_what_was_not_read_are_not_shown() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let before = format!("{}\n", "a".repeat(1023)).repeat(MAX_READ_BYTES as usize >> 10);
    let log = LogFrom { path: &path, offset: 0 };
    let own = "[1] 00000 LOG:  shutting down";
    for (format, rest, expected) in [
        (LogFormat::Postgres, format!("initdb: hush\n{own}\n"), format!("?\n    {own}")),
        (LogFormat::Mysql, "hush\n".to_owned(), String::new()),
    ] {
        fs::write(&path, format!("{before}{rest}")).expect("written");
        let quoted = log.quote(format);
        assert!(quoted.contains(&expected) && !quoted.contains("hush"), "{quoted}");
    }
}

#[test]
fn what_is_quoted_has_no_value_of_a_statement_or_a_setting() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let log = LogFrom::end_of(&path);
    for (format, text, expected) in [
        (
            LogFormat::Postgres,
            "9 [7] 22023 FATAL:  invalid value for parameter \"work_mem\": \"hush\"\n",
            "9 [7] 22023 FATAL:  invalid value for parameter \"work_mem\": \"?\"",
        ),
        (
            LogFormat::Postgres,
            "9 [7] 08006 FATAL:  could not connect to the primary server: port \"hush\"\n",
            "9 [7] 08006 FATAL:  could not connect to the primary server: ?",
        ),
        (
            LogFormat::Postgres,
            "9 [7] 58P01 FATAL:  could not access file \"hush\": No such file or directory\n",
            "9 [7] 58P01 FATAL:  could not access file \"?\": No such file or directory",
        ),
        (
            LogFormat::Mysql,
            "9 0 [ERROR] mariadbd: unknown variable 'x_password=hush'\n",
            "9 0 [ERROR] mariadbd: unknown variable 'x_password=***",
        ),
        (
            LogFormat::Mysql,
            "ERROR: 1064  You have an error; near 'hush' at line 1\n",
            "ERROR: 1064  You have an error; near '?' at line ?",
        ),
    ] {
        fs::write(&path, text).expect("written");
        assert_eq!(log.quote(format), format!("its log:\n    {expected}"));
        assert_eq!(log.trouble(), text.trim_end(), "the cause is looked for in all of it");
    }
}

/// What is kept of a whole log.
pub(super) fn kept_of(text: &str, format: LogFormat) -> String {
    let mut copy = Vec::new();
    keep_plain(text.as_bytes(), &mut copy, format, LogBegin::Known).expect("memory");
    String::from_utf8(copy).expect("text")
}

#[test]
fn what_a_raise_says_in_the_server_s_words_is_left_out_where_it_departs() {
    let raised = "[1] 00000 LOG:  checkpoint complete: ";
    for (text, expected) in [
        (format!("{raised}hush\n"), format!("{raised}?\n")),
        (format!("{raised}wrote 3 buffers hush\n"), format!("{raised}wrote 3 buffers ?\n")),
        ("LOG:  statement: SELECT hush\n".to_owned(), "LOG:  statement: ?\n".to_owned()),
        (
            "[1] 22023 LOG:  parameter \"a\" of hush\n".to_owned(),
            "[1] 22023 LOG:  parameter \"?\n".to_owned(),
        ),
        (
            "[1] 55P03 ERROR:  redo is not required of hush\n".to_owned(),
            "[1] 55P03 ERROR:  redo is not ?\n".to_owned(),
        ),
        ("[1] 23505 ERROR:  account of hush\n".to_owned(), "[1] 23505 ERROR:  ?\n".to_owned()),
    ] {
        assert_eq!(kept_of(&text, LogFormat::Postgres), expected);
    }
}

#[test]
fn lines_of_programs_that_a_server_has_started_are_left_out() {
    let of_initdb = "initdb: error: no place\ncreating subdirectories ... ok\n";
    let own = "[1] 00000 LOG:  shutting down\n";
    let rows = "hush\n1\thush\ninitdb: hush\ncreating subdirectories ... ok\n";
    for (text, expected) in [
        (format!("{of_initdb}{own}{rows}{own}"), format!("{of_initdb}{own}?\n{own}")),
        (format!("hush\n{of_initdb}"), format!("?\n{of_initdb}")),
        (format!("{own}hush\n\nhush\n{own}"), format!("{own}?\n\n?\n{own}")),
    ] {
        assert_eq!(kept_of(&text, LogFormat::Postgres), expected);
    }
}

#[test]
fn rows_of_a_program_join_no_entry_behind_its_statement() {
    let program = "[1] 00000 LOG:  statement: COPY t TO PROGRAM 'x'\n";
    let shown = "[1] 00000 LOG:  statement: ?\n";
    let own = "[1] 00000 LOG:  shutting down\n";
    let (joined, rows) = (format!("{own}\thush\n"), "\thush\n\t1\thush\n");
    let kept = kept_of(&format!("{program}{joined}"), LogFormat::Postgres);
    assert_eq!(kept, format!("{shown}{own}"));
    let kept = kept_of(&format!("{program}{rows}{own}{rows}{own}"), LogFormat::Postgres);
    assert_eq!(kept, format!("{shown}{own}{own}"));
}

#[test]
fn what_is_kept_has_nothing_that_a_server_repeats_of_a_statement_or_a_row() {
    let dir = tempfile::tempdir().expect("a folder");
    let [log, copy] = ["log", "copy"].map(|name| dir.path().join(name));
    let kept_of = |text: &[u8], format: LogFormat| {
        fs::write(&log, text).expect("written");
        keep(&log, &copy, format).expect("kept");
        fs::read(&copy).expect("a copy")
    };
    let kept = |text: &[u8]| kept_of(text, LogFormat::Postgres);
    let plain = b"LOG:  shutting down\n\n[1] 40P01 ERROR:  deadlock detected";
    assert_eq!(kept(plain), plain);
    assert_eq!(kept(b"[1] 55P03 ERROR:  no relation \xff\n"), b"[1] 55P03 ERROR:  ?\n");
    let missing = "[1] 42P01 ERROR:  relation \"hush\" does not exist at character 9\n";
    assert_eq!(kept(missing.as_bytes()), missing.replace("hush", "?").as_bytes());
    let event = "2026-11-30 10:00:00 7 [ERROR] Event Scheduler: [u@h][d.e] ";
    let ready = b"2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
    let made_up = [format!("{event}of\n\thush\nhush\n").as_bytes(), ready].concat();
    let expected = [format!("{event}?\n").as_bytes(), ready].concat();
    assert_eq!(kept_of(&made_up, LogFormat::Mysql), expected);
    let next = "\n2 LOG:  shutting down\n";
    let bare = format!("[1] 42601 ERROR:  syntax error at or near \"hush\"{next}");
    assert_eq!(kept(bare.as_bytes()), bare.replace("hush", "?").as_bytes());
    let begin = "[1] 42601 ERROR:  unterminated quoted string at or near \"";
    let long = format!("{begin}'a\n\thush\n\tb{next}");
    assert_eq!(kept(long.as_bytes()), format!("{begin}?{next}").as_bytes());
    let error = "[1] 40P01 ERROR:  deadlock detected\n[1] 40P01 DETAIL:  ";
    let twice = format!("{error}Key (hush)=(hush) already exists.{next}");
    assert_eq!(kept(twice.as_bytes()), twice.replace("hush", "?").as_bytes());
    let details = format!("{error}Key (a)=(hush) is.{next}");
    let expected = format!("[1] 40P01 ERROR:  deadlock detected{next}");
    assert_eq!(kept(details.as_bytes()), expected.as_bytes());
    let much = format!("[1] 55P03 ERROR:  no {}{next}", "a".repeat(MAX_ENTRY_BYTES));
    assert_eq!(kept(much.as_bytes()), format!("[1] 55P03 ERROR:  ?{next}").as_bytes());
    let lines = "\n\thush".repeat(MAX_ENTRY_BYTES);
    let unread = kept(format!("{begin}'a{lines}{next}").as_bytes());
    assert_eq!(unread, format!("{begin}?{next}").as_bytes());
}
