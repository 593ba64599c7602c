//! Which transactions have the parts of their time measured.

use std::fmt;
use std::str::FromStr;

/// Which transactions have their parts measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetChoice {
    /// One in so many that measuring costs about 1 % of the service time.
    #[default]
    Auto,
    /// One in so many.
    Every(u32),
    /// None.
    Off,
}

/// Why a text does not say which transactions have their parts measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no choice of transactions to measure: write auto, off, or 16 for one in 16")]
pub struct BudgetChoiceError(String);

impl FromStr for BudgetChoice {
    type Err = BudgetChoiceError;

    /// Reads `auto`, `off`, `16`.
    fn from_str(text: &str) -> Result<Self, BudgetChoiceError> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Self::Auto),
            ("off", _) => Ok(Self::Off),
            (_, Ok(every)) if every > 0 => Ok(Self::Every(every)),
            _ => Err(BudgetChoiceError(text.to_owned())),
        }
    }
}

impl fmt::Display for BudgetChoice {
    /// Writes what [`FromStr`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Every(every) => write!(f, "{every}"),
            Self::Off => f.write_str("off"),
        }
    }
}

serde_as_text!(BudgetChoice);
