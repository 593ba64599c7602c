//! Of what passes between client and server neither passwords, parameters nor rows are copied,
//! wherever it is cut.

use super::conversation::{Conversation, ConversationTurn};
use super::server::WatchedServer;
use super::{mysql, postgres};
use dbtime_observe::trace::CaptureConfig;

/// What clients prove themselves by, what they bind to statements, and what is in rows.
pub(crate) const SECRETS: [&str; 3] = ["Pa55w0rd", "Par4meter", "R0wvalue"];

fn all_of_it() -> CaptureConfig {
    CaptureConfig { is_on: true, adds_up: true, ..CaptureConfig::default() }
}

/// What of the secrets is in what programs hand over or keep for the reader.
fn found(conversation: &Conversation, (number, end): (usize, usize)) -> Vec<&'static str> {
    let mut server = WatchedServer::new(conversation.protocol, &all_of_it());
    let mut cut = |at: usize, _: &ConversationTurn| if at == number { vec![end] } else { vec![] };
    conversation.play(&mut server, &mut cut);
    server.capture.snapshot(&mut server.machine, server.socket);
    let kept = ["examples", "totals"].map(|table| server.machine.rows(table, 0));
    let rows = kept.into_iter().flatten().flat_map(|(key, row)| [key, row]);
    let all: Vec<u8> = server.machine.records().into_iter().chain(rows).flatten().collect();
    // A piece of four bytes is enough to know it by.
    let is_there = |secret: &&str| {
        secret.as_bytes().windows(4).any(|piece| all.windows(4).any(|here| here == piece))
    };
    SECRETS.into_iter().filter(is_there).collect()
}

fn keeps_secrets(conversation: &Conversation) {
    for (number, turn) in conversation.turns.iter().enumerate() {
        for end in 1..=turn.bytes().len() {
            let found = found(conversation, (number, end));
            assert_eq!(found, [""; 0], "turn {number} cut at {end}: {turn:?}");
        }
    }
}

#[test]
fn nothing_of_them_is_copied_from_mysql() {
    keeps_secrets(&mysql::with_secrets());
}

#[test]
fn nothing_of_them_is_copied_from_postgresql() {
    keeps_secrets(&postgres::with_secrets());
}

/// The search itself.
#[test]
fn a_literal_in_a_text_is_found() {
    let mut conversation = mysql::with_secrets();
    let text = format!("SELECT '{}'", SECRETS[0]);
    conversation.turns.push(mysql::asks_query(&text));
    assert_eq!(found(&conversation, (0, 0)), [SECRETS[0]]);
}
