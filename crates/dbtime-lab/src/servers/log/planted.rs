//! Logs with a secret in each of their literals, which may have lines that look like messages, cut
//! anywhere: nothing of it is kept.

use super::tests::kept_of;
use super::*;

const SECRET: &str = "qqhushqq";

/// What PostgreSQL logs of statements with this literal and of their errors, and at last what a
/// program prints.
fn postgres_messages(literal: &str) -> Vec<String> {
    let quoted = literal.replace('\'', "''");
    let statement = format!("SELECT a FROM t WHERE a = '{quoted}'");
    let messages = [
        vec![format!("00000 LOG:  statement: {statement}")],
        vec![
            format!("00000 LOG:  duration: 1.5 ms  execute <unnamed>: {statement}"),
            format!("00000 DETAIL:  parameters: $1 = '{literal}'"),
        ],
        vec![format!("00000 LOG:  duration: 1.5 ms  plan:\nQuery Text: {statement}")],
        vec![
            "23505 ERROR:  duplicate key value violates unique constraint \"k\"".to_owned(),
            format!("23505 DETAIL:  Key (a)=({literal}) already exists."),
            format!("23505 STATEMENT:  {statement}"),
        ],
        vec![format!("22P02 ERROR:  invalid input syntax for type integer: \"{literal}\"")],
        vec![
            "40P01 ERROR:  deadlock detected".to_owned(),
            format!("40P01 DETAIL:  Process 1 waits for process 2.\nProcess 1: {statement}"),
        ],
        vec![
            "00000 LOG:  process 5 acquired ShareLock on transaction 7 after 1000.1 ms".to_owned(),
            "00000 CONTEXT:  while updating tuple (0,1) in relation \"t\"".to_owned(),
            format!("00000 STATEMENT:  {statement}"),
        ],
    ];
    let line = |entry: &String| {
        format!("2026-11-30 10:00:00.123 UTC [7] {}\n", entry.replace('\n', "\n\t"))
    };
    let raised = raised_messages(literal);
    let messages = messages.iter().chain(&raised);
    let messages = messages.map(|entries| entries.iter().map(line).collect::<String>());
    messages.chain([format!("row {literal}\n"), program_lines(literal)]).collect()
}

/// What is logged of a DO block that has this literal, and of what one raises with it where the
/// session has turned contexts off.
fn raised_messages(literal: &str) -> Vec<Vec<String>> {
    let quoted = literal.replace('\'', "''");
    let failed = |query: String, place: &str| {
        vec![
            format!("22P02 ERROR:  invalid input syntax for type integer: \"{literal}\""),
            format!("22P02 QUERY:  {query}"),
            format!("22P02 CONTEXT:  PL/pgSQL function inline_code_block line 1 at {place}"),
        ]
    };
    vec![
        failed(format!("pw := '{quoted}'"), "assignment"),
        failed(format!("SELECT '{quoted}'::int"), "PERFORM"),
        failed(format!("INSERT INTO t VALUES ('{quoted}')"), "SQL statement"),
        vec!["00000 LOG:  statement: SET log_error_verbosity = terse".to_owned()],
        vec![format!("23505 ERROR:  account of {literal}")],
        vec![format!("42P01 WARNING:  account of {literal}")],
        vec![format!("22012 LOG:  parameter \"{literal}\" changed to \"{literal}\"")],
    ]
}

/// What a program prints that looks like a message with all its fields.
fn program_lines(literal: &str) -> String {
    let fields = [
        format!("ERROR:  account of {literal}"),
        format!("DETAIL:  Key {literal}"),
        format!("HINT:  {literal}"),
        format!("QUERY:  {literal}"),
        format!("CONTEXT:  PL/pgSQL function {literal} line 1 at PERFORM"),
        format!("LOCATION:  {literal}, {literal}.c:5"),
        format!("STATEMENT:  {literal}"),
    ];
    fields.iter().map(|field| format!("2026-11-30 10:00:00.123 UTC [7] 22012 {field}\n")).collect()
}

/// What MariaDB logs where statements go to the same file, in this order.
fn mysql_log(literal: &str, first: usize) -> String {
    let statement = format!("SELECT a FROM t WHERE a = '{}'", literal.replace('\'', "''"));
    let begin = "2026-11-30 10:00:00";
    let mut entries = [
        format!("{begin} 0 [Note] InnoDB: Using io_uring\n"),
        format!("261130 10:00:00\t     8 Query\t{statement}\n\t\t     8 Execute\t{statement}\n"),
        format!("# Time: 261130 10:00:00\n# Query_time: 1\n{statement};\n"),
        format!(
            "{begin} 0 [Note] InnoDB: *** (1) TRANSACTION:\nMariaDB thread id 5, query id 10 \
             localhost u Updating\n{statement}\n 0: len 8; hex 7171; asc {SECRET};;\n"
        ),
        format!("{begin} 7 [ERROR] Event Scheduler: [u@h][d.e] {literal}\n"),
        format!("{begin} 5 [Warning] Unsafe statement. Statement: {statement}\n"),
        format!(" 0: len 8; hex 7171; asc {SECRET};;\n"),
    ];
    let count = entries.len();
    entries.rotate_left(first % count);
    entries.concat()
}

#[test]
fn messages_of_the_servers_stay_among_planted_ones() {
    let shown = kept_of(&postgres_messages(SECRET).concat(), LogFormat::Postgres);
    for kept in [
        "STATEMENT:  SELECT a FROM t WHERE a = ?",
        "after 1000.1 ms",
        "while updating",
        "unique constraint \"?\"",
        "[7] 23505 ERROR:  ?\n",
        "inline_code_block line 1 at assignment",
    ] {
        assert!(shown.contains(kept), "no `{kept}` in {shown}");
    }
    let shown = kept_of(&mysql_log(SECRET, 1), LogFormat::Mysql);
    assert!(shown.contains(" [Note] InnoDB: Using io_uring\n"), "{shown}");
}

#[test]
fn a_log_that_is_cut_anywhere_has_no_secret() {
    let literal = format!("it's\n2026-11-30 10:00:00.1 UTC [7] 00000 LOG:  {SECRET}");
    for message in postgres_messages(&literal) {
        for end in 0..=message.len() {
            let shown = kept_of(&message[..end], LogFormat::Postgres);
            assert!(!shown.contains(SECRET), "{end}: {shown}");
        }
    }
    let literal = format!("it's\n2026-11-30 10:00:00 0 [Note] InnoDB: {SECRET}");
    let log = mysql_log(&literal, 1);
    for end in 0..=log.len() {
        let shown = kept_of(&log[..end], LogFormat::Mysql);
        assert!(!shown.contains(SECRET), "{end}: {shown}");
    }
}

proptest::proptest! {
    #[test]
    fn no_literal_of_postgres_is_kept(
        before in "(\n|2026-11-30 10:00:00\\.1 UTC \\[7\\] 00000 LOG:  |statement: |[x']){0,5}",
        after in "(\n|checkpoint starting: |shutting down| \\[7\\] 22012 ERROR:  |[x']){0,5}",
        cut in 0usize..8000,
    ) {
        let log = postgres_messages(&format!("{before}{SECRET}{after}")).concat();
        let shown = kept_of(&log[..cut.min(log.len())], LogFormat::Postgres);
        proptest::prop_assert!(!shown.contains(SECRET), "{shown}");
    }

    #[test]
    fn no_literal_of_mysql_is_kept(
        before in "(\n|2026-11-30 10:00:00 0 \\[Note\\] |InnoDB: |# Time: |Version: '|[x']){0,5}",
        after in "(\n|Using io_uring|2026-11-30 10:00:00 0 \\[ERROR\\] |Aborting|[x']){0,5}",
        first in 0usize..7,
        cut in 0usize..3000,
    ) {
        let log = mysql_log(&format!("{before}{SECRET}{after}"), first);
        for format in [LogFormat::Mysql, LogFormat::MysqlWithStatements] {
            let shown = kept_of(&log[..cut.min(log.len())], format);
            proptest::prop_assert!(!shown.contains(SECRET), "{shown}");
        }
    }
}
