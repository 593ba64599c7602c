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
        ResultTable::Accounts.count(self.scale).div_ceil(u64::from(parts))
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
            Some(PartitionScheme::Hash(parts)) => (1..=parts)
                .map(|number| {
                    part(number, format!("with (modulus {parts}, remainder {})", number - 1))
                })
                .collect(),
            Some(PartitionScheme::Range(parts)) => (1..=parts)
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
}

/// What the columns of a table refer to, as the end of its list of columns.
fn references(table: &str) -> String {
    let own = REFERENCES.iter().filter(|(of, ..)| *of == table);
    own.map(|(_, key, to)| format!(",foreign key ({key}) references pgbench_{to}({key})")).collect()
}
