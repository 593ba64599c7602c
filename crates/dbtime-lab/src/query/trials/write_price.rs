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

    /// Of a table as statements write it.
    fn new(dialect: SqlDialect, table: &str, key: &[String]) -> Self {
        let quote = if dialect == SqlDialect::Mysql { "`" } else { "\"" };
        let quoted =
            |name: &String| format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)));
        let key: Vec<String> = key.iter().map(quoted).collect();
        Self {
            hold: format!("CREATE TEMPORARY TABLE {HELD} AS SELECT * FROM {table} LIMIT {ROWS}"),
            delete: delete_held(dialect, table, &key),
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

/// Deletes the held rows by their keys, without a look at all of them for each row of the table.
fn delete_held(dialect: SqlDialect, table: &str, key: &[String]) -> String {
    if dialect == SqlDialect::Mysql {
        // Here a subquery of DELETE would be executed for each row of the table.
        let equal = key.iter().map(|column| format!("{HELD}.{column} = {table}.{column}"));
        let equal = equal.collect::<Vec<_>>().join(" AND ");
        return format!("DELETE {table} FROM {HELD} STRAIGHT_JOIN {table} ON {equal}");
    }
    let columns = key.join(", ");
    format!("DELETE FROM {table} WHERE ({columns}) IN (SELECT {columns} FROM {HELD})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::place::SqlitePlace;
    use dbtime_engines::databases::sqlite::SqliteTarget;
    use dbtime_engines::drive::plan::RunStop;
    use dbtime_engines::server::StatementBound;
    use dbtime_model::Nanos;
    use std::fs::File;

    #[test]
    fn rows_are_found_by_the_whole_key() {
        let key = ["a".to_owned(), "b`1".to_owned()];
        let script = WriteScript::new(SqlDialect::Mysql, "shop.`t 1`", &key);
        let delete = "DELETE shop.`t 1` FROM dbtime_written_rows STRAIGHT_JOIN shop.`t 1` ON \
                      dbtime_written_rows.`a` = shop.`t 1`.`a` AND dbtime_written_rows.`b``1` = \
                      shop.`t 1`.`b``1`";
        assert_eq!(script.delete, delete);
        assert_eq!(script.insert, "INSERT INTO shop.`t 1` SELECT * FROM dbtime_written_rows");
        let script = WriteScript::new(SqlDialect::Postgres, "\"S 2\".t", &key);
        let delete = "DELETE FROM \"S 2\".t WHERE (\"a\", \"b`1\") IN (SELECT \"a\", \"b`1\" FROM \
                      dbtime_written_rows)";
        assert_eq!(script.delete, delete);
    }

    #[test]
    fn writes_are_measured_whatever_a_table_is_called_and_taken_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        File::create(&path).expect("an empty database");
        let url = path.display().to_string();
        let place = SqlitePlace { target: SqliteTarget::new(&path), url };
        let bound = StatementBound { limit: Nanos::from_secs(60), stop: RunStop::default() };
        let mut session = QuerySession::open(&place, &bound, false).expect("a session");
        let sql = "CREATE TABLE \"t 1\" (a INTEGER, b TEXT, PRIMARY KEY (a, b)); WITH RECURSIVE \
                   r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 200) INSERT INTO \
                   \"t 1\" SELECT n, 'x' FROM r;";
        session.connection.run_text(sql, &mut ()).expect("filled");
        let script = WriteScript::of(&mut session, "\"t 1\"").expect("a table with a key");
        let times = script.measure(&mut session).times().expect("writes");
        assert_eq!(times.count, WRITES as u64);
        let rows = session.table("SELECT count(*) FROM \"t 1\"").expect("a count");
        assert_eq!(rows.value(), Some("200"));
    }
}
