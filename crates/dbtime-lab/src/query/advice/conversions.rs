//! Indexes that the server cannot use because a value is of another type than the column, as it
//! says itself.

use super::evidence::{PlanEvidence, is_full_scan};
use super::{AdviceInput, AdviceProposal, ProposedTrial, untried};
use dbtime_model::Product;
use dbtime_model::query::PlanNode;

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let noted = noted(input);
    let found = if noted.lines.is_empty() { cast_columns(input) } else { noted };
    if found.lines.is_empty() {
        return Vec::new();
    }
    let finding = "a column is converted before it is compared, so that its index is of no use";
    let proposal = "compare the column with a value of its own type, or change the column's type";
    let caveats = vec!["another type of the column changes every statement on it".to_owned()];
    let (finding, proposal) = (finding.to_owned(), vec![proposal.to_owned()]);
    vec![AdviceProposal {
        advice: untried("implicit-conversion", finding, found.lines, proposal, caveats),
        trial: ProposedTrial::None,
        share: found.share,
    }]
}

/// What MySQL and MariaDB say of the whole plan.
fn noted(input: &AdviceInput<'_>) -> PlanEvidence {
    let notes = input.scene.plan.map(|plan| plan.notes.as_slice()).unwrap_or_default();
    let words: &[&str] = match input.scene.product {
        Product::Mysql => &["1739", "due to type or collation conversion"],
        Product::Mariadb => &["Cannot use key"],
        Product::Postgres | Product::Sqlite => &[],
    };
    let is_one = |note: &&String| words.iter().any(|words| note.contains(words));
    let lines: Vec<String> = notes.iter().filter(is_one).cloned().collect();
    PlanEvidence { lines, share: 1.0 }
}

/// PostgreSQL's steps that cast a column: `((code)::numeric = ?)`.
fn cast_columns(input: &AdviceInput<'_>) -> PlanEvidence {
    let is_cast = |step: &PlanNode| {
        let condition = step.condition.as_deref().unwrap_or_default();
        is_full_scan(step) && has_column_cast(condition)
    };
    match input.scene.product {
        Product::Postgres => input.evidence(is_cast).unwrap_or_default(),
        Product::Mariadb | Product::Mysql | Product::Sqlite => PlanEvidence::default(),
    }
}

/// Whether a name in brackets has a cast to a type of numbers or times behind it. One to text costs
/// nothing where the column is `varchar`.
fn has_column_cast(condition: &str) -> bool {
    condition.match_indices(")::").any(|(at, _)| {
        let before = &condition[..at];
        let inner = before.rsplit_once('(').map_or(before, |(_, inner)| inner);
        let is_name = |c: char| c.is_alphanumeric() || "_.\"".contains(c);
        let is_free = ["text", "character"].iter().any(|t| condition[at + 3..].starts_with(t));
        !inner.is_empty() && inner.chars().all(is_name) && !is_free
    })
}
