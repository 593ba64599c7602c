//! What a client and a server say to each other, whole or cut into reads and writes.

use super::server::WatchedServer;
use dbtime_kernel_tests::KernelAge;
use dbtime_model::WireProtocol;
use dbtime_model::traced::{
    ErrorCode, ExecutedStatement, RequestOutcome, TextState, TracedRequest,
};
use dbtime_model::traced_ledger::TraceLedger;
use std::sync::Arc;

/// Between two reads or writes. Unit: nanoseconds; long enough for every packet to be looked at.
pub(crate) const PAUSE: u64 = 100_000;

/// Where a read ended before, other bytes lie behind it in the server's buffer: all of the secrets.
const STALE: &[u8] = b"Pa55w0rd Par4meter R0wvalue\0USE other\0R0wvalue\0Par4meter\0Pa55w0rd\0";

/// Bytes that go one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConversationTurn {
    /// The server reads them.
    Client(Vec<u8>),
    /// The server sends them.
    Server(Vec<u8>),
}

impl ConversationTurn {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Client(bytes) | Self::Server(bytes) => bytes,
        }
    }
}

/// All that is said over a connection.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) protocol: WireProtocol,
    pub(crate) turns: Vec<ConversationTurn>,
}

/// What is seen of a request whatever it was cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenRequest {
    pub(crate) command: u8,
    pub(crate) text: Arc<str>,
    pub(crate) text_state: TextState,
    pub(crate) length: u32,
    pub(crate) sent_bytes: u64,
    pub(crate) rows: Option<u64>,
    pub(crate) error: Option<ErrorCode>,
    pub(crate) outcome: RequestOutcome,
    pub(crate) user: Option<String>,
    pub(crate) database: Option<String>,
    pub(crate) executes: u32,
    pub(crate) statements: Vec<(Arc<str>, TextState, u32, Option<u64>)>,
}

impl SeenRequest {
    pub(crate) fn of(request: &TracedRequest) -> Self {
        let statement = |one: &ExecutedStatement| {
            (Arc::clone(&one.text), one.text_state, one.executes, one.rows)
        };
        Self {
            command: request.command,
            text: Arc::clone(&request.text),
            text_state: request.text_state,
            length: request.length,
            sent_bytes: request.sent_bytes,
            rows: request.rows,
            error: request.error.clone(),
            outcome: request.outcome,
            user: request.user().map(str::to_owned),
            database: request.database().map(str::to_owned),
            executes: request.executes,
            statements: request.statements.iter().map(statement).collect(),
        }
    }

    /// The same but for what a piece may not tell: texts that end where a read did, and what is not
    /// known of rows, errors and logins.
    pub(crate) fn is_like(&self, whole: &Self) -> bool {
        let text = is_text_like((&self.text, self.text_state), (&whole.text, whole.text_state));
        let statements = self.statements.iter().zip(&whole.statements);
        let are_like = statements.clone().all(|(own, other)| {
            is_text_like((&own.0, own.1), (&other.0, other.1))
                && own.2 == other.2
                && (own.3.is_none() || own.3 == other.3)
        });
        let number = self.statements.len() == whole.statements.len();
        let rows = self.rows.is_none() || self.rows == whole.rows;
        let error = self.error.is_none() || self.error == whole.error;
        let user = self.user.is_none() || self.user == whole.user;
        let is_unknown = self.database.as_ref().is_none_or(String::is_empty);
        let database = is_unknown || self.database == whole.database;
        let is_known = rows && error && user && database;
        text && number && are_like && is_known && self.bounds() == whole.bounds()
    }

    /// What is known in any case.
    fn bounds(&self) -> (u8, u32, u64, RequestOutcome, u32) {
        let Self { command, length, sent_bytes, outcome, executes, .. } = self;
        (*command, *length, *sent_bytes, *outcome, *executes)
    }
}

/// What differs between what was seen of pieces and of the whole; nothing: they are alike.
pub(crate) fn differences(pieces: &[SeenRequest], whole: &[SeenRequest]) -> Vec<String> {
    if pieces.len() != whole.len() {
        let texts: Vec<_> = pieces.iter().map(|one| (one.command, &one.text)).collect();
        return vec![format!("{} requests, not {}: {texts:?}", pieces.len(), whole.len())];
    }
    let pairs = pieces.iter().zip(whole).filter(|(own, other)| !own.is_like(other));
    pairs.take(1).map(|(own, other)| format!("{own:?}\ninstead of\n{other:?}")).collect()
}

/// A text is the other one, the beginning of it, or none.
fn is_text_like(own: (&str, TextState), whole: (&str, TextState)) -> bool {
    match own.1 {
        TextState::Cut => whole.0.starts_with(own.0),
        TextState::None | TextState::Unknown => true,
        TextState::Whole => own == whole,
    }
}

impl Conversation {
    /// Has a server be watched while it takes part, which on kernels of other ages is the same.
    /// `cuts`: where a turn is cut.
    pub(crate) fn watched(
        &self,
        mut cuts: impl FnMut(usize, &ConversationTurn) -> Vec<usize>,
    ) -> (Vec<SeenRequest>, TraceLedger) {
        let mut cut = Vec::new();
        let mut remember = |number, turn: &ConversationTurn| {
            cut.push(cuts(number, turn));
            cut[number].clone()
        };
        let now = self.watched_on(KernelAge::Present, &mut remember);
        let mut as_before = |number, _: &ConversationTurn| Vec::clone(&cut[number]);
        for age in [KernelAge::Older, KernelAge::Newer] {
            assert_eq!(self.watched_on(age, &mut as_before), now, "{age:?}: {self:?}");
        }
        now
    }

    fn watched_on(
        &self,
        age: KernelAge,
        cuts: &mut impl FnMut(usize, &ConversationTurn) -> Vec<usize>,
    ) -> (Vec<SeenRequest>, TraceLedger) {
        let streamed = super::server::streamed();
        let mut server = WatchedServer::on(age, self.protocol, &streamed);
        self.play(&mut server, cuts);
        let seen = server.requests().iter().map(SeenRequest::of).collect();
        (seen, server.ledger())
    }

    /// The server reads and sends, and finds nothing more to read.
    pub(crate) fn play(
        &self,
        server: &mut WatchedServer,
        cuts: &mut impl FnMut(usize, &ConversationTurn) -> Vec<usize>,
    ) {
        for (number, turn) in self.turns.iter().enumerate() {
            let mut from = 0;
            let bytes = turn.bytes();
            let ends = cuts(number, turn).into_iter().chain([bytes.len()]);
            for end in ends.filter(|end| *end <= bytes.len()) {
                if end > from {
                    one_piece(server, turn, &bytes[from..end]);
                    from = end;
                }
            }
        }
        server.passes(PAUSE);
        server.finds_nothing();
    }

    /// Has each turn for which this holds be cut once at each place. What differs from the whole;
    /// and where `is_same` says so, all has to be the same.
    pub(crate) fn cut_everywhere(
        &self,
        is_cut: impl Fn(&ConversationTurn) -> bool,
        is_same: impl Fn(&ConversationTurn, usize) -> bool,
    ) -> Vec<String> {
        let ((whole, ledger), mut found) = (self.whole(), Vec::new());
        let turns = self.turns.iter().enumerate().filter(|(_, turn)| is_cut(turn));
        for (number, turn) in turns {
            for end in 1..turn.bytes().len() {
                let cut = |at: usize, _: &ConversationTurn| match at == number {
                    true => vec![end],
                    false => Vec::new(),
                };
                let (seen, counted) = self.watched(cut);
                let mut wrong = differences(&seen, &whole);
                if is_same(turn, end) && seen != whole {
                    wrong.push("it is not the same".to_owned());
                }
                let counts = |ledger: &TraceLedger| {
                    (ledger.started, ledger.ended, ledger.pipelined_over, ledger.resync)
                };
                if counts(&counted) != counts(&ledger) {
                    wrong.push(format!("{counted:?}"));
                }
                let place = |what: String| format!("turn {number} cut at {end}: {what}");
                found.extend(wrong.into_iter().map(place));
            }
        }
        found
    }

    /// Uncut.
    pub(crate) fn whole(&self) -> (Vec<SeenRequest>, TraceLedger) {
        self.watched(|_, _| Vec::new())
    }
}

fn one_piece(server: &mut WatchedServer, turn: &ConversationTurn, piece: &[u8]) {
    server.passes(PAUSE);
    match turn {
        ConversationTurn::Client(_) => server.reads_before(piece, STALE),
        ConversationTurn::Server(_) => server.sends(piece),
    }
}
