//! The table of a sweep, a line per run: of a server what it spent, of an embedded engine behind a
//! work queue latency against throughput.

mod queue;
mod server;

use super::style::{PageStyle, ReportPage, TextRole};
use super::table::{TextCell, TextColumn};
use crate::format::{NONE, clean, rate};
use crate::story;
use crate::sweep_story::{self, SweepStory};
use dbtime_model::record::{ArrivalProcess, RunFigure, RunRecord};
use dbtime_model::study::{MadeRun, RecordedStudy};

/// One run of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepRow {
    /// The swept factors and their values, in the order of the command line.
    pub factors: Vec<(String, String)>,
    /// Transactions completed in the window.
    pub completed: u64,
    /// Transactions failed, dropped, unfinished or outstanding.
    pub lost: u64,
    /// Arrivals as shown: a rate per second, `no delay` or `closed loop`.
    pub arrivals: String,
    /// How `--rate auto` found the rate; `None` where it was given.
    pub found: Option<String>,
    /// Workers, or connections where each has its own.
    pub threads: u32,
    /// Clients of a closed loop, connections of an open one.
    pub connections: u32,
    /// Mean response. `None`: there is no response. Unit: microseconds.
    pub latency_us: Option<f64>,
    /// Completed transactions per second.
    pub throughput_tps: f64,
    /// 95th percentile of the response. `None`: there is no response. Unit: microseconds.
    pub p95_us: Option<f64>,
    /// 99th percentile of the response. `None`: there is no response. Unit: microseconds.
    pub p99_us: Option<f64>,
    /// Mean wait in the work queue. `None`: no transaction ended. Unit: microseconds.
    pub queue_us: Option<f64>,
    /// Mean service time. `None`: no transaction ended. Unit: microseconds.
    pub service_us: Option<f64>,
    /// CPU of the client per transaction; `None` when none was completed. Unit: microseconds.
    pub client_us: Option<f64>,
    /// What the server used; `None` where it is not known, or part of the client.
    pub server: Option<SweepServer>,
    /// Whether the figures can be trusted.
    pub valid: bool,
}

/// What the server used during one run of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepServer {
    /// User CPU. Unit: percent of one CPU.
    pub usr_pct: f64,
    /// System CPU. Unit: percent of one CPU.
    pub sys_pct: f64,
}

impl SweepRow {
    /// The line of one run; its factors are the caller's to name.
    pub fn from_record(record: &RunRecord) -> Self {
        let counts = record.counts;
        let time = |key: &str| RunFigure::listed(key).value(record);
        let server = record.server.as_ref();
        Self {
            factors: Vec::new(),
            completed: counts.completed,
            lost: counts.lost(),
            arrivals: arrivals(record),
            found: story::auto_rate(&record.load),
            threads: record.load.workers.unwrap_or(record.load.connections),
            connections: record.load.connections,
            latency_us: time("mean"),
            throughput_tps: record.throughput_tps,
            p95_us: time("p95"),
            p99_us: time("p99"),
            queue_us: time("queue-mean"),
            service_us: time("service-mean"),
            client_us: record.client.cpu_us_per_tx,
            server: server.map(|s| SweepServer { usr_pct: s.usr_pct, sys_pct: s.sys_pct }),
            valid: record.validity.valid,
        }
    }

    /// The line of a run with its factors.
    fn of_run(run: &MadeRun<'_>) -> Self {
        let row = Self::from_record(run.record);
        run.factors.iter().fold(row, |row, factor| row.with_factor(&factor.name, &factor.value))
    }

    /// The same with one more factor named.
    #[must_use]
    pub fn with_factor(mut self, name: &str, value: &str) -> Self {
        self.factors.push((name.to_owned(), value.to_owned()));
        self
    }
}

fn arrivals(record: &RunRecord) -> String {
    let load = &record.load;
    match load.rate_tps {
        _ if load.arrivals == ArrivalProcess::AtOnce => "no delay".to_owned(),
        Some(tps) => rate(tps),
        None if story::is_open(load) => NONE.to_owned(),
        None => "closed loop".to_owned(),
    }
}

/// A sweep or a search as text: what was found, the table, the runs that failed, the limits that
/// were missed, and what there is less of than was planned. Repetitions stand side by side.
///
/// Shape: as [`sweep_table`].
pub fn sweep_text(study: &RecordedStudy, style: PageStyle) -> String {
    let sweep = SweepStory::of(study);
    let mut page = ReportPage::new(style);
    if let Some(found) = study.found() {
        let (answer, facts) = sweep_story::found(&found);
        page.text(&answer, TextRole::Bold);
        for (name, fact) in facts {
            page.fact(name, &fact, TextRole::Plain);
        }
    }
    let mut runs: Vec<&MadeRun<'_>> = sweep.runs.iter().collect();
    runs.sort_by_key(|run| run.combination);
    let rows: Vec<SweepRow> = runs.into_iter().map(SweepRow::of_run).collect();
    if !rows.is_empty() {
        table(&rows, &mut page);
    }
    for sentence in sweep.troubles() {
        page.text(&sentence, TextRole::Bad);
    }
    for sentence in sweep.incomplete() {
        page.text(&sentence, TextRole::Warn);
    }
    page.finish()
}

/// The table of a sweep, a line per run in the order given.
///
/// A leading column for every swept factor, headed by its name, other than those that the table
/// has anyway. Shape: lines of at most `style.columns` columns.
pub fn sweep_table(rows: &[SweepRow], style: PageStyle) -> String {
    let mut page = ReportPage::new(style);
    table(rows, &mut page);
    page.finish()
}

fn table(rows: &[SweepRow], page: &mut ReportPage) {
    match rows.iter().any(|row| row.server.is_some()) {
        true => server::show(rows, page),
        false => page.table(&queue::table(rows)),
    }
    if has_lost(rows) {
        page.text("lost: failed, dropped, unfinished or outstanding", TextRole::Dim);
    }
    if rows.iter().any(|row| !row.valid) {
        page.text("! the figures of this run may be wrong: see its own report", TextRole::Warn);
    }
}

fn has_lost(rows: &[SweepRow]) -> bool {
    rows.iter().any(|row| row.lost > 0)
}

/// The factors that need a column, in the order in which they first appear.
fn factors<'a>(rows: &'a [SweepRow], shown_anyway: &[&str]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.factors) {
        if !names.contains(&name.as_str()) && !shown_anyway.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn factor_columns(factors: &[&str]) -> Vec<TextColumn> {
    factors.iter().map(|name| TextColumn::label(&clean(name))).collect()
}

fn factor_cells(row: &SweepRow, factors: &[&str]) -> Vec<TextCell> {
    let cell = |name: &&str| value_of(row, name).map_or(NONE.into(), |value| clean(value).into());
    factors.iter().map(cell).collect()
}

fn value_of<'a>(row: &'a SweepRow, factor: &str) -> Option<&'a str> {
    let found = row.factors.iter().find(|(name, _)| name == factor);
    found.map(|(_, value)| value.as_str())
}

/// Throughput, with a mark where it may be wrong.
fn throughput(row: &SweepRow, shown: &str) -> TextCell {
    TextCell::from(format!("{}{shown}", if row.valid { "" } else { "! " }))
}
