//! Plans as servers write them, read into one form.
//!
//! ```text
//!   MySQL:       EXPLAIN (a table, before 5.6) ────────► mysql_table ───┐
//!                EXPLAIN FORMAT=JSON, version 1 ───────► mysql_json ────┤
//!                the same, version 2 ──────────────────► mysql_json_v2 ─┤
//!                EXPLAIN ANALYZE FORMAT=TREE ──────────► mysql_tree ────┤
//!   MariaDB:     EXPLAIN or ANALYZE FORMAT=JSON ───────► mariadb_json ──┤
//!   PostgreSQL:  EXPLAIN (FORMAT JSON) ────────────────► postgres_json ─┤
//!   SQLite:      EXPLAIN QUERY PLAN, counted steps ────► sqlite_steps ──┴─► StatementPlan
//! ```
//!
//! Nothing here asks a server: what it answered comes as text. However large a tree or a text
//! claims to be, reading it takes no more than its bounds.

mod json_tree;
mod mariadb_json;
mod mysql_iterators;
mod mysql_json;
mod mysql_steps;
mod mysql_table;
mod postgres;
mod sqlite;
#[cfg(test)]
mod tree_text;

pub use mariadb_json::mariadb_json;
pub use mysql_iterators::{mysql_json_v2, mysql_tree};
pub use mysql_json::mysql_json;
pub use mysql_table::mysql_table;
pub use postgres::postgres_json;
pub use sqlite::{SqliteFigures, SqliteStep, sqlite_steps};

use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint, without_passwords};

/// How deep a tree may be.
const MAX_DEPTH: usize = 200;

/// How many steps a plan may have.
const MAX_NODES: usize = 10_000;

/// How long a text of a plan may be; the rest is cut off. Unit: bytes.
const MAX_TEXT: usize = 4096;

/// Why a plan cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan cannot be read: {0}")]
pub struct PlanError(pub String);

/// How many steps of a tree were read.
#[derive(Debug, Default)]
struct StepCount(usize);

impl StepCount {
    /// Counts a step that lies this deep.
    fn add(&mut self, depth: usize) -> Result<(), PlanError> {
        self.0 += 1;
        match (depth > MAX_DEPTH, self.0 > MAX_NODES) {
            (true, _) => Err(PlanError(format!("it has more than {MAX_DEPTH} levels"))),
            (_, true) => Err(PlanError(format!("it has more than {MAX_NODES} steps"))),
            _ => Ok(()),
        }
    }
}

/// The beginning of a text, which is all of most.
fn cut(text: &str) -> &str {
    let mut end = MAX_TEXT.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A condition as it is shown: its names and operators as the server spells them, with `?` for
/// literals unless `is_raw`.
pub(crate) fn shown(text: &str, dialect: SqlDialect, is_raw: bool) -> String {
    let text = cut(text);
    if is_raw {
        return without_passwords(text).into_owned();
    }
    let mut out = String::new();
    fingerprint(text, &LexicalRules::unknown(dialect), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_keep_names_and_operators_and_lose_literals() {
        let of = |text| shown(text, SqlDialect::Postgres, false);
        assert_eq!(
            of("((o.placed >= '2021-03-01'::date) AND ((o.state)::text = 'r'::text))"),
            "((o.placed >= ?::date) AND ((o.state)::text = ?::text))"
        );
        assert_eq!(of("(id = ANY ('{1,5,77}'::integer[]))"), "(id = ANY (?::integer[]))");
        assert_eq!(of(r#"("Total Sum" > 17.5)"#), r#"("Total Sum" > ?)"#);
        assert_eq!(shown("(a = 1)", SqlDialect::Postgres, true), "(a = 1)");
        assert_eq!(shown("(`t`.`a` = 'x')", SqlDialect::Mysql, false), "(`t`.`a` = ?)");
        assert_eq!(shown("a=? AND b>?", SqlDialect::Sqlite, false), "a=? AND b>?");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "ä".repeat(MAX_TEXT);
        assert_eq!(cut(&long).len(), MAX_TEXT);
        assert_eq!(cut(&format!("x{long}")).len(), MAX_TEXT - 1);
    }

    #[test]
    fn a_tree_has_bounds() {
        let mut count = StepCount::default();
        assert!(count.add(MAX_DEPTH).is_ok());
        assert!(count.add(MAX_DEPTH + 1).is_err());
        let mut added = (0..=MAX_NODES).map(|_| count.add(0));
        assert!(added.any(|one| one.is_err()));
    }
}
