//! The forms under which other plans may show: switches around a statement, and hints in it.

use super::switches::{mysql_switches, postgres_switches};
use crate::query::advice::table_facts;
use crate::query::form_text::{FormText, PlanSwitch};
use crate::query::session::QuerySession;
use dbtime_model::query::StatementPlan;
use dbtime_model::{Product, SqlDialect};
use dbtime_sql::{LexicalRules, NamedTable, named_tables, with_select_words, with_table_suffix};
use std::collections::BTreeSet;

/// Tables whose indexes are tried, at most.
const MOST_TABLES: usize = 8;

/// Indexes of a table that are tried, at most.
const MOST_INDEXES: usize = 8;

/// A form that may have another plan.
#[derive(Clone, Debug)]
pub(super) struct PlanCandidate {
    /// What it differs by, as the server takes it.
    pub(super) switch: String,
    pub(super) form: FormText,
}

/// All candidates for a form whose plan is `choice`: hints on tables first, which say most.
pub(super) fn of(
    session: &mut QuerySession<'_>,
    form: &FormText,
    choice: &StatementPlan,
) -> Vec<PlanCandidate> {
    let mut candidates = match session.product.dialect() {
        SqlDialect::Postgres => Vec::new(),
        SqlDialect::Mysql | SqlDialect::Sqlite => hinted(session, form, choice),
    };
    candidates.extend(switches(session, choice).into_iter().map(|switch| {
        let name = switch.before.join("; ");
        PlanCandidate { switch: name, form: FormText { switch: Some(switch), ..form.clone() } }
    }));
    candidates
}

fn switches(session: &mut QuerySession<'_>, choice: &StatementPlan) -> Vec<PlanSwitch> {
    match session.product {
        Product::Postgres => {
            let is_compiled = choice.notes.iter().any(|note| note.starts_with("JIT"));
            postgres_switches(session.version, is_compiled)
        }
        Product::Mariadb | Product::Mysql => {
            // A server that has no such variable has no such switches.
            let current = session.table("SELECT @@optimizer_switch");
            current.map_or_else(|_| Vec::new(), |table| mysql_switches(table.value().unwrap_or("")))
        }
        Product::Sqlite => Vec::new(),
    }
}

/// Forms with a hint in their text.
fn hinted(
    session: &mut QuerySession<'_>,
    form: &FormText,
    choice: &StatementPlan,
) -> Vec<PlanCandidate> {
    let rules = session.place.lexical_rules();
    let mut candidates = Vec::new();
    let mut add = |switch: String, native: Option<String>| {
        if let Some(native) = native {
            let form = FormText { native, ..form.clone() };
            candidates.push(PlanCandidate { switch, form });
        }
    };
    let is_mysql = session.product != Product::Sqlite;
    if is_mysql {
        let native = with_select_words(&form.native, "STRAIGHT_JOIN", &rules);
        add("SELECT STRAIGHT_JOIN".to_owned(), native);
    }
    for table in tables(choice, &named_tables(&form.native, &rules)) {
        let names = index_names(session, &table);
        for (switch, suffix) in hints(&table, &names, is_mysql) {
            add(switch, hinted_text(form, &table, &suffix, &rules));
        }
    }
    candidates
}

fn hinted_text(form: &FormText, table: &str, hint: &str, rules: &LexicalRules) -> Option<String> {
    with_table_suffix(&form.native, table, hint, rules)
}

/// The hints for a table, and how they are shown.
fn hints(table: &str, indexes: &[String], is_mysql: bool) -> Vec<(String, String)> {
    let quote = |name: &String| match is_mysql {
        true => format!("`{}`", name.replace('`', "``")),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    };
    let without = if is_mysql { "USE INDEX ()" } else { "NOT INDEXED" };
    let with = |name: &String| match is_mysql {
        true => format!("FORCE INDEX ({})", quote(name)),
        false => format!("INDEXED BY {}", quote(name)),
    };
    let all = std::iter::once(without.to_owned()).chain(indexes.iter().map(with));
    all.map(|hint| (format!("{table} {hint}"), hint)).collect()
}

/// The tables of a plan, each once, in the order of their steps, by their names where the plan has
/// aliases.
fn tables(choice: &StatementPlan, named: &[NamedTable]) -> Vec<String> {
    let of_alias = |alias: &str| {
        let is_it = |own: &str| own.eq_ignore_ascii_case(alias);
        let found = named.iter().find(|one| one.alias.as_deref().is_some_and(is_it));
        found.map(|one| one.table.clone())
    };
    let mut seen = BTreeSet::new();
    let steps = choice.root.steps().into_iter();
    let relations = steps.filter_map(|step| step.relation.as_deref());
    let names = relations.map(|name| of_alias(name).unwrap_or_else(|| name.to_owned()));
    names.filter(|name| seen.insert(name.clone())).take(MOST_TABLES).collect()
}

/// The names of a table's indexes; none where the server does not say.
fn index_names(session: &mut QuerySession<'_>, table: &str) -> Vec<String> {
    let facts = table_facts(session, table);
    let indexes = facts.map(|facts| facts.indexes).unwrap_or_default();
    // SQLite has no hint for the key that a table is stored by.
    let can_be_named = |name: &String| session.product != Product::Sqlite || name != "PRIMARY";
    indexes.into_iter().map(|index| index.name).filter(can_be_named).take(MOST_INDEXES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::PlanNode;

    #[test]
    fn tables_that_a_plan_calls_by_aliases_have_their_names() {
        let node = |relation: &str| PlanNode {
            relation: Some(relation.to_owned()),
            ..PlanNode::default()
        };
        let root = PlanNode { children: vec![node("E"), node("users")], ..PlanNode::default() };
        let choice = StatementPlan { root, ..StatementPlan::default() };
        let alias = Some("e".to_owned());
        let named = [NamedTable { table: "events".to_owned(), alias }];
        assert_eq!(tables(&choice, &named), ["events", "users"]);
    }

    #[test]
    fn hints_are_in_the_writing_of_the_product() {
        let indexes = ["by\"date".to_owned()];
        let of = |is_mysql| hints("t", &indexes, is_mysql);
        assert_eq!(of(true)[0], ("t USE INDEX ()".to_owned(), "USE INDEX ()".to_owned()));
        assert_eq!(of(false)[1].1, "INDEXED BY \"by\"\"date\"");
    }
}
