//! What becomes of transactions that are due while every worker is busy.

use crate::Nanos;
use std::fmt;
use std::str::FromStr;

/// What happens to a transaction that is due while every worker is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backlog {
    /// It waits for its turn, however long.
    #[default]
    Wait,
    /// It is dropped at once, and counted.
    Drop,
    /// It is dropped once it has waited this long, and counted.
    Deadline(Nanos),
}

/// Why a text is no backlog policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no backlog policy: write wait, drop or deadline:50ms")]
pub struct BacklogError(String);

impl FromStr for Backlog {
    type Err = BacklogError;

    /// Reads `wait`, `drop`, `deadline:50ms`.
    fn from_str(text: &str) -> Result<Self, BacklogError> {
        let deadline = || text.strip_prefix("deadline:")?.parse().ok().map(Self::Deadline);
        match text {
            "wait" => Ok(Self::Wait),
            "drop" => Ok(Self::Drop),
            _ => deadline().ok_or_else(|| BacklogError(text.to_owned())),
        }
    }
}

impl fmt::Display for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait => write!(f, "wait"),
            Self::Drop => write!(f, "drop"),
            Self::Deadline(limit) => write!(f, "deadline:{}", limit.exact()),
        }
    }
}

serde_as_text!(Backlog);
