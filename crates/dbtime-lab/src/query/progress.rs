//! How far `dbtime query` is.

/// What is being done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryProgress {
    /// What, in words that stand before a count: "comparing rows".
    pub step: String,
    /// How much of it is done.
    pub done: u64,
    /// Of how much; 0: that is not known.
    pub of: u64,
}
