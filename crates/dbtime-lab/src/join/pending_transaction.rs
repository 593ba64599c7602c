//! A transaction with statements that are not decided yet.

use super::exchange_group::{ExchangeGroup, SplitGroup, runq_within};
use super::joined_transaction::{
    BareStatement, JoinedStatement, JoinedTransaction, JoinedWaits, LeftOutTransaction,
    StatementMatch,
};
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::{Nanos, Part, PartSet, Parts};

/// The way to and from the server, and its queue. With [`Part::TRACED`] they are the parts on the
/// server's side.
const WAY_PARTS: PartSet = PartSet::of(&[Part::Wire, Part::ServerQueue]);

/// A transaction from its first exchange until all of them are decided and it is over.
#[derive(Debug, Default)]
pub(super) struct PendingTransaction {
    /// `None`: the driver has not handed it over yet.
    driven: Option<Box<DrivenTransaction>>,
    exchanges: u32,
    decided: u32,
    /// Whether a statement of it is not matched.
    is_left_out: bool,
    statements: Vec<JoinedStatement>,
    /// Its statements without parts of their own.
    bare: Vec<BareStatement>,
    waits: Vec<JoinedWaits>,
    /// The parts of all statements that could not be told apart.
    unsplit: Option<Box<Parts>>,
    /// How long answers waited for a driver without a CPU, of the groups of which that is known.
    client_runq: Nanos,
    /// Whether that is not known of some group.
    lacks_client_runq: bool,
    /// The driver's lateness that is in other parts too.
    twice: Nanos,
    /// The connections that it used.
    keys: Vec<ConnectionKey>,
}

impl PendingTransaction {
    /// An exchange of it has come.
    pub(super) fn add_exchange(&mut self, key: Option<ConnectionKey>) {
        self.exchanges += 1;
        if let Some(key) = key.filter(|key| !self.keys.contains(key)) {
            self.keys.push(key);
        }
    }

    /// It is over. Returns the connections that it used.
    pub(super) fn add_driven(&mut self, driven: DrivenTransaction) -> Vec<ConnectionKey> {
        self.is_left_out |= driven.exchanges != self.exchanges;
        self.driven = Some(Box::new(driven));
        std::mem::take(&mut self.keys)
    }

    /// A statement of it is not matched.
    pub(super) fn leave_out(&mut self, exchange: &StatementExchange, outcome: StatementMatch) {
        self.decided += 1;
        self.is_left_out = true;
        self.bare.push(BareStatement { exchange: *exchange, outcome });
        self.waits = Vec::new();
        self.unsplit = None;
    }

    /// A group of its statements is matched. Returns whether they could be told apart.
    pub(super) fn add_matched(&mut self, group: &ExchangeGroup, slices: &mut Vec<Parts>) -> bool {
        self.decided += group.exchanges().len() as u32;
        let SplitGroup { parts, twice, is_split } = group.split(slices, &mut self.statements);
        if !is_split {
            let bare = |exchange: &StatementExchange| BareStatement {
                exchange: *exchange,
                outcome: StatementMatch::Unsplit,
            };
            self.bare.extend(group.exchanges().iter().map(bare));
        }
        if self.is_left_out {
            return is_split;
        }
        self.waits.extend(group.waits());
        self.twice += twice;
        match group.client_runq() {
            Some(runq) => self.client_runq += runq_within(&parts, runq),
            None => self.lacks_client_runq = true,
        }
        if !is_split {
            self.unsplit.get_or_insert_default().add_all(&parts);
        }
        is_split
    }

    /// Whether nothing more can come.
    pub(super) fn is_decided(&self) -> bool {
        self.driven.is_some() && self.decided == self.exchanges
    }

    /// The decided transaction; an error: it is left out. `None`: it is not over.
    pub(super) fn join(self) -> Option<Result<JoinedTransaction, LeftOutTransaction>> {
        let driven = *self.driven?;
        let (mut statements, bare) = (self.statements, self.bare);
        statements.sort_by_key(|statement| statement.exchange.sent);
        if self.is_left_out {
            return Some(Err(LeftOutTransaction { driven, statements, bare }));
        }
        let mut served = self.unsplit.map_or_else(Parts::default, |parts| *parts);
        statements.iter().for_each(|statement| served.add_all(&statement.parts));
        if driven.exchanges == 0 && driven.parts.get(Part::ServerAndWire) == 0 {
            // It had nothing to do there, and that is known. (One that was given up with a
            // statement under way had, and that is not.)
            served.measure(PartSet::of(&Part::TRACED));
            served.measure(WAY_PARTS);
        }
        let parts = replaced(&driven.parts, &served);
        let (waits, twice) = (self.waits, self.twice);
        let client_runq = (!self.lacks_client_runq).then_some(self.client_runq);
        Some(Ok(JoinedTransaction { parts, driven, statements, bare, waits, client_runq, twice }))
    }
}

/// The driver's parts with those of the server in place of as much of `server_and_wire`.
fn replaced(driven: &Parts, served: &Parts) -> Parts {
    // What others have written wraps.
    let rest = driven.get(Part::ServerAndWire).wrapping_sub(served.total());
    let mut parts = *served;
    for part in driven.measured().iter().filter(|part| *part != Part::ServerAndWire) {
        parts.add(part, driven.get(part));
    }
    if rest != 0 {
        parts.add(Part::ServerAndWire, rest);
    }
    parts
}
