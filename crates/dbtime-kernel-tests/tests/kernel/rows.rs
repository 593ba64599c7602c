//! How many rows there were: that is known exactly, or not at all.

use super::conversation::{Conversation, ConversationTurn};
use super::mysql::{self, asks_query, packets};
use super::postgres::{
    answers, asks, bind, complete, done, execute, failure, message, parse, ready, sync,
};
use super::server::WatchedServer;
use super::{late_errors, postgres};
use dbtime_model::WireProtocol;
use dbtime_observe::trace::CaptureConfig;
use dbtime_wire::mysql::command;
use dbtime_wire::postgres::{backend, frontend};

/// Behind the login.
fn conversation(protocol: WireProtocol, turns: &[ConversationTurn]) -> Conversation {
    let login = match protocol {
        WireProtocol::Mysql => mysql::everything().turns[..3].to_vec(),
        WireProtocol::Postgres => postgres::everything().turns[..2].to_vec(),
    };
    Conversation { protocol, turns: [&login[..], turns].concat() }
}

/// What is known of the only request: its rows, and those of its statements.
fn rows_of(conversation: &Conversation) -> (Option<u64>, Vec<Option<u64>>) {
    let (seen, ledger) = conversation.whole();
    assert_eq!((ledger.started, ledger.ended, ledger.resync), (1, 1, 0), "{ledger:?}");
    let statements = seen[0].statements.iter().map(|(.., rows)| *rows);
    (seen[0].rows, statements.collect())
}

/// The same of PostgreSQL; wherever a piece of the answer ends the rows are these, or not known.
fn postgres_rows(turns: &[ConversationTurn]) -> (Option<u64>, Vec<Option<u64>>) {
    cut_rows(turns, false)
}

/// Or where they are the same in any case, these.
fn cut_rows(turns: &[ConversationTurn], are_same: bool) -> (Option<u64>, Vec<Option<u64>>) {
    let conversation = conversation(WireProtocol::Postgres, turns);
    let is_answer = |turn: &ConversationTurn| matches!(turn, ConversationTurn::Server(_));
    let found = conversation.cut_everywhere(is_answer, |_, _| are_same);
    assert!(found.is_empty(), "{}", found.join("\n"));
    rows_of(&conversation)
}

/// Bind and Execute of a statement without a name, and what is answered.
fn executes() -> Vec<u8> {
    [bind("", ""), execute("")].concat()
}

fn executed(tag: &str) -> Vec<u8> {
    [done(backend::BIND_COMPLETE), complete(tag)].concat()
}

const INSERT: &str = "INSERT INTO t VALUES ($1)";

#[test]
fn rows_of_all_executions_of_a_statement_are_added_up() {
    let asked = asks(&[parse("", INSERT), executes().repeat(3), sync()]);
    let parsed = done(backend::PARSE_COMPLETE);
    let [two, none, five] = ["INSERT 0 2", "INSERT 0 0", "INSERT 0 5"].map(executed);
    let whole = answers(&[parsed.clone(), two.clone(), none, five, ready(b'I')]);
    assert_eq!(cut_rows(&[asked.clone(), whole], true), (Some(7), vec![]));
    let failed = answers(&[parsed, two, failure("23505"), ready(b'I')]);
    assert_eq!(postgres_rows(&[asked, failed]), (None, vec![]));
}

#[test]
fn rows_of_executions_that_come_later_are_added_up_too() {
    let begin = [parse("", "BEGIN"), executes(), parse("", INSERT), executes()].concat();
    let parsed = done(backend::PARSE_COMPLETE);
    let turns = [
        asks(&[begin, message(b'H', b"")]),
        answers(&[parsed.clone(), executed("BEGIN"), parsed.clone(), executed("INSERT 0 3")]),
        asks(&[executes(), executes(), message(b'H', b"")]),
        answers(&[executed("INSERT 0 4"), executed("INSERT 0 5")]),
        asks(&[parse("", "DELETE FROM t"), executes(), sync()]),
        answers(&[parsed, executed("DELETE 6"), ready(b'T')]),
    ];
    assert_eq!(cut_rows(&turns, true).1, [None, Some(12), Some(6)]);
}

/// Later requests name it.
#[test]
fn a_statement_whose_second_execution_fails_has_been_prepared_all_the_same() {
    let named = [bind("", "s_1"), execute("")].concat();
    let turns = [
        asks(&[parse("s_1", INSERT), named.repeat(2), sync()]),
        answers(&[
            done(backend::PARSE_COMPLETE),
            executed("INSERT 0 1"),
            failure("23505"),
            ready(b'I'),
        ]),
        asks(&[named, sync()]),
        answers(&[executed("INSERT 0 1"), ready(b'I')]),
    ];
    let (seen, _) = conversation(WireProtocol::Postgres, &turns).whole();
    let texts: Vec<_> = seen.iter().map(|request| &*request.text).collect();
    assert_eq!(texts, [INSERT; 2]);
}

/// Servers send when their buffer is full: a piece of such an answer has many messages, and ends
/// within one.
#[test]
fn rows_of_many_executions_are_added_up_over_many_pieces() {
    let asked = asks(&[parse("", INSERT), executes().repeat(900), sync()]);
    let answers_to_all = executed("INSERT 0 1").repeat(900);
    let whole = answers(&[done(backend::PARSE_COMPLETE), answers_to_all, ready(b'I')]);
    let conversation = conversation(WireProtocol::Postgres, &[asked, whole]);
    for width in [999, 1000, 1001, 1013] {
        let (seen, ledger) = conversation.watched(|_, turn| match turn {
            ConversationTurn::Server(bytes) => (width..bytes.len()).step_by(width).collect(),
            ConversationTurn::Client(_) => Vec::new(),
        });
        assert_eq!((ledger.started, ledger.ended, seen[0].executes), (1, 1, 900));
        assert_eq!(seen[0].rows, Some(900), "in pieces of {width} bytes");
    }
}

/// The shapes under which requests are added up, where the last turn is cut there.
fn shapes_of(conversation: &Conversation, end: usize) -> Vec<u64> {
    let both = CaptureConfig { is_on: true, adds_up: true, ..CaptureConfig::default() };
    let mut server = WatchedServer::new(conversation.protocol, &both);
    let last = conversation.turns.len() - 1;
    let mut cuts = |at: usize, _: &ConversationTurn| if at == last { vec![end] } else { vec![] };
    conversation.play(&mut server, &mut cuts);
    server.statements().into_iter().map(|(shape, _)| shape).collect()
}

/// Messages that are cut, and the ends of pieces, are kept beside the shapes of statements.
#[test]
fn a_statement_is_added_up_as_itself_wherever_its_answer_is_cut() {
    let select = [parse("", "SELECT a FROM t"), executes(), sync()].concat();
    let asked = asks(&[parse("", "BEGIN"), executes(), select]);
    let parsed = done(backend::PARSE_COMPLETE);
    let begun = [parsed.clone(), executed("BEGIN"), parsed, done(backend::BIND_COMPLETE)].concat();
    let selected = [postgres::rows(3, 40), complete("SELECT 3"), ready(b'T')].concat();
    let turns = [asked, answers(&[begun, selected])];
    let conversation = conversation(WireProtocol::Postgres, &turns);
    let length = turns[1].bytes().len();
    let whole = shapes_of(&conversation, length);
    assert!(!whole.is_empty());
    for end in 1..length {
        assert_eq!(shapes_of(&conversation, end), whole, "cut at {end}");
    }
}

/// Nobody has looked at the answer to the first: that of the second is not its.
#[test]
fn a_statement_has_no_rows_of_one_that_was_answered_before() {
    let (parsed, update) = (done(backend::PARSE_COMPLETE), "UPDATE t SET a = $1");
    let turns = [
        asks(&[parse("", update), executes(), message(b'H', b"")]),
        answers(&[parsed.clone(), executed("UPDATE 3")]),
        asks(&[parse("", "DELETE FROM t"), executes(), sync()]),
        answers(&[parsed, executed("DELETE 6"), ready(b'I')]),
    ];
    assert_eq!(postgres_rows(&turns).1, [None, None]);
    let again = [
        turns[0].clone(),
        turns[1].clone(),
        asks(&[executes(), sync()]),
        answers(&[executed("UPDATE 4"), ready(b'I')]),
    ];
    assert_eq!(postgres_rows(&again), (None, vec![]));
}

/// As pg8000 does it: what is to be executed is described first, and each step is flushed.
#[test]
fn rows_are_those_of_the_execution_where_each_step_is_flushed() {
    let (parsed, bound) = (done(backend::PARSE_COMPLETE), done(backend::BIND_COMPLETE));
    let flush = message(b'H', b"");
    let describe = message(frontend::DESCRIBE, b"Ss_1\0");
    let selected = [bound.clone(), postgres::rows(3, 4), complete("SELECT 3")];
    let begins = [
        asks(&[parse("s_1", "SELECT a FROM t"), describe, flush.clone()]),
        answers(&[parsed, postgres::description()]),
        asks(&[bind("", "s_1"), execute(""), flush.clone()]),
        answers(&selected),
    ];
    let closes = asks(&[message(frontend::CLOSE, b"Ss_1\0"), sync()]);
    let closed = answers(&[done(backend::CLOSE_COMPLETE), ready(b'I')]);
    let ends: [(&[ConversationTurn], Option<u64>); 4] = [
        (&[asks(&[sync()]), answers(&[ready(b'I')])], Some(3)),
        (&[closes, closed], Some(3)),
        // What fails at the end has no rows; nor is it known how many two executions have.
        (&[asks(&[sync()]), answers(&[failure("23503"), ready(b'I')])], None),
        (
            &[
                asks(&[bind("", "s_1"), execute(""), flush, sync()]),
                answers(&[bound.clone(), complete("SELECT 3"), ready(b'I')]),
            ],
            None,
        ),
    ];
    for (end, expected) in ends {
        let turns = [&begins[..], end].concat();
        assert_eq!(postgres_rows(&turns), (expected, vec![]), "{end:?}");
    }
    let at_once = asks(&[bind("", "s_1"), execute(""), message(frontend::CLOSE, b"P\0"), sync()]);
    let changed = [bound, complete("UPDATE 4"), done(backend::CLOSE_COMPLETE), ready(b'I')];
    assert_eq!(postgres_rows(&[at_once, answers(&changed)]), (Some(4), vec![]));
}

#[test]
fn a_portal_that_is_not_at_its_end_has_as_many_rows_as_were_asked_for() {
    let fetch = |rows: u32| {
        let body = [&b"C_1\0"[..], &rows.to_be_bytes()].concat();
        asks(&[message(frontend::EXECUTE, &body), sync()])
    };
    let part = [postgres::rows(2, 4), done(b's'), ready(b'T')];
    assert_eq!(postgres_rows(&[fetch(2), answers(&part)]), (Some(2), vec![]));
    let pieces = [fetch(2), answers(&part[..2]), answers(&part[2..])];
    assert_eq!(postgres_rows(&pieces), (Some(2), vec![]));
    let last = [postgres::rows(1, 4), complete("SELECT 1"), ready(b'T')];
    assert_eq!(postgres_rows(&[fetch(2), answers(&last)]), (Some(1), vec![]));
}

/// What ends rows to clients that want no EOF.
const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
const COLUMN: &[u8] = late_errors::COLUMN;

#[test]
fn a_result_says_in_two_ways_whether_its_columns_follow() {
    let wide = [&[0xfc, 0x20, 0x03][..], &[b'w'; 800]].concat();
    let both: &[&[u8]] = &[COLUMN, COLUMN];
    // MySQL: that they follow, and the number; MariaDB: the number, and whether they do.
    let forms: [(&[u8], &[&[u8]]); 4] =
        [(&[1, 2], both), (&[2, 1], both), (&[2, 0], &[]), (&[2], both)];
    for row in [&b"\x011"[..], &wide] {
        for (first, columns) in forms {
            let payloads = [&[first][..], columns, &[row, row, row, END]].concat();
            let turns = [asks_query("SELECT a, b FROM t"), mysql::answers(&payloads)];
            let rows = rows_of(&conversation(WireProtocol::Mysql, &turns)).0;
            assert_eq!(rows, Some(3), "{first:?} with rows of {} bytes", row.len());
        }
    }
}

/// A row may have what looks like the end of rows just where the server's buffer was full.
#[test]
fn an_end_behind_which_more_comes_was_none() {
    let look_alike = [5, 0, 0, 9, 0xfe, 0, 0, 2, 0];
    let value = [&[b'x'; 40][..], &look_alike, &[b'y'; 60]].concat();
    let row = [&[value.len() as u8][..], &value].concat();
    let end: &[u8] = &[0xfe, 0, 0, 2, 0];
    let answer = packets(1, &[&[1], COLUMN, end, &row, end]);
    let cut = answer.len() - 9 - 60;
    let [first, second] = [&answer[..cut], &answer[cut..]];
    let asked = asks_query("SELECT a FROM t");
    let pieces =
        [asked, ConversationTurn::Server(first.into()), ConversationTurn::Server(second.into())];
    assert_eq!(rows_of(&conversation(WireProtocol::Mysql, &pieces)).0, None);
}

/// With a row for each of its parameters it says how many each has changed.
#[test]
fn a_bulk_execution_has_the_rows_of_its_ok_alone() {
    let parameters =
        [&7u32.to_le_bytes()[..], &[0x80, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]].concat();
    let asked = mysql::asks(command::STMT_BULK_EXECUTE, &parameters);
    let ok = mysql::answers(&[&[0, 5, 0, 2, 0, 0, 0]]);
    let units = mysql::answers(&[&[2], COLUMN, COLUMN, b"\x011\x012", END]);
    for (answer, expected) in [(ok, Some(5)), (units, None)] {
        let turns = [asked.clone(), answer];
        assert_eq!(rows_of(&conversation(WireProtocol::Mysql, &turns)).0, expected);
    }
}
