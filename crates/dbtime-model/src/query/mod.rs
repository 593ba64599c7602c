//! What `dbtime query` finds out about a statement, or about two forms of one.
//!
//! The types are the file format: `dbtime query --json` prints a [`QueryRecord`], and `--against`
//! reads one. Times are microseconds, and literals of statements are in none of the texts, unless a
//! field says otherwise.

mod advice;
mod comparison;
mod form;
mod keys;
mod plan;
mod plan_node;
mod rows_check;
mod tournament;

pub use advice::{AdviceTrial, EvidenceLevel, QueryAdvice};
pub use comparison::{FormComparison, FormVerdict, RatioInterval, RatioMethod, RowsDecile};
pub use form::{ExecutionCounter, ExecutionPart, ExecutionTimes, FirstExecution, QueryForm};
pub use keys::{KeySource, KeySummary};
pub use plan::{PlanChange, StatementPlan};
pub use plan_node::{PlanNode, PlanOperation};
pub use rows_check::{RowsCheck, RowsDifference, RowsOutcome};
pub use tournament::{PlanTournament, TournamentEntry};

use serde::{Deserialize, Serialize};

/// The version of the written form.
pub const SCHEMA: u32 = 1;

/// One statement measured, or two forms of it compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryRecord {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// The version of that program.
    pub dbtime: String,
    /// Its command line, without secrets.
    pub command: String,
    /// When it began: RFC 3339, in UTC.
    pub started_at: String,
    /// Where the statements ran.
    pub target: QueryTarget,
    /// With which values.
    pub keys: KeySummary,
    /// The statement, or both forms: A before B.
    pub forms: Vec<QueryForm>,
    /// B against A; `None`: there is one form, or there are too few pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<FormComparison>,
    /// Whether both return the same rows; `None`: there is one form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsCheck>,
    /// The statement under the planner's switches; `None`: it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tournament: Option<PlanTournament>,
    /// Largest measured gain first; untried advice behind it, and only with `--lint`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<QueryAdvice>,
    /// Whether the connection was lost, or given up, before all was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// What `--expect-…` flags wanted, in the order of the flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<QueryExpectation>,
    /// What should be known of all figures together, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Where statements ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryTarget {
    /// As `--target` takes it, without its password.
    pub url: String,
    /// Product and version: `MariaDB 10.11.19`.
    pub version: String,
    /// What it is a copy of; `None`: statements ran on the target itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<String>,
    /// What dbtime set for the session, in order: `SET SESSION query_cache_type = OFF`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// What a flag wanted of the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryExpectation {
    /// The flag: `--expect-faster`.
    pub flag: String,
    /// Whether it came true; `None`: that is not known.
    pub is_met: Option<bool>,
    /// Why, in a sentence.
    pub reason: String,
}

impl QueryRecord {
    /// The same without keys and rows that differ, which are values of the database: as files have
    /// it without `--raw-sql`.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        if let Some(difference) = self.rows.as_mut().and_then(|rows| rows.difference.as_mut()) {
            difference.key.clear();
            difference.only_in_a.clear();
            difference.only_in_b.clear();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_values_has_neither_keys_nor_rows() {
        let row = || vec![vec![Some("secret".to_owned())]];
        let difference = RowsDifference {
            key: vec![Some("secret".to_owned())],
            rows_a: 2,
            columns: vec!["name".to_owned()],
            only_in_a: row(),
            only_in_b: row(),
            ..RowsDifference::default()
        };
        let rows = RowsCheck { difference: Some(difference), ..RowsCheck::default() };
        let record = QueryRecord { rows: Some(rows), ..QueryRecord::default() }.without_values();
        let written = serde_json::to_string(&record).expect("JSON");
        assert!(!written.contains("secret") && written.contains("\"rows_a\":2"), "{written}");
    }
}
