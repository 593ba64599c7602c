//! What may make a statement faster, to be tried: candidates from its text, its plan, what the
//! server counted, and the tables it reads.
//!
//! ```text
//!   text ── dbtime_sql::rewrites, text_findings ─┐
//!   plan, notes, counters ───────────────────────┼─► rules ─► AdviceProposal ─► a trial
//!   table_facts ─────────────────────────────────┘
//! ```
//!
//! Rules are pure; only [`table_facts()`] asks a database. Nothing here tries anything.

mod conversions;
mod evidence;
mod indexes;
mod redundant_indexes;
mod rewrite_rules;
mod spilled_sort;
mod stale_statistics;
mod table_facts;
mod text_rules;

#[cfg(test)]
mod tests;

pub(crate) use table_facts::{IndexFacts, TableFacts, table_facts};

use super::form_text::{FormText, PlanSwitch};
use dbtime_model::query::{EvidenceLevel, ExecutionCounter, PlanNode, QueryAdvice, StatementPlan};
use dbtime_model::{Product, SqlDialect};
use dbtime_observe::counters::ServerVersion;
use dbtime_sql::{LexicalRules, StatementRewrite, TextFinding};

/// What is known of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdviceScene<'s> {
    pub(crate) form: &'s FormText,
    /// `None`: the server has not shown it.
    pub(crate) plan: Option<&'s StatementPlan>,
    /// Of one execution.
    pub(crate) counters: &'s [ExecutionCounter],
    pub(crate) product: Product,
    pub(crate) version: ServerVersion,
    /// The tables that the statement reads, as far as they could be looked at.
    pub(crate) tables: &'s [TableFacts],
    /// Whether it runs on a copy, where statistics may be made.
    pub(crate) is_copy: bool,
    /// Whether literals are kept in proposals.
    pub(crate) is_raw: bool,
}

/// A proposal, and how it can be tried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdviceProposal {
    pub(crate) advice: QueryAdvice,
    pub(crate) trial: ProposedTrial,
    /// How much of the plan's cost or time it is about: 0 to 1.
    pub(crate) share: f64,
}

/// What is done to try a proposal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ProposedTrial {
    /// Another form, with parameters as `:name` or `$1`.
    Rewrite(String),
    /// An index.
    Index { table: String, columns: Vec<String>, sql: String, drop_sql: String },
    /// Something that is set for the statement alone.
    Setting(PlanSwitch),
    /// Statements, and those that undo them.
    Statements { run: Vec<String>, undo: Vec<String> },
    /// Nothing can be done about it by itself.
    None,
}

/// What the rules look at.
struct AdviceInput<'s> {
    scene: &'s AdviceScene<'s>,
    rewrites: Vec<StatementRewrite>,
    findings: Vec<TextFinding>,
    /// The steps of the plan.
    steps: Vec<&'s PlanNode>,
}

/// What a rule proposes.
type ProposalRule = fn(&AdviceInput<'_>) -> Vec<AdviceProposal>;

/// The groups of rules.
const RULES: [ProposalRule; 7] = [
    rewrite_rules::proposals,
    indexes::proposals,
    redundant_indexes::proposals,
    conversions::proposals,
    spilled_sort::proposals,
    stale_statistics::proposals,
    text_rules::proposals,
];

/// What may make the statement faster; what is about most of the plan first.
pub(crate) fn proposals(scene: &AdviceScene<'_>) -> Vec<AdviceProposal> {
    let dialect = scene.product.dialect();
    let input = AdviceInput {
        scene,
        rewrites: dbtime_sql::rewrites(&scene.form.given, dialect),
        findings: dbtime_sql::text_findings(&scene.form.given, dialect),
        steps: scene.plan.map(|plan| plan.root.steps()).unwrap_or_default(),
    };
    let mut all: Vec<AdviceProposal> = RULES.iter().flat_map(|rule| rule(&input)).collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

impl AdviceInput<'_> {
    fn dialect(&self) -> SqlDialect {
        self.scene.product.dialect()
    }

    /// SQL as it may be shown.
    fn shown(&self, sql: &str) -> String {
        if self.scene.is_raw {
            return dbtime_sql::without_passwords(sql).into_owned();
        }
        let mut shown = String::new();
        dbtime_sql::fingerprint(sql, &LexicalRules::unknown(self.dialect()), &mut shown);
        shown
    }
}

/// Whether two names are the same but for case, quotes and, where only one has it, a schema.
fn is_same_name(one: &str, other: &str) -> bool {
    let bare = |name: &str| name.replace(['"', '`', '[', ']'], "").to_lowercase();
    let (one, other) = (bare(one), bare(other));
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    match (one.contains('.'), other.contains('.')) {
        (true, true) | (false, false) => one == other,
        _ => last(&one) == last(&other),
    }
}

/// A proposal before it is tried. With evidence it is of the plan, without of the text alone.
fn untried(
    rule: &str,
    finding: String,
    evidence: Vec<String>,
    proposal: Vec<String>,
    caveats: Vec<String>,
) -> QueryAdvice {
    let level = if evidence.is_empty() { EvidenceLevel::Text } else { EvidenceLevel::Plan };
    QueryAdvice { rule: rule.to_owned(), finding, evidence, proposal, level, trial: None, caveats }
}
