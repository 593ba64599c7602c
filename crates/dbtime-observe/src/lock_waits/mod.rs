//! Who waits for whose locks, as a server itself has it: what to ask it, and what its answers mean.
//!
//! Asking needs a login and is done elsewhere: whoever has one executes each statement that
//! [`LockSurvey::next`] gives, and hands what came of it to [`LockSurvey::take`]. The kernel sees
//! who let a lock go; who holds one that nobody has let go of only the server knows.
//!
//! All products answer with the same columns, so that there is one reader of them (`rows`); what is
//! to be asked is a file for each protocol.

mod listed;
mod mysql;
mod postgres;
mod rows;
mod survey;

pub use listed::{listed_sessions, session_lists};
pub use survey::{LockSurvey, SurveyAnswer, SurveyRefusal};

/// Characters of a text that are read: enough to know a statement by.
const TEXT_LENGTH: usize = 1000;

/// Pairs of one that waits and one that is waited for. Statements have the same limit, and look
/// into no more than the 100 longest waits where each takes some of the server's time.
const MAX_CLAIMS: usize = 1000;

/// Something to ask a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LockSource {
    /// What it brings.
    brings: RowKind,
    /// The statement; `{ids}` stands for the sessions that are to be looked at.
    sql: &'static str,
    /// What is asked instead where it is refused.
    instead: Option<&'static str>,
    /// What is missing where it is refused, and what helps; nothing where it is not missed.
    lacks: &'static str,
}

/// What rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    /// `waiter`, `holder`, `lock`, `object`, `waited`.
    Claims,
    /// `id`, `user`, `address`, `database`, `state`, `in_state`, `in_transaction`, `statement`,
    /// `thread`.
    Sessions,
    /// `id`, `statement`: of sessions whose statement is not known yet.
    Statements,
}
