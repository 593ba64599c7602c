//! How many rows a request has sent or changed, where its answer says so.

use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;
use std::process::Command;

/// Those of each request in turn that has such a text.
fn rows(seen: &Seen, command: &str, text: &str) -> Vec<Option<u64>> {
    let is_one = |one: &&Value| one["command"] == command && one["text"] == text;
    seen.requests.iter().filter(is_one).map(|one| one["rows"].as_u64()).collect()
}

#[test]
fn rows_of_mariadb_are_counted_by_packets_and_told_of_changes() {
    of_packets_and_changes(&GivenServer::start(Product::Mariadb, &LARGE));
}

/// One row is larger than a packet.
pub(super) const LARGE: [(&str, &str); 1] = [("max_allowed_packet", "64M")];

pub(super) fn of_packets_and_changes(server: &GivenServer) {
    let sandbox = Sandbox::new();
    server.sql("CREATE TABLE t (i INT)");
    server.sql("INSERT INTO t VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    let mut client = RawClient::connect(server);
    let many = "1000 + a.i + 10 * b.i + 100 * c.i + 1000 * d.i + 10000 * e.i";
    let many =
        format!("INSERT INTO r SELECT {many}, 'y' FROM t a, t b, t c, t d, t e WHERE e.i < 7");
    let of_changes = [
        ("USE d", 0),
        ("DO 1", 0),
        ("CREATE TABLE r (n INT PRIMARY KEY, t TEXT)", 0),
        ("INSERT INTO r SELECT a.i + 10 * b.i + 100 * c.i, 'x' FROM t a, t b, t c", 1000),
        (&*many, 70_000),
        ("UPDATE r SET t = 'z' WHERE n < 8", 8),
        ("CREATE PROCEDURE p() BEGIN SELECT 1 UNION SELECT 2; SELECT 3; END", 0),
    ];
    of_changes.iter().for_each(|(sql, _)| {
        client.ask(sql);
        client.packet();
    });
    let two_changes = "DELETE FROM r WHERE n = 0; DELETE FROM r WHERE n IN (1, 2)";
    client.query(two_changes);
    client.query_fails("SELECT nothing");
    let of_rows = [
        ("SELECT 1, 2, 3", 1),
        ("SELECT n FROM r WHERE n < 0", 0),
        ("SELECT n FROM r WHERE n < 100", 97),
        // In many writes, none of which ends with a row; each takes its time.
        ("SELECT REPEAT('x', n % 71), CRC32(REPEAT(n, 5000)) FROM r WHERE n < 30011", 30_008),
        ("SELECT 1 UNION SELECT 2; SELECT 3; SELECT n FROM r WHERE n < 0", 3),
        ("CALL p()", 3),
        // One that does not fit into a packet, and one that fits exactly.
        ("SELECT REPEAT('x', 17000000) UNION ALL SELECT REPEAT('x', 16777211)", 2),
    ];
    of_rows.iter().for_each(|(sql, _)| client.select(sql));
    let too_quick = "SELECT a.i FROM t a, t b, t c, t d, t e, t f";
    client.select(too_quick);
    let id = client.prepare("SELECT n FROM r WHERE n < ?");
    client.fetch(id, 13, 4);
    let seen = tracer.end();
    seen.is_clean();
    for (sql, expected) in of_changes.into_iter().chain(of_rows) {
        assert_eq!(rows(&seen, "03:QUERY", sql), [Some(expected)], "{sql}");
    }
    assert_eq!(rows(&seen, "03:QUERY", two_changes), [Some(3)]);
    assert_eq!(rows(&seen, "03:QUERY", "SELECT nothing"), [None]);
    // Whether they could be counted at a small cost depends on the machine.
    let rows_of_quick = rows(&seen, "03:QUERY", too_quick);
    assert!([vec![None], vec![Some(1_000_000)]].contains(&rows_of_quick), "{rows_of_quick:?}");
    assert_eq!(rows(&seen, "17:EXECUTE", "SELECT n FROM r WHERE n < ?"), [Some(0)]);
    let fetched: Vec<_> = seen.requests.iter().filter(|one| one["command"] == "1c:FETCH").collect();
    let fetched: Vec<_> = fetched.iter().map(|one| one["rows"].as_u64()).collect();
    assert_eq!(fetched, [Some(4), Some(4), Some(2)]);
}

#[test]
fn rows_are_the_same_to_other_clients_and_in_tls() {
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        let series = match product {
            Product::Postgres => "SELECT generate_series(1, 4507)",
            _ => "SELECT SHA2(REPEAT(seq, 500), 512) FROM seq_1_to_4507",
        };
        for is_encrypted in [true, false] {
            let mode = encrypted::mode(product, is_encrypted);
            let target = format!("{}?{mode}", server.target_tcp());
            for protocol in ["text", "prepared"] {
                let line = format!(
                    "run --query '{series}' --transactions 3 --connections 1 \
                     --protocol {protocol} --target '{target}' --no-record"
                );
                sandbox.run(&line).exits(0);
            }
        }
        let seen = tracer.end();
        seen.is_clean();
        let [text, prepared] = match product {
            Product::Postgres => ["Q:QUERY", "E:EXECUTE"],
            _ => ["03:QUERY", "17:EXECUTE"],
        };
        for command in [text, prepared] {
            let rows = rows(&seen, command, series);
            let all = rows.len() >= 6 && rows.iter().all(|rows| *rows == Some(4507));
            assert!(all, "{product:?} {command}: {rows:?}");
        }
    }
}

#[test]
fn a_client_that_wants_short_ends_has_the_same_rows() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let texts = [
        ("SELECT SHA2(REPEAT(seq, 500), 512) FROM seq_1_to_1013", 1013),
        ("SELECT seq FROM seq_1_to_97", 97),
        ("SELECT seq FROM seq_1_to_9 WHERE seq > 10", 0),
        ("VALUES (1), (2)", 2),
        ("CREATE PROCEDURE p() BEGIN SELECT 1 UNION SELECT 2; SELECT 3; END", 0),
        // Its results, and an OK behind them.
        ("CALL p()", 3),
    ];
    let mut client = Command::new("mariadb");
    client.args([
        &*format!("--defaults-file={}", server.server.login_file().display()),
        "--delimiter=//",
        "--database=d",
        "--execute",
    ]);
    let all = texts.map(|(text, _)| text).join("//");
    let out = client.arg(all).output().expect("it is installed");
    assert!(out.status.success(), "{out:?}");
    let seen = tracer.end();
    seen.is_clean();
    for (text, expected) in texts {
        assert_eq!(rows(&seen, "03:QUERY", text), [Some(expected)], "{text}");
    }
}

/// The library that sysbench uses has definitions of columns sent once for each prepared statement.
#[test]
fn a_client_that_knows_the_columns_has_the_same_rows() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let sandbox = Sandbox::new();
    let sysbench = |script: &str, command: &str| {
        let socket = server.server.socket().display();
        let options = [
            "--db-driver=mysql".to_owned(),
            format!("--mysql-socket={socket}"),
            format!("--mysql-user={}", server.server.user()),
            format!("--mysql-password={}", server.server.password().reveal()),
            "--mysql-db=d".to_owned(),
            "--tables=1".to_owned(),
            "--table-size=1000".to_owned(),
            "--events=53".to_owned(),
            "--range-size=7".to_owned(),
        ];
        let out = Command::new("sysbench").arg(script).args(options).arg(command).output();
        assert!(out.expect("it is installed").status.success(), "{script} {command}");
    };
    sysbench("oltp_point_select", "prepare");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    sysbench("oltp_point_select", "run");
    let seen = tracer.end();
    let found = rows(&seen, "17:EXECUTE", "SELECT c FROM sbtest1 WHERE id=?");
    assert_eq!(found, [Some(1); 53]);
}

#[test]
fn rows_of_postgresql_are_those_of_the_command_that_says_so() {
    of_commands(&GivenServer::start(Product::Postgres, &postgres::SETTINGS));
}

pub(super) fn of_commands(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    let mut client = RawPostgres::connect(server);
    let texts = [
        ("CREATE TABLE r (n INT)", None),
        ("INSERT INTO r SELECT generate_series(1, 1234567)", Some(1_234_567)),
        ("UPDATE r SET n = n WHERE n < 8", Some(7)),
        ("DELETE FROM r WHERE n > 123456", Some(1_111_111)),
        ("SELECT n FROM r WHERE n < 11", Some(10)),
        ("SELECT n FROM r WHERE n < 0", Some(0)),
        ("SELECT n, repeat('x', n % 71) FROM r", Some(123_456)),
        ("COPY (SELECT n FROM r WHERE n < 20) TO STDOUT", Some(19)),
        ("BEGIN", None),
        ("DECLARE c CURSOR FOR SELECT n FROM r", None),
        ("FETCH 100 FROM c", Some(100)),
        ("MOVE 33 FROM c", Some(33)),
        ("COMMIT", None),
        // Behind this comes what it was set to.
        ("SET application_name = 'SELECT 5'", None),
        ("SELECT 1; SELECT 2", None),
        ("SELECT 3 ; ", Some(1)),
        ("SELECT ';' /* ; */ -- ;", Some(1)),
        ("SELECT $$;$$, $a$;$a$ /* /* ; */ ; */", Some(1)),
        ("SELECT 5 # 3; SELECT 8", None),
        ("SELECT nothing", None),
    ];
    for (text, _) in texts {
        client.query(text);
    }
    client.extended("SELECT 6");
    client.prepare("one", "SELECT 7");
    client.batch("one", 7);
    client.terminate();
    let seen = tracer.end();
    seen.is_clean();
    for (text, expected) in texts {
        assert_eq!(rows(&seen, "Q:QUERY", text), [expected], "{text}");
    }
    assert_eq!(rows(&seen, "E:EXECUTE", "SELECT 6"), [Some(1)]);
    assert_eq!(rows(&seen, "E:EXECUTE", "SELECT 7"), [Some(7)]);
}
