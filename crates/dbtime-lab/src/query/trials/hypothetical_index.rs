//! An index that hypopg has the planner of PostgreSQL believe in: nothing is built, and nothing is
//! executed.
//!
//! Source: README of hypopg 1.4. Its indexes are seen by one session, in `EXPLAIN` without
//! `ANALYZE` alone, and they outlive a rollback.

use super::{TrialScene, TriedProposal};
use crate::query::plans::{PlanDepth, literal, plan_of};
use crate::query::session::{QuerySession, SessionForm};
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_model::query::StatementPlan;
use dbtime_model::units::count;

/// The schema that hypopg is installed in, which need not be one that is searched.
const SCHEMA: &str = "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN \
                      pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = \
                      'hypopg'";

/// With an index that is worth a trial, the planner's cost is at most this share of that without.
const MOST_OF_COST: f64 = 0.5;

/// What a line of evidence begins with that is hypopg's.
pub(super) const HYPOPG: &str = "hypopg: ";

/// What the planner makes of an index.
struct HypotheticalCosts {
    without: f64,
    with: f64,
    /// Whether its plan has the index.
    is_used: bool,
}

/// Asks the planner about the index that `sql` creates.
pub(super) fn imagine_index(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    match costs(session, form, sql, scene) {
        None => TriedProposal::Untried,
        Some(costs) if !costs.is_used || costs.with > MOST_OF_COST * costs.without => {
            TriedProposal::NoGain
        }
        Some(costs) => {
            let rounded = |cost: f64| count(cost.round() as u64);
            let (without, with) = (rounded(costs.without), rounded(costs.with));
            let text = format!("the planner's cost falls from {without} to {with} with it");
            TriedProposal::Believed(format!("{HYPOPG}{text}"))
        }
    }
}

/// What the planner says; `None`: there is no hypopg, or one of its answers is missing.
fn costs(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
    scene: &TrialScene<'_>,
) -> Option<HypotheticalCosts> {
    if session.product != Product::Postgres {
        return None;
    }
    let schema = session.table(SCHEMA).ok()?.value()?.to_owned();
    let without = estimated(session, form, scene)?.root.cost?;
    let mut create = format!("SELECT indexname FROM {schema}.hypopg_create_index(");
    literal(&SqlValue::Text(sql.to_owned()), Product::Postgres, &mut create);
    create.push(')');
    let reset = format!("SELECT {schema}.hypopg_reset()");
    // A pooler leaves a transaction on one server.
    session.table("BEGIN").ok()?;
    let created = session.table(&create).ok();
    let plan = created.as_ref().and_then(|_| estimated(session, form, scene));
    // All that is explained on this session from now on would see it.
    let is_reset = session.table(&reset).is_ok();
    session.table("ROLLBACK").ok()?;
    if !is_reset {
        // A transaction that had failed took nothing but its end.
        session.table(&reset).ok()?;
    }
    let (created, plan) = (created?, plan?);
    let name = created.value()?;
    let is_used = plan.root.steps().iter().any(|step| step.index.as_deref() == Some(name));
    Some(HypotheticalCosts { without, with: plan.root.cost?, is_used })
}

fn estimated(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    scene: &TrialScene<'_>,
) -> Option<StatementPlan> {
    plan_of(session, form, &scene.keys.draw(0), PlanDepth::Estimated, false).ok()
}

#[cfg(test)]
mod tests {
    use super::super::believed;
    use super::*;
    use crate::query::advice::{AdviceProposal, ProposedTrial};
    use crate::query::fake_place::{FakeAnswers, FakePlace, request_with};
    use crate::query::form_text::FormText;
    use crate::query::keys::QueryKeys;
    use dbtime_engines::drive::plan::RunStop;
    use dbtime_model::SqlDialect;
    use dbtime_model::query::QueryAdvice;

    const SQL: &str = "CREATE INDEX dbtime_t_a ON t (a)";

    /// Where hypopg is, and what the planner says with an index and without, if it is asked.
    fn answered(
        sql: &str,
        asked: &[String],
        with: &'static str,
    ) -> Result<Vec<&'static str>, &'static str> {
        let is_created = asked.iter().any(|sql| sql.contains("hypopg_create_index"));
        match sql {
            "SHOW server_version" => Ok(vec!["15.4"]),
            SCHEMA => Ok(vec!["tools"]),
            "BEGIN" | "ROLLBACK" => Ok(Vec::new()),
            _ if sql.contains("hypopg_create_index") => Ok(vec!["<1>btree_t_a"]),
            _ if sql.contains("hypopg_reset") => Ok(vec![""]),
            _ if sql.starts_with("EXPLAIN") && is_created => Ok(vec![with]),
            _ if sql.starts_with("EXPLAIN") => {
                Ok(vec![r#"[{"Plan": {"Node Type": "Seq Scan", "Total Cost": 1234.4}}]"#])
            }
            _ => Err("no such table"),
        }
    }

    /// What becomes of the index, and what was asked.
    fn imagined(answers: FakeAnswers) -> (TriedProposal, Vec<String>) {
        let place = FakePlace::with_answers(SqlDialect::Postgres, answers);
        let (request, keys) = (request_with("", &[]), QueryKeys::default());
        let stop = RunStop::default();
        let scene = TrialScene {
            request: &request,
            keys: &keys,
            is_copy: false,
            stop: &stop,
            progress: &|_| {},
        };
        let native = "SELECT b FROM t WHERE a = 1".to_owned();
        let form = SessionForm { text: FormText { native, ..FormText::default() }, prepared: None };
        let tried = imagine_index(&mut place.session(), &form, SQL, &scene);
        (tried, place.asked())
    }

    fn is_reset(asked: &[String]) -> bool {
        asked.ends_with(&["SELECT tools.hypopg_reset()", "ROLLBACK"].map(str::to_owned))
    }

    #[test]
    fn an_index_that_the_planner_uses_has_its_cost_as_evidence() {
        let (tried, asked) = imagined(|sql, asked| {
            let index = r#"[{"Plan": {"Node Type": "Limit", "Total Cost": 12.3, "Plans": [
                {"Node Type": "Index Scan", "Index Name": "<1>btree_t_a", "Total Cost": 12.1}]}}]"#;
            answered(sql, asked, index)
        });
        let TriedProposal::Believed(line) = tried else { panic!("it is of use") };
        assert_eq!(line, "hypopg: the planner's cost falls from 1,234 to 12 with it");
        assert!(is_reset(&asked), "{asked:?}");
    }

    #[test]
    fn an_index_that_is_not_used_or_saves_little_is_dropped() {
        let unused: FakeAnswers = |sql, asked| {
            answered(sql, asked, r#"[{"Plan": {"Node Type": "Seq Scan", "Total Cost": 12.0}}]"#)
        };
        let small: FakeAnswers = |sql, asked| {
            let index = r#"[{"Plan": {"Node Type": "Index Scan", "Index Name": "<1>btree_t_a",
                "Total Cost": 700.0}}]"#;
            answered(sql, asked, index)
        };
        for answers in [unused, small] {
            let (tried, asked) = imagined(answers);
            assert!(matches!(tried, TriedProposal::NoGain));
            assert!(is_reset(&asked), "{asked:?}");
        }
    }

    #[test]
    fn without_hypopg_and_without_a_plan_nothing_is_known() {
        let (tried, asked) = imagined(|sql, _| match sql {
            "SHOW server_version" => Ok(vec!["15.4"]),
            _ => Ok(Vec::new()),
        });
        assert!(matches!(tried, TriedProposal::Untried));
        assert_eq!(asked.last().map(String::as_str), Some(SCHEMA));
        let (tried, asked) = imagined(|sql, asked| answered(sql, asked, "no plan"));
        assert!(matches!(tried, TriedProposal::Untried));
        assert!(is_reset(&asked), "{asked:?}");
    }

    #[test]
    fn a_note_names_what_the_planner_believes() {
        let advice = QueryAdvice {
            evidence: vec!["a scan".to_owned(), "hypopg: it falls".to_owned()],
            proposal: vec![SQL.to_owned()],
            ..QueryAdvice::default()
        };
        let of = |advice| AdviceProposal { advice, trial: ProposedTrial::None, share: 0.0 };
        let proposals = [of(QueryAdvice::default()), of(advice)];
        assert_eq!(believed(&proposals), format!("; {SQL} (hypopg: it falls)"));
    }
}
