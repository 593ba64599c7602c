//! Whether two forms return the same rows.

use serde::{Deserialize, Serialize};

/// What a comparison of rows has shown, over all keys that were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowsCheck {
    /// The worst outcome of a key.
    pub outcome: RowsOutcome,
    /// Keys that were compared, with those at the edges.
    pub keys: u64,
    /// Keys at the edges among them: absent, NULL, least, greatest, most and least frequent.
    pub edge_keys: u64,
    /// Keys for which A returned nothing, which prove little.
    pub empty_keys: u64,
    /// Rows of A that were compared.
    pub rows: u64,
    /// Keys whose rows differ.
    pub differing_keys: u64,
    /// The first key whose rows differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<RowsDifference>,
    /// What made both see the same data: `REPEATABLE READ`; empty: nothing did, since they write.
    pub snapshot: String,
    /// Why rows were not compared, or not for all keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What should be known of the outcome, in sentences: that A's order is not determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

crate::named_variants! {
    /// How the rows of both forms relate; from the best to the worst.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RowsOutcome {
        /// The same rows in the same order.
        Identical = "identical",
        /// The same rows in another order.
        OtherOrder = "other_order",
        /// The same but for rows that A's order does not tell apart.
        EqualUpToTies = "equal_up_to_ties",
        /// The same but for the last digits of floating-point numbers.
        EqualUpToRounding = "equal_up_to_rounding",
        /// They were not compared.
        #[default]
        Unchecked = "unchecked",
        /// The same different rows, some of them more often.
        DuplicatesDiffer = "duplicates_differ",
        /// The same rows in another order, although A determines the order.
        OrderDiffers = "order_differs",
        /// Not as many columns.
        ColumnsDiffer = "columns_differ",
        /// Other rows.
        Different = "different",
    }
}

impl RowsOutcome {
    /// Whether they are the same rows; `None`: that is not known.
    pub fn is_same(self) -> Option<bool> {
        match self {
            Self::Identical | Self::OtherOrder | Self::EqualUpToTies | Self::EqualUpToRounding => {
                Some(true)
            }
            Self::Unchecked => None,
            Self::DuplicatesDiffer | Self::OrderDiffers | Self::ColumnsDiffer | Self::Different => {
                Some(false)
            }
        }
    }
}

/// The rows of the first key for which they differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsDifference {
    /// What differs.
    pub outcome: RowsOutcome,
    /// The key, a value for each parameter; empty: there are no parameters, or it is not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<Option<String>>,
    /// Rows of A.
    pub rows_a: u64,
    /// Rows of B.
    pub rows_b: u64,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The first rows that B lacks; `None` is NULL. Empty in files without `--raw-sql`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in_a: Vec<Vec<Option<String>>>,
    /// The first rows that A lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in_b: Vec<Vec<Option<String>>>,
}
