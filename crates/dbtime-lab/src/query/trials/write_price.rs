//! What an index costs writes: the same rows are deleted and inserted again on the copy, and taken
//! back.

use crate::query::advice::table_facts;
use crate::query::samples::FormSamples;
use crate::query::session::QuerySession;
use dbtime_engines::server::{ExecutionInstants, StatementAnswer};
use dbtime_model::SqlDialect;

/// Rows of one write.
const ROWS: u32 = 50;

/// Writes that are measured, behind some that are not.
const WRITES: usize = 30;
const UNMEASURED: usize = 3;

/// What holds the rows meanwhile.
const HELD: &str = "dbtime_written_rows";

/// The statements of a write, with names in the writing of the product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WriteScript {
    hold: String,
    delete: String,
    insert: String,
}

impl WriteScript {
    /// For a table with a primary key; `None`: it has none, or cannot be looked at.
    pub(super) fn of(session: &mut QuerySession<'_>, table: &str) -> Option<Self> {
        let facts = table_facts(session, table).ok()?;
        let key = facts.indexes.into_iter().find(|index| index.is_primary)?;
        Some(Self::new(session.product.dialect(), table, &key.columns))
    }

    fn new(dialect: SqlDialect, table: &str, key: &[String]) -> Self {
        let quote = if dialect == SqlDialect::Mysql { "`" } else { "\"" };
        let quoted =
            |name: &str| format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)));
        let table = quoted(table);
        let equal: Vec<String> =
            key.iter().map(|column| format!("{HELD}.{0} = {table}.{0}", quoted(column))).collect();
        let equal = equal.join(" AND ");
        Self {
            hold: format!("CREATE TEMPORARY TABLE {HELD} AS SELECT * FROM {table} LIMIT {ROWS}"),
            delete: format!(
                "DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM {HELD} WHERE {equal})"
            ),
            insert: format!("INSERT INTO {table} SELECT * FROM {HELD}"),
        }
    }

    /// What inserting the rows takes; of a table that refuses them there are no executions.
    pub(super) fn measure(&self, session: &mut QuerySession<'_>) -> FormSamples {
        let mut samples = FormSamples::default();
        if session.connection.run_text(&self.hold, &mut ()).is_err() {
            return samples;
        }
        for write in 0..UNMEASURED + WRITES {
            match self.write(session) {
                Ok(inserted) if write >= UNMEASURED => samples.add(inserted),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        if !session.connection.is_given_up() {
            // It goes with the session, too.
            let _ = session.connection.run_text(&format!("DROP TABLE {HELD}"), &mut ());
        }
        samples
    }

    fn write(&self, session: &mut QuerySession<'_>) -> StatementAnswer<ExecutionInstants> {
        session.table("BEGIN")?;
        let deleted = session.connection.run_text(&self.delete, &mut ());
        let inserted = deleted.and_then(|_| session.connection.run_text(&self.insert, &mut ()));
        if !session.connection.is_given_up() {
            session.table("ROLLBACK")?;
        }
        inserted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_the_whole_key() {
        let key = ["a".to_owned(), "b".to_owned()];
        let script = WriteScript::new(SqlDialect::Mysql, "t`1", &key);
        assert!(script.delete.ends_with(
            "dbtime_written_rows.`a` = `t``1`.`a` AND dbtime_written_rows.`b` = `t``1`.`b`)"
        ));
        assert_eq!(script.insert, "INSERT INTO `t``1` SELECT * FROM dbtime_written_rows");
    }
}
