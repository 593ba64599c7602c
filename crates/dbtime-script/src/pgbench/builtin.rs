//! The three built-in scripts.

use dbtime_model::SqlDialect;

/// A built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinScript {
    /// Its name for `-b`.
    pub name: &'static str,
    /// Its name in reports.
    pub description: &'static str,
    statements: &'static [&'static str],
}

const ACCOUNT: &str = "\\set aid random(1, 100000 * :scale)";
const BRANCH: &str = "\\set bid random(1, 1 * :scale)";
const TELLER: &str = "\\set tid random(1, 10 * :scale)";
const DELTA: &str = "\\set delta random(-5000, 5000)";
const UPDATE_ACCOUNT: &str =
    "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;";
const SELECT_ACCOUNT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;";
const UPDATE_TELLER: &str =
    "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;";
const UPDATE_BRANCH: &str =
    "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;";
const INSERT_HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                              VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);";
const BEGIN: &str = "BEGIN;";
const END: &str = "END;";

/// The built-in scripts, in the order of `-b list`.
pub(crate) const BUILTINS: [BuiltinScript; 3] =
    [BuiltinScript::TPCB_LIKE, BuiltinScript::SIMPLE_UPDATE, BuiltinScript::SELECT_ONLY];

impl BuiltinScript {
    /// Three updates, a query and an insert.
    pub(crate) const TPCB_LIKE: Self = Self {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        statements: &[
            ACCOUNT,
            BRANCH,
            TELLER,
            DELTA,
            BEGIN,
            UPDATE_ACCOUNT,
            SELECT_ACCOUNT,
            UPDATE_TELLER,
            UPDATE_BRANCH,
            INSERT_HISTORY,
            END,
        ],
    };

    /// One update, a query and an insert.
    pub(crate) const SIMPLE_UPDATE: Self = Self {
        name: "simple-update",
        description: "<builtin: simple update>",
        statements: &[
            ACCOUNT,
            BRANCH,
            TELLER,
            DELTA,
            BEGIN,
            UPDATE_ACCOUNT,
            SELECT_ACCOUNT,
            INSERT_HISTORY,
            END,
        ],
    };

    /// A query.
    pub(crate) const SELECT_ONLY: Self = Self {
        name: "select-only",
        description: "<builtin: select only>",
        statements: &[ACCOUNT, SELECT_ACCOUNT],
    };

    /// The one whose name begins so.
    ///
    /// # Errors
    /// None does, or several do.
    pub(crate) fn find(prefix: &str) -> Result<Self, String> {
        let found: Vec<_> = BUILTINS.iter().filter(|one| one.name.starts_with(prefix)).collect();
        match found[..] {
            [one] => Ok(*one),
            [] => Err(format!("no builtin script found for name \"{prefix}\"")),
            _ => Err(format!(
                "ambiguous builtin name: {} builtin scripts found for prefix \"{prefix}\"",
                found.len()
            )),
        }
    }

    /// Its text. `END` is COMMIT where the database knows no other.
    pub fn text(&self, dialect: SqlDialect) -> String {
        let line = |statement: &&'static str| match (*statement, dialect) {
            (END, SqlDialect::Mysql | SqlDialect::Sqlite) => "COMMIT;\n".to_owned(),
            (other, _) => format!("{other}\n"),
        };
        self.statements.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::{names::NameTable, reader};

    #[test]
    fn every_script_can_be_read() {
        for script in BUILTINS {
            for dialect in [SqlDialect::Postgres, SqlDialect::Mysql, SqlDialect::Sqlite] {
                let text = script.text(dialect);
                let read = reader::parse(script.description, &text, &mut NameTable::default());
                assert_eq!(read.expect("a script").commands.len(), script.statements.len());
                let is_whole = dialect != SqlDialect::Postgres || !text.contains("COMMIT");
                assert!(is_whole && (dialect == SqlDialect::Postgres || !text.contains("END")));
            }
        }
    }
}
