//! Tables to be copied: which they are, how they are made and read.

use crate::error::LabError;
use crate::query::form_text::FormText;
use crate::query::session::QuerySession;
use dbtime_model::SqlDialect;
use dbtime_model::query::StatementPlan;
use dbtime_sql::named_tables;

/// A table, in the SQL of its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TableCopy {
    /// Its name.
    pub(super) name: String,
    /// What it has on disk without indexes, as the server estimates. Unit: bytes.
    pub(super) bytes: u64,
    /// What makes it, before it has rows.
    pub(super) before: Vec<String>,
    /// What asks for its rows.
    pub(super) select: String,
    /// What puts rows into the copy, up to the first row.
    pub(super) insert: String,
    /// What makes its keys and indexes, where that comes behind the rows.
    pub(super) behind: Vec<String>,
    /// How the copy differs.
    pub(super) notes: Vec<String>,
}

/// The tables that a statement reads, those of its plan first: what has rows and is in the catalog.
/// A plan has tables that the text hides in views, the text those that a plan has no step for or
/// calls by their aliases.
pub(crate) fn tables_of(
    session: &mut QuerySession<'_>,
    form: &FormText,
    plan: &StatementPlan,
) -> Vec<String> {
    let Ok(catalog) = session.table(base_tables_query(session.product.dialect())) else {
        return Vec::new();
    };
    let known: Vec<&str> = catalog.rows.iter().map(|row| cell(row, 0)).collect();
    let named = named_tables(&form.given, &session.place.lexical_rules());
    let is_alias = |name: &&str| {
        let is_it = |own: &str| own.eq_ignore_ascii_case(name);
        named.iter().any(|one| one.alias.as_deref().is_some_and(is_it))
            && !named.iter().any(|one| is_it(&one.table))
    };
    let steps = plan.root.steps();
    let planned = steps.iter().filter_map(|step| step.relation.as_deref());
    let planned = planned.filter(|name| !is_alias(name));
    let mut tables: Vec<String> = Vec::new();
    for relation in planned.chain(named.iter().map(|one| one.table.as_str())) {
        // `public.events` is in the catalog as `events`.
        let is_it = |name: &&&str| {
            name.eq_ignore_ascii_case(relation)
                || relation.strip_suffix(**name).is_some_and(|schema| schema.ends_with('.'))
        };
        let Some(name) = known.iter().find(is_it) else { continue };
        if !tables.iter().any(|table| table == name) {
            tables.push((*name).to_owned());
        }
    }
    tables
}

/// A view that a statement names, of a server: its copies have tables alone.
pub(crate) fn view_of(session: &mut QuerySession<'_>, form: &FormText) -> Option<String> {
    let views = match session.product.dialect() {
        SqlDialect::Sqlite => return None,
        SqlDialect::Mysql => {
            "SELECT table_name FROM information_schema.views WHERE table_schema = DATABASE()"
        }
        SqlDialect::Postgres => {
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE \
             c.relkind IN ('v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        }
    };
    let views = session.table(views).ok()?;
    let is_view =
        |name: &String| views.rows.iter().any(|row| cell(row, 0).eq_ignore_ascii_case(name));
    let named = named_tables(&form.given, &session.place.lexical_rules());
    named.into_iter().map(|one| one.table).find(is_view)
}

fn base_tables_query(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => "SELECT name FROM sqlite_schema WHERE type = 'table'",
        SqlDialect::Mysql => {
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND \
             table_type = 'BASE TABLE'"
        }
        SqlDialect::Postgres => {
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE \
             c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        }
    }
}

/// The rows of a question to the server that is copied, or to the copy.
pub(super) fn rows_of(
    session: &mut QuerySession<'_>,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, LabError> {
    let refused = |failure| LabError::Refused { target: session.place.url(), failure };
    let answer = session.connection.table(sql);
    answer.map(|table| table.rows).map_err(refused)
}

/// The value in this column of a row, empty for NULL.
pub(super) fn cell(row: &[Option<String>], column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).unwrap_or_default()
}

/// That a table is not there.
pub(super) fn no_table(session: &QuerySession<'_>, name: &str) -> LabError {
    LabError::Target(format!(
        "{} has no table {name} to be copied: name its database in the target",
        session.place.url()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_not_there_is_empty() {
        let row = [Some("a".to_owned()), None];
        assert_eq!([cell(&row, 0), cell(&row, 1), cell(&row, 2)], ["a", "", ""]);
    }
}
