//! How often the programs read a server's memory, which is most of what an answer costs them.

use super::conversation::ConversationTurn;
use super::copies::copy_in;
use super::last_words::watched;
use super::late_errors::told;
use super::postgres::{
    answers, asks, bind, complete, description, done, everything, execute, message, query, ready,
    rows, sync,
};
use dbtime_model::WireProtocol;
use dbtime_wire::postgres::backend;

/// Reads that these turns take behind a login of PostgreSQL's.
fn reads(turns: &[ConversationTurn]) -> u64 {
    let login = &everything().turns[..2];
    let of = |turns: &[ConversationTurn]| watched(WireProtocol::Postgres, turns).machine.reads();
    of(&[login, turns].concat()) - of(login)
}

/// What fills the server's buffer again and again.
fn pieces(answer: &[u8]) -> impl Iterator<Item = ConversationTurn> {
    const BUFFER: usize = 8192;
    answer.chunks(BUFFER).map(|piece| ConversationTurn::Server(piece.to_vec()))
}

#[test]
fn of_an_answer_its_beginning_and_the_end_of_each_piece_are_read() {
    let selected =
        |count: usize| [rows(count, 8), complete(&format!("SELECT {count}")), ready(b'I')].concat();
    // The header and the text; where the answer begins, the message behind the columns, its end.
    let simple = [asks(&[query("SELECT 1")]), answers(&[description(), selected(1)])];
    assert_eq!(reads(&simple), 2 + 3);
    // Three headers, four names, and how many rows are asked for.
    let asked = asks(&[bind("", "s_1"), execute(""), sync()]);
    let bound = done(backend::BIND_COMPLETE);
    let executed = [asked.clone(), answers(&[bound.clone(), selected(1)])];
    assert_eq!(reads(&executed), 7 + 2);
    let many: Vec<_> = pieces(&[bound, selected(1000)].concat()).collect();
    assert_eq!(many.len(), 3);
    assert_eq!(reads(&[&[asked][..], &many].concat()), 7 + 4);
}

/// A header for each message of the client's, and the end of each piece of the server's.
#[test]
fn a_copy_is_read_once_a_message_or_a_piece() {
    let data = message(b'd', &[b'x'; 8000]);
    let copied = [complete("COPY 99"), ready(b'I')].concat();
    let mut turns = vec![asks(&[query("COPY t FROM STDIN")]), answers(&[copy_in(0, 3)])];
    let begun = reads(&turns);
    turns.extend(std::iter::repeat_n(asks(std::slice::from_ref(&data)), 99));
    assert_eq!(reads(&turns), begun + 99);
    let asked = asks(&[query("COPY t TO STDOUT")]);
    let all: Vec<_> = pieces(&[data.repeat(99), copied].concat()).collect();
    assert_eq!(reads(&[&[asked][..], &all].concat()), 2 + 1 + all.len() as u64);
}

/// A COPY may have more than a thousand columns, and rows may end with as many zeros; the text of
/// an error may be long.
#[test]
fn what_may_begin_long_before_the_end_is_read_in_blocks() {
    const WIDTH: u32 = 8000;
    let zeros = [&[0, 1][..], &WIDTH.to_be_bytes(), &[0; WIDTH as usize]].concat();
    let text = "division by zero ".repeat(100);
    let failed = told(backend::ERROR, ["ERROR", "22012", &text, "int4div"]);
    for last in [copy_in(0, 1600), message(backend::DATA_ROW, &zeros), failed] {
        let first = [description(), rows(3, 4)].concat();
        let turns = [asks(&[query("SELECT a FROM t")]), answers(&[first, last])];
        assert!(reads(&turns) < 30, "{} reads", reads(&turns));
    }
}
