//! The statements, and who held the locks that were waited for.

use super::RunView;
use super::holders::of_waits;
use crate::charts::{SegmentLabels, StackedBar, bar, escape};
use crate::document::{ReportDocument, RowLimit};
use crate::facts;
use crate::format::{NONE, count, percent, rate, us};
use crate::means::PartMeans;
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Part;
use dbtime_model::record::StatementSummary;

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let statements = &view.run.record.statements;
    if statements.is_empty() {
        return;
    }
    document.heading("Statements");
    // Where there is but one operation, naming it in each row says nothing.
    let names_operation = statements.iter().any(|other| other.operation != statements[0].operation);
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
    for statement in statements {
        let mut cells = cells(statement);
        if names_operation {
            cells.insert(0, statement.operation.as_str().into());
        }
        table.row(cells);
    }
    let limit = Some(RowLimit::of_page_alone());
    document.captioned_table("Time per execution; bars are shares of it", &table, limit);
}

fn cells(statement: &StatementSummary) -> Vec<TextCell> {
    let executed = statement.count > 0;
    let time = |value| if executed { us(value) } else { NONE.to_owned() };
    let rows = statement.rows as f64 / statement.count.max(1) as f64;
    vec![
        count(statement.count).into(),
        TextCell::new(if executed { rate(rows) } else { NONE.to_owned() }, TextRole::Dim),
        time(statement.latency_us.mean).into(),
        time(statement.latency_us.p99).into(),
        shares(statement),
        name(statement),
    ]
}

/// Its name, on a page with its text.
fn name(statement: &StatementSummary) -> TextCell {
    let [name, text] = [&statement.name, &statement.fingerprint].map(|text| escape(text));
    let both = format!("<div class=\"sql\">{name}<br/><code>{text}</code></div>");
    TextCell::from(statement.name.as_str()).drawn(both)
}

/// Its two largest parts with their shares; on a page a bar of all.
fn shares(statement: &StatementSummary) -> TextCell {
    let Some(budget) = &statement.budget_us else {
        return TextCell::new("not measured", TextRole::Dim);
    };
    let means = PartMeans::from(budget);
    let named = |part| Some(format!("{} {}", Part::name(part), percent(means.share(part)?)));
    let parts = means.largest().into_iter().take(2);
    let parts: Vec<_> = parts.filter_map(|(part, _)| named(part)).collect();
    let largest = if parts.is_empty() { NONE.to_owned() } else { parts.join(", ") };
    let drawn = bar(&StackedBar {
        means: &means,
        full_us: means.positive(),
        height: 14,
        title: format!("Budget of {}", statement.name),
        labels: SegmentLabels::Hidden,
    });
    TextCell::from(largest).drawn(format!("<div class=\"small-bar\">{drawn}</div>"))
}

/// More pairs of waiter and holder than this are not shown.
const MAX_HOLDERS: usize = 10;

/// Waiting for locks, by who held them.
pub(super) fn lock_holders(view: &RunView<'_>, document: &mut ReportDocument) {
    let mut holders: Vec<_> = view.run.record.lock_holders.iter().collect();
    if holders.is_empty() {
        return;
    }
    holders.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    document.heading("Who was waited for");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Waiting"),
        TextColumn::text("for the lock of"),
        TextColumn::figure("Times"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Each time"),
    ]);
    for holder in &holders {
        let each = holder.wait_s * 1e6 / holder.count.max(1) as f64;
        table.row(vec![
            holder.waiter.as_str().into(),
            facts::lock_holder(holder).into(),
            count(holder.count).into(),
            us(holder.wait_s * 1e6).into(),
            us(each).into(),
        ]);
    }
    let waits: Vec<f64> = holders.iter().map(|holder| holder.wait_s).collect();
    let limit = of_waits("further pair", MAX_HOLDERS, &waits);
    document.captioned_table("Waiting for locks, by who held them", &table, Some(limit));
}
