//! First rows by both protocols, and statements that have to be prepared again.

use crate::postgres::driving::workload;
use crate::postgres::private::{Server, is_there, settings, superuser};
use dbtime_engines::databases::postgres::{PostgresProtocol, PostgresShared};
use dbtime_engines::drive::shard::{
    CompletionKind, CompletionSource, StatementConnections, StatementResult,
};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::SocketReactor;
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::{Nanos, StatementId};
use std::sync::Arc;

fn reactor(
    server: &Server,
    text: &str,
    protocol: StatementProtocol,
) -> SocketReactor<PostgresProtocol> {
    let statements = workload(text).statements;
    let shared = Arc::new(PostgresShared::of_workload(superuser(), &statements, protocol));
    let mut reactor =
        SocketReactor::new(shared, Arc::new(settings(server.unix())), 1).expect("epoll");
    assert_eq!(reactor.connect_all(|| false).0, 1);
    reactor
}

fn perform(
    reactor: &mut SocketReactor<PostgresProtocol>,
    statement: u16,
    values: &[SqlValue],
    needs_row: bool,
) -> StatementResult {
    if let Some(answer) = reactor.submit(0, StatementId(statement), values, needs_row) {
        assert!(!answer.is_sent, "only what is not sent has its answer at once: {answer:?}");
        return answer;
    }
    let mut events = Vec::new();
    loop {
        reactor.wait(now() + Nanos::from_secs(1), false, &mut events);
        if let Some(event) = events.pop() {
            let CompletionKind::Answered(answer) = event.kind else { panic!("{event:?}") };
            return answer;
        }
    }
}

const TYPES: &str = "\
[[operation]]
name = \"o\"
keys = { n = { uniform = [1, 2] } }
[[operation.statement]]
sql = \"SELECT :n::int, :n::bigint * 2, 1.5::float8, 2.50::numeric, 'é\\\\'::text, NULL::int, x FROM generate_series(1, 3) x\"
[[operation.statement]]
sql = \"SELECT * FROM changing WHERE id >= :n\"
[[operation.statement]]
sql = \"DISCARD ALL\"
[[operation.statement]]
sql = \"SELECT :n::text\"
";

#[test]
fn the_first_row_comes_as_values() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    for protocol in [StatementProtocol::Text, StatementProtocol::Prepared] {
        let mut reactor = reactor(&server, TYPES, protocol);
        for needs_row in [false, true, true] {
            let values = vec![SqlValue::Integer(-7); 2];
            let answer = perform(&mut reactor, 0, &values, needs_row);
            assert_eq!((answer.rows, answer.round_trips), (Ok(3), 1), "{protocol:?}");
        }
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let expected = [
            SqlValue::Integer(-7),
            SqlValue::Integer(-14),
            SqlValue::Real(1.5),
            text("2.50"),
            text("é\\"),
            SqlValue::Null,
            SqlValue::Integer(1),
        ];
        assert_eq!(reactor.first_row(0), expected, "{protocol:?}");
        for value in ["", "it's", "\\", "a\nb", "' OR 1 = 1 --", "-- ü"] {
            let answer = perform(&mut reactor, 3, &[text(value)], true);
            assert_eq!(answer.rows, Ok(1));
            assert_eq!(reactor.first_row(0), [text(value)], "{protocol:?}");
        }
        let refused = ask_refused(&mut reactor, &[text("a\0b")]);
        assert_eq!(refused.rows.expect_err("a zero byte").code, "22021");
        assert_eq!(perform(&mut reactor, 3, &[text("still there")], false).rows, Ok(1));
    }
}

fn ask_refused(
    reactor: &mut SocketReactor<PostgresProtocol>,
    values: &[SqlValue],
) -> StatementResult {
    perform(reactor, 3, values, false)
}

#[test]
fn statements_are_prepared_again_where_they_have_to_be() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    admin.query("CREATE TABLE changing (id int)").expect("created");
    admin.query("INSERT INTO changing VALUES (1)").expect("inserted");
    let mut reactor = reactor(&server, TYPES, StatementProtocol::Prepared);
    let one = [SqlValue::Integer(1)];
    assert_eq!(perform(&mut reactor, 1, &one, true).rows, Ok(1));
    admin.query("ALTER TABLE changing ADD more text DEFAULT 'm'").expect("altered");
    let failed = perform(&mut reactor, 1, &one, true).rows.expect_err("its result has changed");
    assert_eq!(failed.code, "0A000", "{failed:?}");
    assert_eq!(perform(&mut reactor, 1, &one, true).rows, Ok(1));
    assert_eq!(reactor.first_row(0), [SqlValue::Integer(1), SqlValue::Text("m".to_owned())]);
    // Somebody threw all statements away.
    assert_eq!(perform(&mut reactor, 2, &[], false).rows, Ok(0));
    let failed = perform(&mut reactor, 1, &one, false).rows.expect_err("it is gone");
    assert_eq!(failed.code, "26000", "{failed:?}");
    assert_eq!(perform(&mut reactor, 1, &one, false).rows, Ok(1));
}
