//! Two single runs side by side, without a verdict.
//!
//! A verdict needs repeated runs: the difference of two runs holds both what was changed and
//! whatever else differed between two lives of a server, and nothing in them tells the two apart.

use crate::format::{NONE, clean, count, factor, finite, if_any, percent, rate, signed_us, us};
use crate::means::Means;
use crate::story;
use crate::terminal::Page;
use crate::terminal::{Cell, Column, Ink, Table, TerminalOptions};
use dbtime_model::budget::Part;
use dbtime_model::record::{Run, RunRecord};
use std::collections::BTreeMap;

/// Two runs side by side: throughput, latencies, every part of the budget, counts, and what
/// differs between them besides.
///
/// Shape: lines of at most [`crate::terminal::COLUMNS`] columns, no escapes.
pub fn side_by_side(a: &Run, b: &Run) -> String {
    let (a, b) = (&a.record, &b.record);
    let mut page = Page::new(TerminalOptions::default());
    page.line("Two runs side by side");
    for (name, record) in [("A", a), ("B", b)] {
        let started = crate::facts::instant(&record.started_at);
        page.fact(name, &format!("{}, started {started}", story::headline(record)), Ink::Plain);
        page.fact("", &story::load(&record.load), Ink::Plain);
        if let Some(why) = story::invalid(record) {
            page.fact("", &format!("NOT VALID: {why}"), Ink::Bad);
        }
    }
    no_verdict(&mut page);
    page.heading("Figures");
    page.table(&figures(a, b));
    budget(a, b, &mut page);
    differences(a, b, &mut page);
    page.finish()
}

fn no_verdict(page: &mut Page) {
    page.line("");
    page.text(
        "No verdict: these are two single runs. A difference between them may come from what was \
         changed, or from anything else that differs between one run and the next (caches, file \
         layout, neighbours on the machine), and two runs cannot tell which. To learn it, repeat \
         both in random order with the server restarted between runs, and look whether the two \
         groups of results overlap.",
        Ink::Plain,
    );
}

fn table(first: &str) -> Table {
    Table::new(vec![
        Column::text(first),
        Column::figure("A"),
        Column::figure("B"),
        Column::figure("B − A"),
        Column::figure("B / A"),
    ])
}

fn figures(a: &RunRecord, b: &RunRecord) -> Table {
    let mut table = table("");
    let tps = [a.throughput_tps, b.throughput_tps];
    row(&mut table, "throughput per second", tps, rate, |d| signed(d, rate));
    let offered = [a, b].map(|record| record.load.rate_tps);
    if let [Some(a), Some(b)] = offered {
        row(&mut table, "offered per second", [a, b], rate, |d| signed(d, rate));
    }
    latencies(&mut table, a, b);
    let cpu = [a.client.cpu_us_per_tx, b.client.cpu_us_per_tx];
    row(&mut table, "client CPU per transaction", cpu, us, signed_us);
    if let (Some(a), Some(b)) = (&a.server, &b.server) {
        let cpu = [a.cpu_us_per_tx, b.cpu_us_per_tx];
        row(&mut table, "server CPU per transaction", cpu, us, signed_us);
    }
    let trips = [a.round_trips_per_tx, b.round_trips_per_tx];
    row(&mut table, "round trips per transaction", trips, rate, |d| signed(d, rate));
    let counts = [("offered", [a.counts.offered, b.counts.offered])].into_iter().chain([
        ("completed", [a.counts.completed, b.counts.completed]),
        ("failed", [a.counts.failed, b.counts.failed]),
        ("dropped", [a.counts.dropped, b.counts.dropped]),
        ("unfinished", [a.counts.unfinished, b.counts.unfinished]),
        ("retries", [a.counts.retries, b.counts.retries]),
    ]);
    for (name, pair) in counts {
        let whole = |n: f64| count(n as u64);
        row(&mut table, name, pair.map(|n| n as f64), whole, |d| signed(d, whole));
    }
    table
}

fn latencies(table: &mut Table, a: &RunRecord, b: &RunRecord) {
    let sets = [&a.latency_us, &b.latency_us];
    let rows = [
        ("response mean", sets.map(|set| set.response.mean)),
        ("response p50", sets.map(|set| set.response.p50)),
        ("response p90", sets.map(|set| set.response.p90)),
        ("response p99", sets.map(|set| set.response.p99)),
        ("response p99.9", sets.map(|set| set.response.p999)),
        ("response max", sets.map(|set| set.response.max)),
        ("service mean", sets.map(|set| set.service.mean)),
        ("service p99", sets.map(|set| set.service.p99)),
        ("queue mean", sets.map(|set| set.queue.mean)),
        ("lag mean", sets.map(|set| set.lag.mean)),
    ];
    for (name, pair) in rows {
        row(table, name, pair, us, signed_us);
    }
}

fn row(
    table: &mut Table,
    name: &str,
    pair: [impl Into<Option<f64>>; 2],
    shown: impl Fn(f64) -> String,
    difference: impl Fn(f64) -> String,
) {
    let [a, b] = pair.map(|figure| figure.into().map(finite));
    let both = a.zip(b);
    let ratio = both.filter(|(a, b)| *a > 0.0 && *b >= 0.0);
    let ratio = ratio.map_or(NONE.to_owned(), |(a, b)| factor_of(b / a));
    table.row(vec![
        name.into(),
        if_any(a, &shown).into(),
        if_any(b, &shown).into(),
        if_any(both.map(|(a, b)| b - a), difference).into(),
        Cell::new(ratio, Ink::Dim),
    ]);
}

fn factor_of(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 9.95 { format!("{ratio:.3}") } else { factor(ratio) }
}

/// A difference with its sign.
fn signed(value: f64, shown: impl Fn(f64) -> String) -> String {
    let text = shown(value.abs());
    match value {
        v if v < 0.0 => format!("−{text}"),
        v if v > 0.0 => format!("+{text}"),
        _ => text,
    }
}

/// Every part either run measured, and what share of the whole difference it makes.
fn budget(a: &RunRecord, b: &RunRecord, page: &mut Page) {
    page.heading("Where the time goes, mean per transaction");
    let (Some(first), Some(second)) = (&a.budget_us, &b.budget_us) else {
        let none = match (&a.budget_us, &b.budget_us) {
            (None, None) => "neither run measured",
            (None, _) => "A did not measure",
            _ => "B did not measure",
        };
        page.text(&format!("{none} its budget"), Ink::Dim);
        return;
    };
    let means = [Means::from(first), Means::from(second)];
    let mut table = table("Part");
    for part in Part::ALL {
        let pair = [means[0].get(part), means[1].get(part)];
        if pair.iter().flatten().any(|us| *us != 0.0) || part == Part::Unexplained {
            part_row(&mut table, part, pair);
        }
    }
    row(&mut table, "total", [means[0].total, means[1].total], us, signed_us);
    page.table(&table);
    for (name, record) in [("A", a), ("B", b)] {
        let note = parts_note(record);
        if !note.is_empty() {
            page.text(&format!("{name}: {note}"), Ink::Dim);
        }
    }
}

fn part_row(table: &mut Table, part: Part, pair: [Option<f64>; 2]) {
    let figure = |us_: f64| if part == Part::Unexplained { signed_us(us_) } else { us(us_) };
    if let [Some(a), Some(b)] = pair {
        row(table, part.name(), [a, b], figure, signed_us);
    } else {
        let one = |us_: Option<f64>| us_.map_or("not measured".to_owned(), figure);
        let [a, b] = pair.map(one);
        table.row(vec![part.name().into(), a.into(), b.into(), NONE.into(), NONE.into()]);
    }
}

fn parts_note(record: &RunRecord) -> String {
    let notes = [story::sampling(record), story::budget_error(record)];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What was set up differently.
fn differences(a: &RunRecord, b: &RunRecord, page: &mut Page) {
    page.heading("Differs");
    let (a, b) = (described(a), described(b));
    let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let mut table = Table::new(vec![Column::text("Setting"), Column::text("A"), Column::text("B")]);
    let mut same = 0u64;
    for name in names {
        let [first, second] = [&a, &b].map(|map| map.get(name).map_or(NONE, String::as_str));
        if first == second {
            same += 1;
        } else {
            table.row(vec![clean(name).into(), clean(first).into(), clean(second).into()]);
        }
    }
    if table.is_empty() {
        page.text(
            "nothing: target, load, workload and machine are recorded as the same",
            Ink::Plain,
        );
    } else {
        page.table(&table);
        page.text(
            &format!("{} more recorded settings are the same in both", count(same)),
            Ink::Dim,
        );
    }
}

/// Everything that says how a run was set up, as text by name.
fn described(record: &RunRecord) -> BTreeMap<String, String> {
    let (load, environment, target) = (&record.load, &record.environment, &record.target);
    let or = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let mut map: BTreeMap<String, String> = [
        ("workload", record.workload.name.clone()),
        ("workload scale", count(record.workload.scale)),
        ("target engine", story::target(record)),
        ("target url", target.url.clone()),
        ("target protocol", or(target.protocol.clone())),
        ("target data", or(target.data_bytes.map(crate::format::bytes))),
        ("load mode", load.mode.clone()),
        (
            "load rate",
            or(load.rate.clone().or_else(|| load.rate_tps.map(|r| format!("{}/s", rate(r))))),
        ),
        ("load arrivals", load.arrivals.clone()),
        ("load jitter", or(load.jitter_us.map(us))),
        ("load connections", load.connections.to_string()),
        ("load workers", or(load.workers.map(|n| n.to_string()))),
        ("load shards", or(load.shards.map(|n| n.to_string()))),
        ("load think", or(load.think.clone().or_else(|| load.think_us.map(us)))),
        ("load on backlog", load.on_backlog.clone()),
        ("load seed", load.seed.to_string()),
        ("window warm-up", crate::format::seconds(record.window.warmup_s)),
        ("window measured", crate::format::seconds(record.window.measure_s)),
        ("machine kernel", environment.kernel.clone()),
        ("machine host", environment.host.clone()),
        ("machine CPUs", format!("{} {}", environment.cpus, environment.cpu_model)),
        ("machine steal", percent(environment.steal_pct)),
        ("machine foreign CPU", percent(environment.foreign_cpu_pct)),
        ("dbtime", record.dbtime.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    map.extend(
        target.settings.iter().map(|(name, value)| (format!("setting {name}"), value.clone())),
    );
    map.extend(record.workload.rows.iter().map(|(name, n)| (format!("rows of {name}"), count(*n))));
    map
}
