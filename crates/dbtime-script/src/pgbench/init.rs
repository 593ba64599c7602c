//! `-i`: what makes the standard tables, step by step, for each database.
//!
//! Rows that are generated here and not by the server are told as [`Work::Load`]; how they get
//! into a table is the loader's affair. Nothing here connects to anything.

use super::dialect::Dialect;
use super::rows::Table;

/// The steps there are.
const STEPS: &str = "dtgGvpf";

/// The steps that are taken unless others are named.
pub const DEFAULT_STEPS: &str = "dtgvp";

/// From this scale on, account numbers need 64 bits.
const BIG_SCALE: u64 = 20_000;

/// How `pgbench_accounts` is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// In so many ranges.
    Range(u32),
    /// By hash, in so many parts.
    Hash(u32),
}

/// What the tables are to be like.
#[derive(Clone, Debug)]
pub struct Initialization {
    /// The database.
    pub dialect: Dialect,
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
    pub partitions: Option<Partitions>,
}

impl Default for Initialization {
    fn default() -> Self {
        Self {
            dialect: Dialect::Postgres,
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
    /// Its name in the last line: `create tables`.
    pub name: &'static str,
    /// What is said before it: `creating tables...`.
    pub notice: &'static str,
    /// What is done, in this order.
    pub work: Vec<Work>,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Execute a statement.
    Sql(String),
    /// Fill a table with its rows ([`Table::rows`]).
    Load(Table),
}

/// The steps of a string like `dtgvp`; blanks in it say nothing.
///
/// # Errors
/// It names no step, or one that there is not.
pub fn steps(letters: &str, what: &Initialization) -> Result<Vec<InitStep>, String> {
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
    Ok(letters.chars().filter(|letter| *letter != ' ').map(|letter| what.step(letter)).collect())
}

impl Initialization {
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
        if self.dialect != Dialect::Postgres && is_own {
            let what = "fillfactor, tablespaces and unlogged tables";
            return Err(format!("{what} are PostgreSQL's own: leave them out on other databases"));
        }
        if self.dialect == Dialect::Sqlite && self.partitions.is_some() {
            return Err("SQLite has no partitions: leave --partitions out".to_owned());
        }
        Ok(())
    }

    fn step(&self, letter: char) -> InitStep {
        let (name, notice, work) = match letter {
            'd' => ("drop tables", "dropping old tables...", self.drop_tables()),
            't' => ("create tables", "creating tables...", self.create_tables()),
            'g' => ("client-side generate", "generating data (client-side)...", self.load()),
            'G' => ("server-side generate", "generating data (server-side)...", self.generate()),
            'v' => ("vacuum", "vacuuming...", self.vacuum()),
            'p' => ("primary keys", "creating primary keys...", self.primary_keys()),
            _ => ("foreign keys", "creating foreign keys...", self.foreign_keys()),
        };
        let sql = |work: String| match work.strip_prefix(LOAD) {
            Some(table) => Work::Load(Table::named(table)),
            None => Work::Sql(work),
        };
        InitStep { name, notice, work: work.into_iter().map(sql).collect() }
    }

    fn drop_tables(&self) -> Vec<String> {
        const ALL: &str = "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";
        match self.dialect {
            Dialect::Postgres => vec![format!("drop table if exists {ALL}")],
            // The others want the tables that refer to others to go first.
            Dialect::Mysql | Dialect::Sqlite => {
                let tables = ["history", "accounts", "tellers", "branches"];
                tables.map(|table| format!("drop table if exists pgbench_{table}")).to_vec()
            }
        }
    }

    fn create_tables(&self) -> Vec<String> {
        let aid = if self.scale >= BIG_SCALE { "bigint" } else { "int" };
        let tables = [
            (
                "history",
                format!("tid int,bid int,aid {aid},delta int,mtime timestamp,filler char(22)"),
            ),
            ("tellers", "tid int not null,bid int,tbalance int,filler char(84)".to_owned()),
            ("accounts", format!("aid {aid} not null,bid int,abalance int,filler char(84)")),
            ("branches", "bid int not null,bbalance int,filler char(88)".to_owned()),
        ];
        let mut work: Vec<_> =
            tables.iter().map(|(table, columns)| self.create_table(table, columns)).collect();
        if self.dialect == Dialect::Postgres {
            work.extend(self.create_partitions());
        }
        work
    }

    fn create_table(&self, table: &str, columns: &str) -> String {
        if self.dialect != Dialect::Postgres {
            let keyed = self.with_key(table, columns);
            let partitions =
                if table == "accounts" { self.mysql_partitions() } else { String::new() };
            return format!("create table pgbench_{table}({keyed}){partitions}");
        }
        let unlogged = if self.unlogged { " unlogged" } else { "" };
        let mut sql = format!("create{unlogged} table pgbench_{table}({columns})");
        match self.partitions {
            Some(Partitions::Range(_)) if table == "accounts" => {
                sql.push_str(" partition by range (aid)");
            }
            Some(Partitions::Hash(_)) if table == "accounts" => {
                sql.push_str(" partition by hash (aid)");
            }
            _ if table == "history" => {}
            _ => sql.push_str(&format!(" with (fillfactor={})", self.fillfactor)),
        }
        if let Some(tablespace) = &self.tablespace {
            sql.push_str(&format!(" tablespace {}", quoted(tablespace)));
        }
        sql
    }

    /// SQLite cannot add a primary key to a table, so it is there from the beginning. MySQL's
    /// clustered tables and partitions want it there too, but can do without; it is added later.
    fn with_key(&self, table: &str, columns: &str) -> String {
        let key = match (self.dialect, table) {
            (Dialect::Sqlite, "tellers") => "tid",
            (Dialect::Sqlite, "accounts") => "aid",
            (Dialect::Sqlite, "branches") => "bid",
            _ => return columns.to_owned(),
        };
        // Only `integer primary key` makes the number the row's own key.
        let column = columns.split(',').next().unwrap_or_default();
        columns.replacen(column, &format!("{key} integer primary key not null"), 1)
    }

    fn mysql_partitions(&self) -> String {
        match self.partitions {
            None => String::new(),
            Some(Partitions::Hash(parts)) => format!(" partition by hash (aid) partitions {parts}"),
            Some(Partitions::Range(parts)) => {
                let bounds = (1..=parts).map(|part| match part {
                    _ if part == parts => format!("partition p{part} values less than maxvalue"),
                    _ => {
                        let bound = u64::from(part) * self.part_size(parts) + 1;
                        format!("partition p{part} values less than ({bound})")
                    }
                });
                let bounds: Vec<_> = bounds.collect();
                format!(" partition by range (aid) ({})", bounds.join(", "))
            }
        }
    }

    /// Accounts of a part.
    fn part_size(&self, parts: u32) -> u64 {
        Table::Accounts.count(self.scale).div_ceil(u64::from(parts))
    }

    fn create_partitions(&self) -> Vec<String> {
        let unlogged = if self.unlogged { " unlogged" } else { "" };
        let part = |number: u32, values: String| {
            format!(
                "create{unlogged} table pgbench_accounts_{number}\n  partition of pgbench_accounts\n  \
                 for values {values} with (fillfactor={})",
                self.fillfactor
            )
        };
        match self.partitions {
            None => Vec::new(),
            Some(Partitions::Hash(parts)) => (1..=parts)
                .map(|number| {
                    part(number, format!("with (modulus {parts}, remainder {})", number - 1))
                })
                .collect(),
            Some(Partitions::Range(parts)) => (1..=parts)
                .map(|number| {
                    let bound = |number: u32| u64::from(number) * self.part_size(parts) + 1;
                    let low = match number {
                        1 => "minvalue".to_owned(),
                        _ => bound(number - 1).to_string(),
                    };
                    let high = if number == parts {
                        "maxvalue".to_owned()
                    } else {
                        bound(number).to_string()
                    };
                    part(number, format!("from ({low}) to ({high})"))
                })
                .collect(),
        }
    }

    /// Empties the tables within the transaction that fills them, where the database can.
    fn empty(&self) -> Vec<String> {
        match self.dialect {
            Dialect::Postgres => vec![
                "begin".to_owned(),
                "truncate table pgbench_accounts, pgbench_branches, pgbench_history, \
                 pgbench_tellers"
                    .to_owned(),
            ],
            Dialect::Mysql | Dialect::Sqlite => {
                let tables = ["history", "accounts", "tellers", "branches"];
                let delete = tables.map(|table| format!("delete from pgbench_{table}"));
                std::iter::once("begin".to_owned()).chain(delete).collect()
            }
        }
    }

    fn load(&self) -> Vec<String> {
        let mut work = self.empty();
        work.extend(Table::ALL.map(|table| format!("{LOAD}{}", table.name())));
        work.push("commit".to_owned());
        work
    }

    fn generate(&self) -> Vec<String> {
        let mut work = self.empty();
        for (table, columns, values) in [
            (Table::Branches, "bid,bbalance", "n, 0"),
            (Table::Tellers, "tid,bid,tbalance", "n, {bid}, 0"),
            (Table::Accounts, "aid,bid,abalance,filler", "n, {bid}, 0, ''"),
        ] {
            let bid = match self.dialect {
                Dialect::Mysql => format!("(n - 1) div {} + 1", table.per_branch()),
                _ => format!("(n - 1) / {} + 1", table.per_branch()),
            };
            let values = values.replace("{bid}", &bid);
            let count = table.count(self.scale);
            let name = table.name();
            work.push(match self.dialect {
                Dialect::Postgres => format!(
                    "insert into {name}({columns}) select {values} \
                     from generate_series(1, {count}) as n"
                ),
                Dialect::Sqlite => format!(
                    "with recursive series(n) as (select 1 union all select n + 1 from series \
                     where n < {count}) insert into {name}({columns}) select {values} from series"
                ),
                Dialect::Mysql => {
                    format!("insert into {name}({columns}) select {values} from {}", digits(count))
                }
            });
        }
        work.push("commit".to_owned());
        work
    }

    fn vacuum(&self) -> Vec<String> {
        let tables = ["branches", "tellers", "accounts", "history"];
        let verb = match self.dialect {
            Dialect::Postgres => "vacuum analyze",
            Dialect::Mysql => "analyze table",
            Dialect::Sqlite => "analyze",
        };
        tables.map(|table| format!("{verb} pgbench_{table}")).to_vec()
    }

    fn primary_keys(&self) -> Vec<String> {
        if self.dialect == Dialect::Sqlite {
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

    /// SQLite adds no constraints to tables either; there the step does nothing.
    fn foreign_keys(&self) -> Vec<String> {
        if self.dialect == Dialect::Sqlite {
            return Vec::new();
        }
        [
            ("tellers", "bid", "branches"),
            ("accounts", "bid", "branches"),
            ("history", "bid", "branches"),
            ("history", "tid", "tellers"),
            ("history", "aid", "accounts"),
        ]
        .map(|(table, key, of)| {
            let column =
                if self.dialect == Dialect::Mysql { format!("({key})") } else { String::new() };
            format!(
                "alter table pgbench_{table} add constraint pgbench_{table}_{key}_fkey \
                 foreign key ({key}) references pgbench_{of}{column}"
            )
        })
        .to_vec()
    }
}

/// Marks a table among statements.
const LOAD: &str = "load ";

/// An identifier between quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The numbers from 1 to `count` as a derived table, made of digits: it needs no recursion, whose
/// depth MySQL limits.
fn digits(count: u64) -> String {
    const DIGITS: &str = "(select 0 d union all select 1 union all select 2 union all select 3 \
        union all select 4 union all select 5 union all select 6 union all select 7 \
        union all select 8 union all select 9)";
    let places = (count - 1).checked_ilog10().unwrap_or(0) + 1;
    let sum: Vec<_> =
        (0..places).map(|place| format!("t{place}.d * {}", 10u64.pow(place))).collect();
    let tables: Vec<_> = (0..places).map(|place| format!("{DIGITS} t{place}")).collect();
    let (sum, tables) = (sum.join(" + "), tables.join(", "));
    format!("(select {sum} + 1 as n from {tables}) series where n <= {count} order by n")
}

#[cfg(test)]
mod tests;
