//! The slowest transactions, each with all its parts.

use super::detail::small_bar;
use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::format::{count, seconds, us};
use crate::means::PartMeans;
use dbtime_model::record::{ExemplarKind, Run, TransactionRow};
use std::fmt::Write;

/// How many are shown at once; the others are a click away.
const MAX_SHOWN: usize = 20;

pub(super) fn section(run: &Run, out: &mut String) {
    let mut slowest: Vec<_> =
        run.transactions.iter().filter(|t| t.kept == ExemplarKind::Slowest).collect();
    if slowest.is_empty() {
        return;
    }
    slowest.sort_by(|a, b| b.budget.total.total_cmp(&a.budget.total));
    let (first, rest) = slowest.split_at(slowest.len().min(MAX_SHOWN));
    out.push_str("<section><h2>Slowest transactions</h2>\n");
    out.push_str(&table("Bars are shares of the transaction’s own response", first));
    if !rest.is_empty() {
        let title = format!("The next {}", count(rest.len() as u64));
        let _ =
            writeln!(out, "<details><summary>{title}</summary>{}</details>", table(&title, rest));
    }
    out.push_str("</section>\n");
}

fn table(caption: &str, transactions: &[&TransactionRow]) -> String {
    let heads = vec![
        HtmlHeading::Text("Operation"),
        HtmlHeading::Figure("Response"),
        HtmlHeading::Text("Where its time went"),
        HtmlHeading::Text("Largest part"),
        HtmlHeading::Figure("Due at"),
        HtmlHeading::Figure("Retries"),
        HtmlHeading::Text("Outcome"),
    ];
    let mut table = HtmlTable::new(caption, heads);
    for transaction in transactions {
        let means = PartMeans::from(&transaction.budget);
        let largest = means
            .largest()
            .first()
            .map(|(part, amount)| format!("{} {}", part.name(), us(*amount)));
        table.row(vec![
            HtmlCell::text(&transaction.operation),
            HtmlCell::text(us(transaction.budget.total)).class("strong"),
            small_bar(&means, "Budget of one transaction"),
            largest.map_or_else(HtmlCell::none, HtmlCell::text),
            HtmlCell::text(seconds(transaction.due_us / 1e6)).class("dim"),
            HtmlCell::text(count(transaction.retries.into())).class("dim"),
            HtmlCell::text(&transaction.outcome).class("dim"),
        ]);
    }
    table.finish()
}
