//! Matches the statements that the driver sent with the requests that the server served, and splits
//! [`Part::ServerAndWire`](dbtime_model::Part::ServerAndWire) by what the server was seen to do.
//!
//! Driver and tracer read one clock (`CLOCK_MONOTONIC`) and name a connection by one key. So a
//! match needs no guess: a request belongs to the exchange that contains it.
//!
//! ```text
//!   driver   sent                                          arrived ──────── read
//!   server        arrival ─ server_queue ─ start ── parts ───────── end
//!            └─wire──┘                                     ├────client─────┤
//!                                                          └─wire──┘ below zero
//! ```
//!
//! - A request belongs to an exchange where `sent <= arrival` and `start < read`. Its arrival is
//!   `start - server_queue`, or its start where the queue is not known.
//! - The way back goes from `end` to the arrival of the answer in the driver's socket, and what
//!   lies between that and `read` is the driver's. Where the arrival was not seen, the way back
//!   goes on until `read`.
//! - What the thread that read a request waited for a CPU since its arrival, was throttled or
//!   stopped, is among those parts; the rest of the time until its start is `server_queue`.
//! - `end` may be later than both: the kernel's instant is that after the send, and the client may
//!   have read, and even sent the next statement, before the server's thread goes on. The way back
//!   is negative then. It is signed, never clamped, and what the server's thread waited is among
//!   its parts.
//! - An arrival that was noted after `read` was not seen in time: the way back goes on until
//!   `read`. So the driver's share is never less than nothing.
//! - What the driver took for its lateness (`late`) is taken off its share, as far as it lies
//!   there, or off the ways, where the way back goes on until `read`. What is left of it is in two
//!   parts at once, and so much less is unexplained.
//! - How long the driver's thread had no CPU before it took an answer is known with the
//!   connection's next request.
//! - An exchange may contain several requests (PREPARE and EXECUTE): all are its own. One of the
//!   workload without any that executes is unmatched, unless the server refused it.
//! - Statements that are under way together (pipelining) are one group. Its requests are those
//!   between its first `sent` and its last `read`.
//! - A request that was read before the exchange was sent, or after its answer was read, cannot be
//!   its own, however the rest of it overlaps. It is outside.
//! - A request that arrived before the exchange was sent and was read within it contradicts the
//!   clock or the driver. So do requests of two connections within one exchange, and a request
//!   without an answer within an answered exchange. Such an exchange is ambiguous.
//!
//! A connection is named by the client's address or socket. Where something lies between that makes
//! the name at the server another one, the server's own number of the connection is the name.
//!
//! The parts of a transaction add up to its response exactly: the pieces that replace its
//! `server_and_wire` have the same sum, in integers.
//!
//! No I/O and no threads: both sides come as calls, in any interleaving.

mod connection_timeline;
mod exchange_group;
mod joined_transaction;
mod pending_transaction;
mod relayed_connections;
mod request_waits;
mod served_request;
mod server_answer;
mod statement_joiner;
#[cfg(test)]
pub(crate) mod tests;
mod transaction_ledger;

pub(crate) use joined_transaction::JoinedWaits;
pub use joined_transaction::{
    BareStatement, JoinedStatement, JoinedTransaction, LeftOutTransaction, StatementMatch,
};
#[cfg(test)]
pub(crate) use request_waits::RequestWaits;
pub(crate) use served_request::executes;
pub use server_answer::ServerAnswer;
pub use statement_joiner::StatementJoiner;
