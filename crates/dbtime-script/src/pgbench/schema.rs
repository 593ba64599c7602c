//! The standard tables and their partitions, for each database.

use super::init::{PartitionScheme, PgbenchTables, REFERENCES, quoted};
use super::rows::ResultTable;
use dbtime_model::SqlDialect;

/// From this scale on, account numbers need 64 bits.
const BIG_SCALE: u64 = 20_000;

impl PgbenchTables {
    /// `refers`: columns say what they refer to.
    pub(super) fn create_tables(&self, refers: bool) -> Vec<String> {
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
        let mut work: Vec<_> = tables
            .iter()
            .map(|(table, columns)| self.create_table(table, columns, refers))
            .collect();
        if self.dialect == SqlDialect::Postgres {
            work.extend(self.create_partitions());
        }
        work
    }

    fn create_table(&self, table: &str, columns: &str, refers: bool) -> String {
        if self.dialect != SqlDialect::Postgres {
            let mut keyed = self.with_key(table, columns);
            if refers {
                keyed.push_str(&references(table));
            }
            let partitions =
                if table == "accounts" { self.mysql_partitions() } else { String::new() };
            return format!("create table pgbench_{table}({keyed}){partitions}");
        }
        let unlogged = if self.unlogged { " unlogged" } else { "" };
        let mut sql = format!("create{unlogged} table pgbench_{table}({columns})");
        match self.partitions {
            Some(PartitionScheme::Range(_)) if table == "accounts" => {
                sql.push_str(" partition by range (aid)");
            }
            Some(PartitionScheme::Hash(_)) if table == "accounts" => {
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
            (SqlDialect::Sqlite, "tellers") => "tid",
            (SqlDialect::Sqlite, "accounts") => "aid",
            (SqlDialect::Sqlite, "branches") => "bid",
            _ => return columns.to_owned(),
        };
        // Only `integer primary key` makes the number the row's own key.
        let column = columns.split(',').next().unwrap_or_default();
        columns.replacen(column, &format!("{key} integer primary key not null"), 1)
    }

    fn mysql_partitions(&self) -> String {
        match self.partitions {
            None => String::new(),
            Some(PartitionScheme::Hash(parts)) => {
                format!(" partition by hash (aid) partitions {parts}")
            }
            Some(PartitionScheme::Range(parts)) => {
                let bounds = (1..=parts).map(|part| {
                    let end = self.bound(part, parts);
                    let end = if part == parts { end } else { format!("({end})") };
                    format!("partition p{part} values less than {end}")
                });
                let bounds: Vec<_> = bounds.collect();
                format!(" partition by range (aid) ({})", bounds.join(", "))
            }
        }
    }

    /// Where a part of the accounts ends and the next one begins; from 0 to the number of parts.
    fn bound(&self, part: u32, parts: u32) -> String {
        let size = ResultTable::Accounts.count(self.scale).div_ceil(u64::from(parts));
        match part {
            0 => "minvalue".to_owned(),
            _ if part == parts => "maxvalue".to_owned(),
            _ => (u64::from(part) * size + 1).to_string(),
        }
    }

    fn create_partitions(&self) -> Vec<String> {
        let Some(scheme) = self.partitions else { return Vec::new() };
        let (PartitionScheme::Range(parts) | PartitionScheme::Hash(parts)) = scheme;
        let unlogged = if self.unlogged { " unlogged" } else { "" };
        let end = |part| self.bound(part, parts);
        let create = |number: u32| {
            let before = number - 1;
            let values = match scheme {
                PartitionScheme::Hash(_) => format!("with (modulus {parts}, remainder {before})"),
                PartitionScheme::Range(_) => format!("from ({}) to ({})", end(before), end(number)),
            };
            format!(
                "create{unlogged} table pgbench_accounts_{number}\n  partition of pgbench_accounts\n  \
                 for values {values} with (fillfactor={})",
                self.fillfactor
            )
        };
        (1..=parts).map(create).collect()
    }
}

/// What the columns of a table refer to, as the end of its list of columns.
fn references(table: &str) -> String {
    let own = REFERENCES.iter().filter(|(of, ..)| *of == table);
    own.map(|(_, key, to)| format!(",foreign key ({key}) references pgbench_{to}({key})")).collect()
}
