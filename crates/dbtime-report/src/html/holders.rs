//! What the holders of locks did, who had the CPU, and the files that were waited for.

use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::escape;
use crate::facts;
use crate::format::{count, percent, us};
use crate::lock_chains;
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    lock_chains(run, out);
    cpu_holders(run, out);
    file_waits(run, out);
}

fn lock_chains(run: &Run, out: &mut String) {
    let chains = run.record.lock_chains.as_deref().unwrap_or_default();
    if chains.is_empty() {
        return;
    }
    let heads = vec![
        HtmlHeading::Figure("Waited in all"),
        HtmlHeading::Figure("Share"),
        HtmlHeading::Figure("Times"),
        HtmlHeading::Text("Waiting, and below it the holder of the lock"),
    ];
    let mut table = HtmlTable::new("Waiting for locks, by what their holders did meanwhile", heads);
    let all_s = lock_chains::all_s(chains);
    for chain in chains {
        let lines: Vec<String> =
            lock_chains::lines(chain).iter().map(|line| indented(line)).collect();
        table.row(vec![
            HtmlCell::text(us(chain.wait_s * 1e6)),
            HtmlCell::text(percent(lock_chains::share_pct(chain, all_s))),
            HtmlCell::text(count(chain.count)),
            HtmlCell::html(lines.join("<br/>")),
        ]);
    }
    let heading = "What the holders of locks did";
    let _ = writeln!(out, "<section><h2>{heading}</h2>\n{}</section>", table.finish());
}

/// With its indentation, which a page would leave out.
fn indented(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", "&#160;".repeat(2 * (line.len() - text.len())), escape(text))
}

fn cpu_holders(run: &Run, out: &mut String) {
    let rows = run.record.cpu_holders.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    let heads = vec![
        HtmlHeading::Text("Process"),
        HtmlHeading::Text("Thread"),
        HtmlHeading::Figure("Requests"),
        HtmlHeading::Figure("Waited in all"),
        HtmlHeading::Figure("Of runq"),
    ];
    let caption = format!("Waiting for a CPU, by who had it; {}", facts::NOT_NAMED_CPU);
    let mut table = HtmlTable::new(&caption, heads);
    for row in rows {
        table.row(vec![
            HtmlCell::text(facts::cpu_holder(row)),
            row.thread.as_ref().map_or_else(HtmlCell::none, HtmlCell::text),
            row.count.map_or_else(HtmlCell::none, |number| HtmlCell::text(count(number))),
            HtmlCell::text(us(row.wait_s * 1e6)),
            HtmlCell::text(percent(row.share_pct)),
        ]);
    }
    let _ = writeln!(out, "<section><h2>Who had the CPU</h2>\n{}</section>", table.finish());
}

fn file_waits(run: &Run, out: &mut String) {
    let rows = run.record.file_waits.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    let heads = vec![
        HtmlHeading::Text("Waiting"),
        HtmlHeading::Text("for"),
        HtmlHeading::Text("Part"),
        HtmlHeading::Figure("Times"),
        HtmlHeading::Figure("Waited in all"),
        HtmlHeading::Figure("Each time"),
        HtmlHeading::Figure("Of the part"),
    ];
    let mut table = HtmlTable::new("Waiting for files, by statement, file and part", heads);
    for row in rows {
        table.row(vec![
            row.waiter.as_ref().map_or_else(HtmlCell::none, HtmlCell::text),
            HtmlCell::text(facts::waited_file(row)),
            HtmlCell::text(row.part.name()),
            row.count.map_or_else(HtmlCell::none, |number| HtmlCell::text(count(number))),
            HtmlCell::text(us(row.wait_s * 1e6)),
            HtmlCell::text(facts::each_wait(row)),
            HtmlCell::text(percent(row.share_pct)),
        ]);
    }
    let heading = "Which files were waited for";
    let _ = writeln!(out, "<section><h2>{heading}</h2>\n{}</section>", table.finish());
}
