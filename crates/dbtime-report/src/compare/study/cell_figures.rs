//! Each configuration of a study by itself: means over its runs that count.

use super::indexed_runs::IndexedRuns;
use super::program_mean::{self, ProgramMean};
use crate::compare::groups;
use dbtime_model::record::{RunFigure, RunRecord};
use dbtime_model::study::{CellRole, RunOrder, TrialRecord};
use serde::Serialize;

/// One configuration by itself: means over its runs that count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellFigures {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: CellRole,
    /// What makes it this one, in words.
    pub factors: String,
    /// How many of its runs count.
    pub runs: u64,
    /// Of an external program its metrics that all of these runs have.
    pub metrics: Vec<ProgramMean>,
    /// Clients or connections.
    pub connections: Option<u32>,
    /// Transactions completed a second, geometric mean.
    pub throughput_tps: Option<f64>,
    /// Mean response, geometric mean over the runs. Unit: microseconds.
    pub mean_us: Option<f64>,
    /// 95th percentile of each run, geometric mean over them. Unit: microseconds.
    pub p95_us: Option<f64>,
    /// 99th percentile of each run, geometric mean over them. Unit: microseconds.
    pub p99_us: Option<f64>,
    /// User CPU of the server. Unit: percent of one CPU.
    pub server_usr_pct: Option<f64>,
    /// System CPU of the server. Unit: percent of one CPU.
    pub server_sys_pct: Option<f64>,
    /// CPU of the server for a transaction, arithmetic mean. Unit: microseconds.
    pub server_cpu_us_per_tx: Option<f64>,
    /// Resident size of the server at the end of the window. Unit: bytes.
    pub server_rss_bytes: Option<f64>,
    /// The largest of its life. Unit: bytes.
    pub server_rss_peak_bytes: Option<f64>,
    /// That when nobody was connected any more. Unit: bytes.
    pub server_rss_idle_bytes: Option<f64>,
}

/// All configurations. The runs of a search have rates of their own, and no means.
pub(super) fn all_figures(runs: &IndexedRuns<'_>) -> Vec<CellFigures> {
    match runs.study.plan.order {
        RunOrder::Search => Vec::new(),
        RunOrder::Blocks | RunOrder::Rounds => {
            (0..runs.study.plan.cells.len()).map(|cell| figures(runs, cell)).collect()
        }
    }
}

fn figures(runs: &IndexedRuns<'_>, cell: usize) -> CellFigures {
    let all: Vec<&TrialRecord> = runs.counted(cell).collect();
    let records: Vec<&RunRecord> = all.iter().filter_map(|record| record.run()).collect();
    let values = |key: &str| {
        let figure = RunFigure::listed(key);
        records.iter().map(move |record| figure.value(record))
    };
    let mean = |key: &str| {
        let values: Option<Vec<f64>> = values(key).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    let geometric = |key: &str| geometric_mean(values(key));
    let plan = &runs.study.plan.cells[cell];
    let factors = plan.factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    CellFigures {
        name: plan.name.clone(),
        role: plan.role,
        factors,
        runs: all.len() as u64,
        metrics: program_mean::program_means(runs, &all),
        connections: records.first().map(|record| record.load.connections),
        throughput_tps: geometric("throughput"),
        mean_us: geometric("mean"),
        p95_us: geometric("p95"),
        p99_us: geometric("p99"),
        server_usr_pct: mean("server-usr"),
        server_sys_pct: mean("server-sys"),
        server_cpu_us_per_tx: mean("server-cpu"),
        server_rss_bytes: mean("server-rss"),
        server_rss_peak_bytes: mean("server-rss-peak"),
        server_rss_idle_bytes: mean("server-rss-idle"),
    }
}

/// `None`: one is missing, or not above zero, or there is none.
pub(super) fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    let has_mean = !values.is_empty() && values.iter().all(|value| value.ln().is_finite());
    has_mean.then(|| groups::geometric_mean(&values))
}
