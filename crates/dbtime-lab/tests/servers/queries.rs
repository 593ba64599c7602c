//! What scripts ask, on real databases: each engine does it, and says what came of it.

use crate::walk::walk_on;
use dbtime_lab::LabError;
use dbtime_load::connection_op::{ConnectionOp, PipelineEntry};
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;

/// Result sets behind each other: `id,name: 1,a 2,NULL; 3 changed`.
fn shown(results: &ResultSets) -> String {
    let text = |value: Option<&[u8]>| {
        value.map_or("NULL".into(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let set = |index| {
        let set = results.set(index).expect("counted");
        if set.columns() == 0 {
            return format!("{} changed", set.affected());
        }
        let names: Vec<String> = (0..set.columns()).map(|c| text(set.name(c))).collect();
        let row = |row| (0..set.columns()).map(|c| text(set.value(row, c))).collect::<Vec<_>>();
        let rows = (0..set.rows()).map(|number| row(number).join(","));
        format!("{}: {}", names.join(","), rows.collect::<Vec<_>>().join(" "))
    };
    (0..results.len()).map(set).collect::<Vec<_>>().join("; ")
}

fn walk(
    target: &str,
    requests: &[ConnectionOp<'_>],
    before: usize,
) -> Result<Vec<String>, LabError> {
    let requests: Vec<_> = requests.iter().map(|request| (0, *request)).collect();
    walk_on(target, &requests, before, shown)
}

const CREATE: ConnectionOp<'_> =
    ConnectionOp::Query("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(20))");
const INSERT: ConnectionOp<'_> = ConnectionOp::Query("INSERT INTO t VALUES (1, 'a'), (2, NULL)");
const SELECT: ConnectionOp<'_> = ConnectionOp::Query("SELECT id, name FROM t ORDER BY id");

#[test]
fn texts_and_prepared_statements_bring_back_whole_results() {
    for (target, place, wrong) in
        [("mariadb", "?", "1064"), ("postgres", "$1", "42601"), ("sqlite", "?", "SQLITE_ERROR")]
    {
        let sql = format!("SELECT id AS number, name FROM t WHERE id >= {place} ORDER BY id");
        let update = format!("UPDATE t SET name = 'c' WHERE id = {place}");
        let execute =
            |handle, parameters| ConnectionOp::Execute { handle, parameters, keeps_rows: true };
        let walked = walk(
            target,
            &[
                ConnectionOp::Connect,
                CREATE,
                INSERT,
                SELECT,
                ConnectionOp::Query("UPDATE t SET name = 'b' WHERE id = 2; SELECT name FROM t; "),
                ConnectionOp::Prepare { handle: 0, sql: &sql },
                ConnectionOp::Prepare { handle: 3, sql: &update },
                execute(0, &[SqlValue::Integer(1)]),
                execute(0, &[SqlValue::Integer(9)]),
                execute(3, &[SqlValue::Integer(1)]),
                ConnectionOp::Query("SELEC 1"),
                execute(7, &[]),
                ConnectionOp::Close { handle: 0 },
                execute(0, &[SqlValue::Integer(1)]),
                ConnectionOp::Disconnect,
                ConnectionOp::Connect,
                SELECT,
                execute(3, &[SqlValue::Integer(1)]),
            ],
            4,
        );
        let walked = walked.unwrap_or_else(|error| panic!("{target}: {error}"));
        let lines: Vec<&str> = walked.iter().map(String::as_str).collect();
        let unknown = match target {
            "mariadb" => "statement 1243",
            "postgres" => "statement 26000",
            _ => "statement SQLITE_MISUSE",
        };
        assert_eq!(
            lines[..5],
            ["", "0 changed", "2 changed", "id,name: 1,a 2,NULL", "1 changed; name: a b"],
            "{target}"
        );
        assert_eq!(
            lines[7..10],
            ["number,name: 1,a 2,b", "number,name: ", "1 changed"],
            "{target}"
        );
        assert_eq!(lines[10], format!("statement {wrong}"), "{target}");
        assert_eq!(lines[11], unknown, "{target}");
        assert!(lines[12].is_empty(), "{target}");
        assert_eq!(lines[13], unknown, "{target}");
        assert_eq!(lines[16], "id,name: 1,c 2,b", "{target}");
        assert_eq!(lines[17], unknown, "{target}: another connection");
    }
}

#[test]
fn rows_that_nobody_keeps_are_counted() {
    let execute = ConnectionOp::Execute { handle: 0, parameters: &[], keeps_rows: false };
    let prepare = ConnectionOp::Prepare { handle: 0, sql: "SELECT id, name FROM t" };
    let walked = walk("mariadb", &[ConnectionOp::Connect, CREATE, INSERT, prepare, execute], 1);
    assert_eq!(walked.expect("a server")[4], ",: NULL,NULL NULL,NULL");
}

#[test]
fn a_pipeline_is_answered_as_a_whole() {
    let insert = |id| PipelineEntry::QueryWith {
        sql: "INSERT INTO t VALUES ($1, 'p')".to_owned(),
        parameters: vec![SqlValue::Integer(id)],
    };
    let fine = [insert(3), insert(4), PipelineEntry::Sync, insert(5)];
    // The second fails, and what is behind it up to the next Sync is skipped.
    let wrong = [insert(6), insert(6), insert(7), PipelineEntry::Sync, insert(8)];
    let with = ConnectionOp::QueryWith {
        sql: "SELECT $1::int + 1 AS n",
        parameters: &[SqlValue::Integer(1)],
    };
    let requests = [
        ConnectionOp::Connect,
        CREATE,
        ConnectionOp::Pipeline(&fine),
        ConnectionOp::Pipeline(&wrong),
        SELECT,
        with,
        ConnectionOp::Query("COPY t FROM STDIN"),
        ConnectionOp::Query("SELECT 1 AS one"),
    ];
    let walked = walk("postgres", &requests, 1).expect("a server");
    assert_eq!(
        walked[2..6],
        ["1 changed; 1 changed; 1 changed", "constraint 23505", "id,name: 3,p 4,p 5,p 8,p", "n: 2"]
    );
    assert_eq!(walked[6], "timeout 57014", "the server says that it was cancelled");
    assert_eq!(walked[7], "one: 1", "the connection is in step");
}

#[test]
fn data_goes_out_with_the_copy_that_reads_it() {
    let copy = |sql, data| ConnectionOp::Copy { sql, data };
    let requests = [
        ConnectionOp::Connect,
        CREATE,
        copy("COPY t FROM STDIN", b"3\tp\n4\t\\N\n"),
        copy("COPY t FROM STDIN", b"5\tp\n3\tq\n"),
        copy("COPY nowhere FROM STDIN", b"5\tp\n"),
        copy("SELECT 1 AS one", b"5\tp\n"),
        SELECT,
    ];
    let walked = walk("postgres", &requests, 1).expect("a server");
    let expected =
        ["2 changed", "constraint 23505", "statement 42P01", "one: 1", "id,name: 3,p 4,NULL"];
    assert_eq!(walked[2..], expected);
    assert!(walk("mariadb", &requests[..3], 1).expect("a server")[2].starts_with("statement "));
}

#[test]
fn a_client_may_have_several_connections() {
    let begin = ConnectionOp::Query("BEGIN");
    let requests = [
        (0, ConnectionOp::Connect),
        (0, CREATE),
        (2, ConnectionOp::Connect),
        (2, begin),
        (2, INSERT),
        (0, SELECT),
        (2, SELECT),
        (2, ConnectionOp::Disconnect),
        (0, SELECT),
        (1, SELECT),
    ];
    for target in ["mariadb", "postgres"] {
        // The second connection is made before the load, and used in it.
        let walked = walk_on(target, &requests, 3, shown).expect("a server");
        let seen = [&walked[5], &walked[6], &walked[8], &walked[9]];
        let (none, both) = ("id,name: ", "id,name: 1,a 2,NULL");
        assert_eq!(seen, [none, both, none, none], "{target}");
    }
    let walked =
        walk_on("sqlite", &[(0, ConnectionOp::Connect), (1, ConnectionOp::Connect)], 0, shown);
    assert_eq!(walked.expect("a file")[1], "statement connections");
}
