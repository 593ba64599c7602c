//! Clients that leave amid an answer: what becomes of their requests, and how long these took.

use super::conversation::PAUSE;
use super::last_words::{SYNTAX, answered, behind_login};
use super::late_errors::{COLUMN, EOF, ROW};
use super::server::WatchedServer;
use super::{mysql, postgres};
use dbtime_model::traced::RequestOutcome;
use dbtime_wire::mysql::command;

/// What becomes of the only request where the next piece does not reach its client, and how long it
/// took, in pauses.
fn cut_off(mut server: WatchedServer) -> (RequestOutcome, u64) {
    server.passes(PAUSE);
    server.cannot_send();
    let requests = server.requests();
    let [request] = &requests[..] else { panic!("{requests:?}") };
    (request.outcome, request.response().0 / PAUSE)
}

/// A query of MySQL's that is answered so.
fn asked(answer: &[&[u8]]) -> WatchedServer {
    behind_login(&[mysql::asks_query("SELECT a FROM t"), mysql::answers(answer)])
}

#[test]
fn a_request_whose_client_leaves_amid_the_answer_is_aborted_and_lasts_until_then() {
    let first: &[&[u8]] = &[&[1], COLUMN, EOF, ROW, ROW];
    assert_eq!(cut_off(asked(first)), (RequestOutcome::Aborted, 2));
    let piece = [postgres::description(), postgres::rows(3, 4)];
    assert_eq!(cut_off(answered(&[&piece])), (RequestOutcome::Aborted, 2));
}

/// What is sent then belongs to no request.
#[test]
fn a_request_that_was_answered_is_not_aborted_by_what_is_sent_behind_that() {
    let whole: [&[&[u8]]; 3] = [&[mysql::OK], &[&[1], COLUMN, EOF, ROW, EOF], &[SYNTAX]];
    for answer in whole {
        assert_eq!(cut_off(asked(answer)), (RequestOutcome::Ended, 1), "{answer:?}");
    }
}

/// The client leaves while a command is under way that has no answer.
#[test]
fn what_has_no_answer_is_not_aborted() {
    let closes = mysql::asks(command::STMT_CLOSE, &7u32.to_le_bytes());
    assert_eq!(cut_off(behind_login(&[closes])).0, RequestOutcome::Ended);
}
