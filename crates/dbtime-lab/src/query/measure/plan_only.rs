//! Plans of forms that are not executed.

use super::QueryScene;
use crate::error::LabError;
use crate::query::form_text::FormText;
use crate::query::keys::read_keys;
use crate::query::plans::{PlanDepth, plan_of, plans_without_key};
use crate::query::samples::FormSamples;
use crate::query::session::{QuerySession, SessionForm};
use dbtime_load::program::SqlValue;
use dbtime_model::query::{QueryForm, QueryRecord};

impl QueryScene<'_> {
    /// Adds the plans of the forms, and nothing else. Parameters without a dictionary may have any
    /// value, where the product has plans for that.
    ///
    /// # Errors
    /// A form has no plan, or wants values that are not known.
    pub(super) fn add_plans_alone(
        &self,
        session: &mut QuerySession<'_>,
        texts: &[FormText],
        record: &mut QueryRecord,
    ) -> Result<(), LabError> {
        let mut key = Vec::new();
        if !self.request.dictionaries.is_empty() || !plans_without_key(session) {
            let keys = read_keys(self.request, texts, session)?;
            key = keys.draw(0);
            record.keys = keys.summary(0);
        } else if texts.iter().any(|text| !text.order.is_empty()) {
            let note = "the plan is the one for any values of the parameters: --dict gives values";
            record.notes.push(note.to_owned());
        }
        for text in texts {
            record.forms.push(self.planned(session, text, &key)?);
        }
        Ok(())
    }

    fn planned(
        &self,
        session: &mut QuerySession<'_>,
        text: &FormText,
        key: &[SqlValue],
    ) -> Result<QueryForm, LabError> {
        // What is planned alone writes nothing, whatever the statement would.
        let form = SessionForm { text: FormText { writes: false, ..text.clone() }, prepared: None };
        let plan = plan_of(session, &form, key, PlanDepth::Estimated, self.request.is_raw);
        let no_plan = |why: String| LabError::Target(format!("{} has no plan: {why}", text.source));
        let plan = Some(plan.map_err(no_plan)?);
        Ok(QueryForm { plan, ..self.form(session, &form, &FormSamples::default()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::fake_place::{FakeAnswers, FakePlace, request_with};
    use dbtime_engines::drive::plan::RunStop;
    use dbtime_model::SqlDialect;

    const SQL: &str = "SELECT a FROM t WHERE id = :id";

    /// The record of the statement's plan, and what was asked for it.
    fn planned(
        dialect: SqlDialect,
        answers: FakeAnswers,
        dictionaries: &[(&str, &str)],
    ) -> (Result<QueryRecord, LabError>, Vec<String>) {
        let place = FakePlace::with_answers(dialect, answers);
        let request = request_with(SQL, dictionaries);
        let scene = QueryScene { request: &request, progress: &|_| {}, stop: &RunStop::default() };
        let mut session = place.session();
        let rules = session.place.lexical_rules();
        let texts = FormText::parse_all(&request.forms, session.product, &rules).expect("a form");
        let mut record = QueryRecord::default();
        let added = scene.add_plans_alone(&mut session, &texts, &mut record);
        assert!(place.executed().is_empty());
        (added.map(|()| record), place.questions().split_off(1))
    }

    /// What a PostgreSQL says that shows plans.
    fn postgres(sql: &str, version: &'static str) -> Result<Vec<&'static str>, &'static str> {
        match sql {
            "SHOW server_version" => Ok(vec![version]),
            _ if sql.starts_with("EXPLAIN") => Ok(vec![r#"[{"Plan": {"Node Type": "Limit"}}]"#]),
            _ => Ok(Vec::new()),
        }
    }

    #[test]
    fn postgres_plans_for_any_values() {
        let (record, asked) = planned(SqlDialect::Postgres, |sql, _| postgres(sql, "16.2"), &[]);
        let record = record.expect("a plan");
        let form = &record.forms[0];
        assert!(form.plan.is_some() && form.times.is_none() && form.failed == 0);
        assert_eq!((form.name.as_str(), form.source.as_str()), ("A", "A.sql"));
        assert_eq!(record.notes.len(), 1);
        let sql = "SELECT a FROM t WHERE id = $1";
        let generic = format!("EXPLAIN (GENERIC_PLAN, VERBOSE, SETTINGS, FORMAT JSON) {sql}");
        assert_eq!(asked, [generic]);
        let (record, asked) = planned(SqlDialect::Postgres, |sql, _| postgres(sql, "15.4"), &[]);
        assert!(record.is_ok());
        let prepare = format!("PREPARE dbtime_plan AS {sql}");
        let expected = [
            "BEGIN",
            "SET LOCAL plan_cache_mode = force_generic_plan",
            prepare.as_str(),
            "EXPLAIN (VERBOSE, SETTINGS, FORMAT JSON) EXECUTE dbtime_plan(NULL)",
            "DEALLOCATE dbtime_plan",
            "ROLLBACK",
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn what_wants_values_says_so() {
        let (old, _) = planned(SqlDialect::Postgres, |sql, _| postgres(sql, "11.4"), &[]);
        let (mysql, _) = planned(SqlDialect::Mysql, |_, _| Ok(vec!["8.0.36"]), &[]);
        for refused in [old, mysql] {
            let error = refused.expect_err("no values").to_string();
            assert!(error.contains("`:id`") && error.contains("--dict id=FILE"), "{error}");
        }
        let dictionaries = [("id", "range:4711..4711")];
        let (record, asked) =
            planned(SqlDialect::Postgres, |sql, _| postgres(sql, "11.4"), &dictionaries);
        let record = record.expect("a plan");
        assert_eq!((record.keys.sources.len(), record.keys.drawn), (1, 0));
        assert!(asked.len() == 1 && asked[0].ends_with("id = 4711"), "{asked:?}");
    }
}
