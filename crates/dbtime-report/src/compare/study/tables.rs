//! A study as tables of texts.

use super::session_changes;
use super::{CellComparison, CellFigures, MeanKind, ProgramMean, StudyComparison, StudyRunLine};
use crate::compare::groups;
use crate::compare::groups::signed;
use crate::compare::tables::{TextTable, figure, name, wrapped};
use crate::facts::instant;
use crate::format::{bytes, clean, four_digits, if_any, us};
use std::collections::BTreeSet;

/// What stands above all runs.
pub(in crate::compare) const RUNS: &str = "The runs, in the order of time";

/// The tables behind the answer: changes, configurations, everything that was compared of each, and
/// all runs.
pub(in crate::compare) fn of_study(study: &StudyComparison) -> Vec<TextTable> {
    let by_session = session_changes::table(study);
    let mut tables =
        vec![study.factors.table(), changes(study), by_session, cells(study), servers(study)];
    if let [one] = &study.comparisons[..] {
        // The runs are those of the study.
        tables.extend(groups::figures_and_parts(&one.comparison));
    }
    tables.extend(study.capacity.tables());
    tables.push(runs(study));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn changes(study: &StudyComparison) -> TextTable {
    let row = |one: &CellComparison| {
        let primary = one.comparison.metrics.first();
        let change = primary.and_then(|primary| primary.change_pct);
        let pct = |at: usize| if_any(change, |pct: [f64; 3]| signed(pct[at] / 100.0) + " %");
        let [a, b] = primary.map_or_else(Default::default, |primary| primary.means.both());
        let pairs = primary.map_or(0, |primary| primary.a.len().min(primary.b.len()));
        vec![clean(&one.cell), a, b, pct(0), pct(1), pct(2), pairs.to_string()]
    };
    let all = study.control.iter().chain(&study.comparisons);
    TextTable {
        title: "Changes against the baseline",
        headings: vec![
            wrapped("Configuration"),
            figure("Baseline"),
            figure("This"),
            figure("Change"),
            figure("from"),
            figure("to"),
            figure("Pairs"),
        ],
        rows: all.map(row).collect(),
        note: match study.comparisons.len() {
            0 | 1 => String::new(),
            several => format!(
                "intervals of the {several} configurations hold together (Šidák); the control's \
                 holds by itself"
            ),
        },
    }
}

/// What the server took of CPU and memory.
fn servers(study: &StudyComparison) -> TextTable {
    let is_seen = |cell: &&CellFigures| cell.server_rss_bytes.is_some();
    let row = |cell: &CellFigures| {
        let size = |value: Option<f64>| if_any(value, |size| bytes(size as u64));
        let ends = cell.server_rss_peak_bytes.zip(cell.server_rss_idle_bytes);
        vec![
            clean(&cell.name),
            if_any(cell.server_cpu_us_per_tx, us),
            size(cell.server_rss_bytes),
            size(cell.server_rss_peak_bytes),
            size(cell.server_rss_idle_bytes),
            size(ends.map(|(peak, idle)| (peak - idle).max(0.0))),
        ]
    };
    TextTable {
        title: "The server, means of the runs that count",
        headings: vec![
            wrapped("Configuration"),
            figure("CPU per tx"),
            figure("RSS"),
            figure("Peak"),
            figure("Idle"),
            figure("Given back"),
        ],
        rows: study.cells.iter().filter(is_seen).map(row).collect(),
        note: "resident size: at the end of the window, the largest, half a second after the last \
               connection was closed, and what was given back of the largest by then"
            .to_owned(),
    }
}

/// The same of an external program: a line for each of its metrics.
fn program_means(study: &StudyComparison) -> TextTable {
    let row = |cell: &CellFigures, mean: &ProgramMean| {
        let name = clean(&cell.name);
        vec![name, cell.runs.to_string(), mean.name.clone(), mean.unit.shown(mean.mean)]
    };
    let rows = study.cells.iter().flat_map(|cell| cell.metrics.iter().map(move |it| row(cell, it)));
    let means = study.cells.iter().flat_map(|cell| &cell.metrics);
    let arithmetic = means.filter(|mean| mean.kind == MeanKind::Arithmetic);
    let arithmetic: BTreeSet<&str> = arithmetic.map(|mean| mean.name.as_str()).collect();
    let arithmetic = arithmetic.into_iter().collect::<Vec<_>>().join(", ");
    TextTable {
        title: "Configurations, means of the runs that count",
        headings: vec![wrapped("Configuration"), figure("Runs"), wrapped("Metric"), figure("Mean")],
        rows: rows.collect(),
        note: match arithmetic.as_str() {
            "" => "geometric means".to_owned(),
            names => format!("geometric means; arithmetic ones of what is zero in a run: {names}"),
        },
    }
}

fn cells(study: &StudyComparison) -> TextTable {
    if study.cells.iter().any(|cell| !cell.metrics.is_empty()) {
        return program_means(study);
    }
    let row = |cell: &CellFigures| {
        let of = |value: Option<f64>, shown: fn(f64) -> String| if_any(value, shown);
        let cpu = cell.server_usr_pct.zip(cell.server_sys_pct).map(|(usr, sys)| usr + sys);
        vec![
            clean(&cell.name),
            cell.runs.to_string(),
            if_any(cell.connections, |connections| connections.to_string()),
            of(cell.throughput_tps, four_digits),
            of(cell.server_usr_pct, |pct| format!("{pct:.0}")),
            of(cell.server_sys_pct, |pct| format!("{pct:.0}")),
            of(cpu, |pct| format!("{pct:.0}")),
            of(cell.server_rss_bytes, |size| bytes(size as u64)),
            of(cell.mean_us, us),
            of(cell.p95_us, us),
            of(cell.p99_us, us),
        ]
    };
    TextTable {
        title: "Configurations, means of the runs that count",
        headings: vec![
            wrapped("Configuration"),
            figure("Runs"),
            figure("Conns"),
            figure("tps"),
            figure("%usr"),
            figure("%sys"),
            figure("%cpu"),
            figure("RSS"),
            figure("Mean"),
            figure("95 %"),
            figure("99 %"),
        ],
        rows: study.cells.iter().map(row).collect(),
        note: "throughput and responses: geometric means; %usr, %sys, %cpu and RSS: of the server"
            .to_owned(),
    }
}

fn runs(study: &StudyComparison) -> TextTable {
    let metric = &study.primary_metric;
    let row = |run: &StudyRunLine| {
        let value = if_any(run.value, |value| metric.unit.shown(value));
        let again = if run.attempt > 1 { format!(".{}", run.attempt) } else { String::new() };
        vec![
            run.run.to_string(),
            instant(&run.started_at),
            format!("{}{again}", run.block),
            clean(&run.cell),
            value,
            run.excluded.clone().unwrap_or_default(),
        ]
    };
    let note = format!("value: {}", metric.name);
    TextTable {
        title: RUNS,
        headings: vec![
            figure("Run"),
            name("Started"),
            figure("Block"),
            wrapped("Configuration"),
            figure("Value"),
            wrapped("In no verdict"),
        ],
        rows: study.runs.iter().map(row).collect(),
        note,
    }
}
