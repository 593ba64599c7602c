//! Statements that a survey executes, and the kinds of rows that they bring.

/// Characters of a text that are read: enough to know a statement by.
pub(super) const TEXT_LENGTH: usize = 1000;

/// Pairs of one that waits and one that is waited for. Statements have the same limit, and look
/// into no more than the 100 longest waits where each takes some of the server's time.
pub(super) const MAX_CLAIMS: usize = 1000;

/// Something to ask a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockSource {
    pub(super) brings: RowKind,
    /// The statement; `{ids}` stands for the sessions that are to be looked at.
    pub(super) sql: &'static str,
    /// What is asked instead where it is refused.
    pub(super) instead: Option<&'static str>,
    /// What is missing where it is refused, and what helps; nothing where it is not missed.
    pub(super) lacks: &'static str,
}

/// What rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// `waiter`, `holder`, `lock`, `object`, `waited`.
    Claims,
    /// `id`, `user`, `address`, `database`, `state`, `in_state`, `in_transaction`, `statement`,
    /// `thread`.
    Sessions,
    /// `id`, `statement`: of sessions whose statement is not known yet.
    Statements,
}
