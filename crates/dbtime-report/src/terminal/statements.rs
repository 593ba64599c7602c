//! The statements, and who held the locks that were waited for.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::facts;
use crate::format::{NONE, clean, count, counted, percent, rate, us};
use crate::means::PartMeans;
use dbtime_model::record::{Run, StatementSummary};

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let record = &run.record;
    if record.statements.is_empty() {
        return;
    }
    page.heading("Statements");
    // Where there is but one operation, naming it in each row says nothing.
    let names_operation =
        record.statements.iter().any(|other| other.operation != record.statements[0].operation);
    let mut columns = vec![
        TextColumn::figure("Count"),
        TextColumn::figure("Rows\neach"),
        TextColumn::figure("Mean"),
        TextColumn::figure("p99"),
        TextColumn::text("Where its time goes"),
        TextColumn::wrapped("Statement"),
    ];
    if names_operation {
        columns.insert(0, TextColumn::text("Operation"));
    }
    let mut table = ReportTable::new(columns);
    for statement in &record.statements {
        let executed = statement.count > 0;
        let time = |value| if executed { us(value) } else { NONE.to_owned() };
        let rows = statement.rows as f64 / statement.count.max(1) as f64;
        let mut cells: Vec<TextCell> = vec![
            count(statement.count).into(),
            TextCell::new(if executed { rate(rows) } else { NONE.to_owned() }, TextRole::Dim),
            time(statement.latency_us.mean).into(),
            time(statement.latency_us.p99).into(),
            largest(statement).into(),
            clean(&statement.name).into(),
        ];
        if names_operation {
            cells.insert(0, clean(&statement.operation).into());
        }
        table.row(cells);
    }
    page.table(&table);
}

/// Its two largest parts with their shares.
fn largest(statement: &StatementSummary) -> String {
    let Some(budget) = &statement.budget_us else {
        return "not measured".to_owned();
    };
    let means = PartMeans::from(budget);
    let named =
        |part| Some(format!("{} {}", dbtime_model::Part::name(part), percent(means.share(part)?)));
    let parts = means.largest().into_iter().take(2);
    let parts: Vec<_> = parts.filter_map(|(part, _)| named(part)).collect();
    if parts.is_empty() { NONE.to_owned() } else { parts.join(", ") }
}

/// More pairs of waiter and holder than this are not shown.
const MAX_HOLDERS: usize = 10;

/// Waiting for locks, by who held them.
pub(super) fn lock_holders(run: &Run, page: &mut ReportPage) {
    let mut holders: Vec<_> = run.record.lock_holders.iter().collect();
    if holders.is_empty() {
        return;
    }
    holders.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    page.heading("Who was waited for");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Waiting"),
        TextColumn::text("for the lock of"),
        TextColumn::figure("Times"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Each time"),
    ]);
    let (first, rest) = holders.split_at(holders.len().min(MAX_HOLDERS));
    for holder in first {
        let each = holder.wait_s * 1e6 / holder.count.max(1) as f64;
        table.row(vec![
            clean(&holder.waiter).into(),
            clean(&facts::lock_holder(holder)).into(),
            count(holder.count).into(),
            us(holder.wait_s * 1e6).into(),
            us(each).into(),
        ]);
    }
    page.table(&table);
    if !rest.is_empty() {
        let waited = rest.iter().map(|holder| holder.wait_s * 1e6).sum();
        let pairs = counted(rest.len() as u64, "further pair");
        page.text(&format!("{pairs} in run.json, {} in all", us(waited)), TextRole::Dim);
    }
}
