//! Rows of the standard tables that the server makes itself, out of a series of numbers.

use super::init::PgbenchTables;
use super::rows::ResultTable;
use dbtime_model::SqlDialect;

/// The statement that fills a table.
pub(super) fn insert(table: ResultTable, what: &PgbenchTables) -> String {
    let divided = if what.dialect == SqlDialect::Mysql { "div" } else { "/" };
    let bid = format!("(n - 1) {divided} {} + 1", table.per_branch());
    let (columns, values) = match table {
        ResultTable::Branches => ("bid,bbalance", "n, 0".to_owned()),
        ResultTable::Tellers => ("tid,bid,tbalance", format!("n, {bid}, 0")),
        ResultTable::Accounts => ("aid,bid,abalance,filler", format!("n, {bid}, 0, ''")),
    };
    let count = table.count(what.scale);
    let insert = format!("insert into {}({columns}) select {values} from", table.name());
    match what.dialect {
        SqlDialect::Postgres => format!("{insert} generate_series(1, {count}) as n"),
        SqlDialect::Mysql => format!("{insert} {}", digits(count)),
        SqlDialect::Sqlite => format!(
            "with recursive series(n) as (select 1 union all select n + 1 from series \
             where n < {count}) {insert} series"
        ),
    }
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
    let sum = sum.join(" + ");
    let tables = tables.join(", ");
    format!("(select {sum} + 1 as n from {tables}) series where n <= {count} order by n")
}
