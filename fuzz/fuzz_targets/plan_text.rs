//! No text makes the readers of plans panic or hang, and no plan is larger than its bounds.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::query::StatementPlan;
use dbtime_observe::plans::{
    PlanError, SqliteStep, mariadb_json, mysql_json, mysql_json_v2, mysql_table, mysql_tree,
    postgres_json, sqlite_steps,
};
use libfuzzer_sys::fuzz_target;

/// The most steps of a plan, those that hold others among them.
const MOST_STEPS: usize = 20_000;

/// A product's reader of a whole text.
type PlanReader = fn(&str, bool) -> Result<StatementPlan, PlanError>;

/// Every one of them.
const READERS: &[PlanReader] =
    &[mariadb_json, mysql_json, mysql_json_v2, mysql_rows, mysql_tree, postgres_json, sqlite_rows];

/// A table as clients print it: a line of names, then one for each row, with tabs between values.
fn mysql_rows(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().into_iter().flatten().collect();
    let value = |value: String| Some(value).filter(|value| value != "NULL");
    let rows: Vec<Vec<Option<String>>> = lines.map(|row| row.map(value).collect()).collect();
    mysql_table(&columns, &rows, is_raw)
}

/// Steps as `sqlite3` shows them with a line for each: `ID|PARENT|DETAIL`.
fn sqlite_rows(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let step = |line: &str| {
        let mut values = line.splitn(3, '|');
        let mut number = || values.next()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let detail = values.next()?.to_owned();
        Some(SqliteStep { id, parent, detail, figures: None })
    };
    let steps: Vec<SqliteStep> = text.lines().filter_map(step).collect();
    sqlite_steps(&steps, is_raw)
}

fuzz_target!(|text: &str| {
    for read in READERS {
        if let (Ok(plan), Ok(raw)) = (read(text, false), read(text, true)) {
            assert!(plan.root.steps().len() <= MOST_STEPS);
            assert_eq!(plan.shape, raw.shape);
            assert!(plan.verbatim.is_none());
        }
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
