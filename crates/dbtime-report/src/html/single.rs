//! Single transactions, to be opened one by one: the slowest, and a random choice of all.

use crate::charts::{SegmentLabels, StackedBar, bar, described, escape, timeline, waits};
use crate::format::{count, seconds, us};
use crate::means::PartMeans;
use dbtime_model::record::{ExemplarKind, Run, TransactionRow};
use std::fmt::Write;

/// So many of each kind are shown; the record has more.
const MAX_SHOWN: usize = 25;

/// How many of the slowest are shown at once; the others are a click away.
const MAX_AT_ONCE: usize = 10;

/// Timelines and waits of a kind beyond these stay in the record, so that the page stays small
/// enough to be mailed. Unit: bytes.
const MAX_BYTES: usize = 100_000;
const MAX_RANDOM_BYTES: usize = 60_000;

/// What stands in the place of a timeline.
const NOT_DRAWN: &str = "<p class=\"dim\">Not drawn, for the size of the page: the record has it, \
                         in transactions.csv and transaction_statements.csv.</p>";

/// The transactions that can be opened; `None` where no slow one was kept.
pub(crate) fn transactions(run: &Run) -> Option<String> {
    let slowest = slowest(run);
    if slowest.is_empty() {
        return None;
    }
    let mut out = "<div class=\"single\">\n".to_owned();
    let _ = writeln!(out, "<p class=\"dim note\">{}</p>", escape(&note(run)));
    let mut room = MAX_BYTES;
    let (first, rest) = slowest.split_at(slowest.len().min(MAX_AT_ONCE));
    let _ = writeln!(out, "<h3>The slowest {}</h3>", count(slowest.len() as u64));
    first.iter().for_each(|row| transaction(row, &mut room, &mut out));
    if !rest.is_empty() {
        let _ = writeln!(out, "<details><summary>The next {}</summary>", rest.len());
        rest.iter().for_each(|row| transaction(row, &mut room, &mut out));
        out.push_str("</details>\n");
    }
    let random = random(run);
    if !random.is_empty() {
        let _ = writeln!(out, "<details><summary>{} at random</summary>", random.len());
        let mut room = MAX_RANDOM_BYTES;
        random.iter().for_each(|row| transaction(row, &mut room, &mut out));
        out.push_str("</details>\n");
    }
    Some(out + "</div>\n")
}

/// Whether the page has anything that a script can widen.
pub(super) fn has_timelines(run: &Run) -> bool {
    run.transactions.iter().any(|row| row.kept == ExemplarKind::Slowest)
}

fn note(run: &Run) -> String {
    let opened = "Open one to see it from the instant it was due until it was done.";
    let traced = run.transactions.iter().any(|row| !row.statements.is_empty());
    let parts = match traced {
        true => {
            "When a statement was sent, came to the server, was read there, and was answered are \
             instants of one clock; what the server did in between are sums, whose order within \
             the statement is not known."
        }
        false => {
            "When it was ready and when it was sent are instants; what follows are sums, whose \
             order is not known. A run with --trace has each statement."
        }
    };
    format!("{opened} {parts}")
}

/// The slowest of all operations, slowest first.
fn slowest(run: &Run) -> Vec<&TransactionRow> {
    let mut rows: Vec<_> = of_kind(run, &ExemplarKind::Slowest).collect();
    rows.sort_by(|a, b| b.budget.total.total_cmp(&a.budget.total));
    rows.truncate(MAX_SHOWN);
    rows
}

fn of_kind<'a>(run: &'a Run, kind: &ExemplarKind) -> impl Iterator<Item = &'a TransactionRow> {
    run.transactions.iter().filter(move |row| row.kept == *kind)
}

/// Of each operation's random choice as many as are its share of what was measured, by when they
/// were due.
fn random(run: &Run) -> Vec<&TransactionRow> {
    let operations = &run.record.operations;
    let measured = |index: usize| -> u64 {
        operations[index].budget_buckets.iter().fold(0, |n, b| n.saturating_add(b.count))
    };
    let all = (0..operations.len()).fold(0u64, |n, index| n.saturating_add(measured(index)));
    let mut rows = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let share = measured(index) as f64 / all.max(1) as f64;
        let take = (share * MAX_SHOWN as f64).round() as usize;
        let of_it = of_kind(run, &ExemplarKind::Random).filter(|r| r.operation == operation.name);
        rows.extend(of_it.take(take));
    }
    rows.truncate(MAX_SHOWN);
    rows.sort_by(|a, b| a.due_us.total_cmp(&b.due_us));
    rows
}

/// A transaction, with what was drawn of it where that fits the bytes that are left for drawings.
fn transaction(row: &TransactionRow, room: &mut usize, out: &mut String) {
    let _ = write!(out, "<details class=\"tx\"><summary>{}</summary>", summary(row));
    let parts = escape(&described(row));
    let waits = waits(row).iter().map(|wait| format!("<br/>{}", escape(wait))).collect::<String>();
    let drawn = format!("{}<p class=\"dim note\">{parts}{waits}</p>", timeline(row));
    match room.checked_sub(drawn.len()) {
        Some(left) => {
            *room = left;
            out.push_str(&drawn);
        }
        None => {
            let _ = write!(out, "{NOT_DRAWN}<p class=\"dim note\">{parts}</p>");
        }
    }
    out.push_str("</details>\n");
}

/// How long a transaction took, what it was, and where most of its time went.
fn summary(row: &TransactionRow) -> String {
    let means = PartMeans::from(&row.budget);
    let largest =
        means.largest().first().map(|(part, us_)| format!("{} {}", part.name(), us(*us_)));
    let drawn = bar(&StackedBar {
        means: &means,
        full_us: means.positive(),
        height: 14,
        title: "Budget of one transaction".to_owned(),
        labels: SegmentLabels::Hidden,
    });
    let mut ended = vec![format!("due at {}", seconds(row.due_us / 1e6)), row.outcome.clone()];
    if row.retries > 0 {
        ended.push(format!("retries: {}", row.retries));
    }
    format!(
        "<b>{}</b> <span>{}</span> {drawn} <span>{}</span> <span class=\"dim\">{}</span>",
        us(row.budget.total),
        escape(&row.operation),
        escape(&largest.unwrap_or_default()),
        escape(&ended.join(", "))
    )
}
