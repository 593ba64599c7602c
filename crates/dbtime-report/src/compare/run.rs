//! Two runs: what is compared of them, each list in the order of what changed most.

use super::SCHEMA;
use super::figures::{FigurePair, FigureUnit};
use super::setup::{self, SettingPair};
use crate::budget_story;
use crate::means::PartMeans;
use crate::story;
use dbtime_model::Part;
use dbtime_model::record::{
    CountersInfo, KeyCounterDelta, OperationSummary, RunFigure, RunRecord, StatementSummary,
    ValidityGrade,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Which run one side is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Where its record is.
    pub place: String,
    /// When its load started, UTC, RFC 3339.
    pub started_at: String,
    /// What ran against what.
    pub headline: String,
    /// How the load was made.
    pub load: String,
    /// How its parts were measured, and how well they add up.
    pub parts_measured: String,
    /// How far its figures can be trusted.
    pub grade: ValidityGrade,
    /// Why its figures may be wrong; `null` where nothing speaks against them.
    pub invalid: Option<String>,
    /// Why it is noisy; `null` where it is sound or invalid.
    pub noisy: Option<String>,
}

/// An operation or a statement: several figures under one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedItem {
    /// Its name; of a statement behind that of its operation.
    pub name: String,
    /// Its figures: the first orders the list, by its difference.
    pub figures: Vec<FigurePair>,
}

/// Two runs side by side, as `dbtime compare --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `run_comparison`.
    pub kind: &'static str,
    /// Always `null`: two single runs carry none.
    pub verdict: Option<String>,
    /// The first run.
    pub a: ComparedRun,
    /// The second.
    pub b: ComparedRun,
    /// Where they did not do the same: workload, target, load. Empty where they did.
    pub unlike: Vec<String>,
    /// Whether both are one record, named twice or copied.
    pub is_same_record: bool,
    /// The whole runs.
    pub figures: Vec<FigurePair>,
    /// The time budget, mean per transaction, the total last; empty unless both have one.
    pub parts: Vec<FigurePair>,
    /// By operation: time per transaction of any kind, share, mean, p99.
    pub operations: Vec<ComparedItem>,
    /// By statement: time per transaction, executions per transaction, mean, p99.
    pub statements: Vec<ComparedItem>,
    /// What the servers counted, per transaction, by the ratio; what one of two servers of the same
    /// version did not count is 0 there, unless its record notes that counters were lost.
    pub counters: Vec<FigurePair>,
    /// What was set up differently.
    pub settings: Vec<SettingPair>,
    /// How many recorded settings are the same.
    pub same_settings: u64,
}

impl RunComparison {
    /// Two runs with the places of their records.
    pub fn of([(place_a, a), (place_b, b)]: [(&str, &RunRecord); 2]) -> Self {
        let (settings, same_settings) = setup::settings(a, b);
        Self {
            schema: SCHEMA,
            kind: "run_comparison",
            verdict: None,
            a: ComparedRun::of(place_a, a),
            b: ComparedRun::of(place_b, b),
            unlike: setup::unlike(a, b),
            is_same_record: a == b,
            figures: figures(a, b),
            parts: parts(a, b),
            operations: operations(a, b),
            statements: statements(a, b),
            counters: counters(a, b),
            settings,
            same_settings,
        }
    }
}

impl ComparedRun {
    fn of(place: &str, record: &RunRecord) -> Self {
        Self {
            place: place.to_owned(),
            started_at: record.started_at.clone(),
            headline: story::headline(record),
            load: story::load(&record.load),
            parts_measured: parts_measured(record),
            grade: record.validity.grade(),
            invalid: story::invalid(record),
            noisy: story::noisy(record),
        }
    }
}

fn parts_measured(record: &RunRecord) -> String {
    let notes = [budget_story::sampling(record), budget_story::budget_error(record)];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The figures of whole runs that are compared, by their keys.
const COMPARED: [&str; 22] = [
    "throughput",
    "offered-rate",
    "mean",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
    "service-mean",
    "service-p99",
    "queue-mean",
    "lag-mean",
    "client-cpu",
    "server-cpu",
    "round-trips",
    "offered",
    "completed",
    "failed",
    "dropped",
    "unfinished",
    "retries",
    "outstanding",
];

fn figures(a: &RunRecord, b: &RunRecord) -> Vec<FigurePair> {
    let are_known = |key: &str| match key {
        "offered-rate" => a.load.rate_tps.is_some() && b.load.rate_tps.is_some(),
        "server-cpu" => a.server.is_some() && b.server.is_some(),
        "outstanding" => a.counts.outstanding > 0 || b.counts.outstanding > 0,
        _ => true,
    };
    let pair = |key: &str| {
        let figure = RunFigure::listed(key);
        let values = [a, b].map(|record| figure.value(record));
        FigurePair::new(figure.name, figure.unit.into(), values)
    };
    COMPARED.into_iter().filter(|key| are_known(key)).map(pair).collect()
}

/// Every part that either run measured.
fn parts(a: &RunRecord, b: &RunRecord) -> Vec<FigurePair> {
    match (&a.budget_us, &b.budget_us) {
        (Some(a), Some(b)) => part_pairs([a, b].map(PartMeans::from)),
        _ => Vec::new(),
    }
}

/// The parts of both sides, most changed first, the total last; without those that are nothing.
pub(super) fn part_pairs(means: [PartMeans; 2]) -> Vec<FigurePair> {
    let pair = |part: Part| {
        let unit = match part {
            Part::Unexplained => FigureUnit::SignedUs,
            _ => FigureUnit::Us,
        };
        FigurePair::new(part.name(), unit, [0, 1].map(|side: usize| means[side].get(part)))
    };
    let is_there = |pair: &FigurePair| {
        let any = [pair.a, pair.b].into_iter().flatten().any(|us| us != 0.0);
        any || pair.unit == FigureUnit::SignedUs
    };
    let mut all: Vec<FigurePair> = Part::ALL.into_iter().map(pair).filter(is_there).collect();
    all.sort_by(|x, y| y.change().total_cmp(&x.change()));
    all.push(FigurePair::new("total", FigureUnit::Us, [means[0].total, means[1].total]));
    all
}

/// `items` of both sides under the names of either, most changed first.
fn items<'a, T>(
    sides: [&'a [T]; 2],
    name: impl Fn(&'a T) -> String,
    figures: impl Fn([Option<&'a T>; 2]) -> Vec<FigurePair>,
) -> Vec<ComparedItem> {
    let names: BTreeSet<String> = sides.iter().flat_map(|side| side.iter()).map(&name).collect();
    let item = |item_name: String| {
        let found = sides.map(|side| side.iter().find(|item| name(item) == item_name));
        ComparedItem { figures: figures(found), name: item_name }
    };
    let mut all: Vec<ComparedItem> = names.into_iter().map(item).collect();
    let change = |item: &ComparedItem| item.figures.first().map_or(0.0, FigurePair::change);
    all.sort_by(|x, y| change(y).total_cmp(&change(x)));
    all
}

fn operations(a: &RunRecord, b: &RunRecord) -> Vec<ComparedItem> {
    let sides = [&a.operations[..], &b.operations[..]];
    items(
        sides,
        |operation| operation.name.clone(),
        |pair: [Option<&OperationSummary>; 2]| {
            let each = |name, unit, of: fn(&OperationSummary) -> f64| {
                FigurePair::new(name, unit, pair.map(|side| side.map(of)))
            };
            vec![
                each("per transaction", FigureUnit::Us, |o| o.latency_us.response.mean * o.share),
                each("share", FigureUnit::Percent, |o| o.share * 100.0),
                each("mean", FigureUnit::Us, |o| o.latency_us.response.mean),
                each("p99", FigureUnit::Us, |o| o.latency_us.response.p99),
            ]
        },
    )
}

fn statements(a: &RunRecord, b: &RunRecord) -> Vec<ComparedItem> {
    let completed = [a, b].map(|record| record.counts.completed);
    let name =
        |statement: &StatementSummary| format!("{}: {}", statement.operation, statement.name);
    items([&a.statements[..], &b.statements[..]], name, |pair| {
        let each = |side: usize| {
            let statement = pair[side].filter(|_| completed[side] > 0);
            statement.map(|statement| statement.count as f64 / completed[side] as f64)
        };
        let mean = |side: usize| pair[side].map(|statement| statement.latency_us.mean);
        let time = [0, 1].map(|side| Some(each(side)? * mean(side)?));
        vec![
            FigurePair::new("per transaction", FigureUnit::Us, time),
            FigurePair::new("executions", FigureUnit::Number, [each(0), each(1)]),
            FigurePair::new("mean", FigureUnit::Us, [mean(0), mean(1)]),
            FigurePair::new("p99", FigureUnit::Us, pair.map(|s| s.map(|s| s.latency_us.p99))),
        ]
    })
}

/// What tells most of what the servers counted, per transaction.
fn counters(a: &RunRecord, b: &RunRecord) -> Vec<FigurePair> {
    let sides = [a, b].map(|record| record.counters.as_ref());
    let counters = sides.map(|info| info.map_or(&[][..], |info| &info.key_counters));
    let names: BTreeSet<&str> =
        counters.into_iter().flatten().map(|counter| counter.name.as_str()).collect();
    // Another version may not have that counter.
    let is_one_version = a.target.identity() == b.target.identity();
    let whole = sides.map(|info| info.filter(|info| is_one_version && is_whole(info)));
    let absent = whole.map(|info| info.map(|_| 0.0));
    let pair = |name: &str| {
        let found = counters.map(|side| side.iter().find(|counter| counter.name == name));
        let unit = found.into_iter().flatten().next().map_or(FigureUnit::Number, |t| t.unit.into());
        let each = |side: usize| found[side].map_or(absent[side], per_transaction);
        FigurePair::new(name, unit, [each(0), each(1)])
    };
    let mut all: Vec<FigurePair> = names.into_iter().map(pair).collect();
    all.sort_by(|x, y| y.change_of_ratio().total_cmp(&x.change_of_ratio()));
    all
}

/// Whether a counter that is not among the key counters counted nothing: those that were set to
/// zero in the window are left out too, which is noted.
fn is_whole(info: &CountersInfo) -> bool {
    info.transactions > 0 && info.notes.is_empty()
}

fn per_transaction(counter: &KeyCounterDelta) -> Option<f64> {
    // Milliseconds are shown as what they are of a transaction: microseconds.
    let scale = if FigureUnit::from(counter.unit) == FigureUnit::Us { 1e3 } else { 1.0 };
    counter.per_transaction.map(|each| each * scale)
}
