//! `-i`: what makes the standard tables, step by step, for each database.
//!
//! Rows that are generated here and not by the server are told as [`StepWork::Load`]; how they get
//! into a table is the loader's affair. Nothing here connects to anything.

use super::rows::ResultTable;
use super::series;
use dbtime_model::SqlDialect;

/// The steps there are.
pub(super) const STEPS: &str = "dtgGvpf";

/// The steps that are taken unless others are named.
pub const DEFAULT_STEPS: &str = "dtgvp";

/// Which column of which table refers to which table, whose key has the same name.
pub(super) const REFERENCES: [(&str, &str, &str); 5] = [
    ("tellers", "bid", "branches"),
    ("accounts", "bid", "branches"),
    ("history", "bid", "branches"),
    ("history", "tid", "tellers"),
    ("history", "aid", "accounts"),
];

/// How `pgbench_accounts` is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionScheme {
    /// In so many ranges.
    Range(u32),
    /// By hash, in so many parts.
    Hash(u32),
}

/// What the tables are to be like.
#[derive(Clone, Debug)]
pub struct PgbenchTables {
    /// The database.
    pub dialect: SqlDialect,
    /// Branches; each has 10 tellers and 100,000 accounts.
    pub scale: u64,
    /// How full pages are made. Unit: percent.
    pub fillfactor: u32,
    /// Where tables are put.
    pub tablespace: Option<String>,
    /// Where indices are put.
    pub index_tablespace: Option<String>,
    /// Whether tables are kept out of the log.
    pub unlogged: bool,
    /// The parts of `pgbench_accounts`.
    pub partitions: Option<PartitionScheme>,
}

impl Default for PgbenchTables {
    fn default() -> Self {
        Self {
            dialect: SqlDialect::Postgres,
            scale: 1,
            fillfactor: 100,
            tablespace: None,
            index_tablespace: None,
            unlogged: false,
            partitions: None,
        }
    }
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitStep {
    /// Its letter among all steps: `t`.
    pub letter: char,
    /// Its name in the last line: `create tables`.
    pub name: &'static str,
    /// What is said before it: `creating tables...`.
    pub notice: &'static str,
    /// What is done, in this order.
    pub work: Vec<StepWork>,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepWork {
    /// Execute a statement.
    Sql(String),
    /// Fill a table with its rows ([`ResultTable::rows`]).
    Load(ResultTable),
}

/// The steps of a string like `dtgvp`; blanks in it say nothing.
///
/// # Errors
/// It names no step, or one that there is not.
pub fn init_steps(letters: &str, what: &PgbenchTables) -> Result<Vec<InitStep>, String> {
    if letters.is_empty() {
        return Err("no initialization steps specified".to_owned());
    }
    let unknown = letters.chars().find(|letter| *letter != ' ' && !STEPS.contains(*letter));
    if let Some(letter) = unknown {
        return Err(format!(
            "unrecognized initialization step \"{letter}\": allowed step characters are \"{STEPS}\""
        ));
    }
    what.check()?;
    // SQLite can say only when a table is made what its columns refer to.
    let refers = what.dialect == SqlDialect::Sqlite && letters.contains('f');
    let letters = letters.chars().filter(|letter| *letter != ' ');
    Ok(letters.map(|letter| what.step(letter, refers)).collect())
}

impl PgbenchTables {
    fn check(&self) -> Result<(), String> {
        if self.scale == 0 || self.scale > i32::MAX as u64 {
            return Err(format!("scale must be in range 1..{}, not {}", i32::MAX, self.scale));
        }
        if !(10..=100).contains(&self.fillfactor) {
            return Err(format!("fillfactor must be in range 10..100, not {}", self.fillfactor));
        }
        let is_own = self.fillfactor != 100
            || self.tablespace.is_some()
            || self.index_tablespace.is_some()
            || self.unlogged;
        if self.dialect != SqlDialect::Postgres && is_own {
            let what = "fillfactor, tablespaces and unlogged tables";
            return Err(format!("{what} are PostgreSQL's own: leave them out on other databases"));
        }
        if self.dialect == SqlDialect::Sqlite && self.partitions.is_some() {
            return Err("SQLite has no partitions: leave --partitions out".to_owned());
        }
        Ok(())
    }

    fn step(&self, letter: char, refers: bool) -> InitStep {
        let sql = all_sql;
        let dropping = "drop table if exists";
        let (name, notice, work) = match letter {
            'd' => ("drop tables", "dropping old tables...", sql(self.for_all(dropping, dropping))),
            't' => ("create tables", "creating tables...", sql(self.create_tables(refers))),
            'g' => {
                let work = self.filled(StepWork::Load);
                ("client-side generate", "generating data (client-side)...", work)
            }
            'G' => {
                let work = self.filled(|table| StepWork::Sql(series::insert(table, self)));
                ("server-side generate", "generating data (server-side)...", work)
            }
            'v' => ("vacuum", "vacuuming...", sql(self.vacuum())),
            'p' => ("primary keys", "creating primary keys...", sql(self.primary_keys())),
            _ => ("foreign keys", "creating foreign keys...", sql(self.foreign_keys())),
        };
        InitStep { letter, name, notice, work }
    }

    /// What does something to all tables: `one` takes a list of tables, `each` a single one.
    fn for_all(&self, one: &str, each: &str) -> Vec<String> {
        const ALL: &str = "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";
        match self.dialect {
            SqlDialect::Postgres => vec![format!("{one} {ALL}")],
            // The others want the tables that refer to others to go first.
            SqlDialect::Mysql | SqlDialect::Sqlite => {
                let tables = ["history", "accounts", "tellers", "branches"];
                tables.map(|table| format!("{each} pgbench_{table}")).to_vec()
            }
        }
    }

    /// Fills the tables in one transaction with what `fill` says.
    fn filled(&self, fill: impl Fn(ResultTable) -> StepWork) -> Vec<StepWork> {
        let mut work = vec![StepWork::Sql("begin".to_owned())];
        // Emptied in the same transaction, where the database can.
        work.extend(all_sql(self.for_all("truncate table", "delete from")));
        work.extend(ResultTable::ALL.map(fill));
        work.push(StepWork::Sql("commit".to_owned()));
        work
    }

    fn vacuum(&self) -> Vec<String> {
        let tables = ["branches", "tellers", "accounts", "history"];
        let verb = match self.dialect {
            SqlDialect::Postgres => "vacuum analyze",
            SqlDialect::Mysql => "analyze table",
            SqlDialect::Sqlite => "analyze",
        };
        tables.map(|table| format!("{verb} pgbench_{table}")).to_vec()
    }

    fn primary_keys(&self) -> Vec<String> {
        if self.dialect == SqlDialect::Sqlite {
            return Vec::new();
        }
        let tablespace = match &self.index_tablespace {
            Some(name) => format!(" using index tablespace {}", quoted(name)),
            None => String::new(),
        };
        [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")]
            .map(|(table, key)| {
                format!("alter table pgbench_{table} add primary key ({key}){tablespace}")
            })
            .to_vec()
    }

    /// On SQLite they are there already.
    fn foreign_keys(&self) -> Vec<String> {
        if self.dialect == SqlDialect::Sqlite {
            return Vec::new();
        }
        REFERENCES
            .map(|(table, key, of)| {
                let column = if self.dialect == SqlDialect::Mysql {
                    format!("({key})")
                } else {
                    String::new()
                };
                format!(
                    "alter table pgbench_{table} add constraint pgbench_{table}_{key}_fkey \
                 foreign key ({key}) references pgbench_{of}{column}"
                )
            })
            .to_vec()
    }
}

fn all_sql(statements: Vec<String>) -> Vec<StepWork> {
    statements.into_iter().map(StepWork::Sql).collect()
}

/// An identifier between quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
