//! What is compared of runs.

use crate::compare::figures::FigureUnit;
use dbtime_model::record::{PrimaryMetric, RunRecord};

/// A figure that each run has.
pub(in crate::compare) struct GroupMetric {
    pub(super) is: PrimaryMetric,
    pub(in crate::compare) name: &'static str,
    pub(in crate::compare) unit: FigureUnit,
    pub(super) is_higher_better: bool,
    /// What more and less of it are called: better, worse.
    pub(super) words: [&'static str; 2],
}

impl GroupMetric {
    /// Its value in a run.
    pub(super) fn of(&self, record: &RunRecord) -> Option<f64> {
        self.is.value(record)
    }
}

const SPEED: [&str; 2] = ["faster", "slower"];

/// That of this name.
pub(in crate::compare) fn metric_of(metric: PrimaryMetric) -> GroupMetric {
    primary_first(metric).swap_remove(0)
}

/// All of them, the primary one first.
pub(super) fn primary_first(primary: PrimaryMetric) -> Vec<GroupMetric> {
    let us = |is, name| GroupMetric {
        is,
        name,
        unit: FigureUnit::Us,
        is_higher_better: false,
        words: SPEED,
    };
    let mut all = vec![
        GroupMetric {
            is: PrimaryMetric::Throughput,
            name: "throughput per second",
            unit: FigureUnit::Number,
            is_higher_better: true,
            words: SPEED,
        },
        us(PrimaryMetric::Mean, "response mean"),
        us(PrimaryMetric::P50, "response p50"),
        us(PrimaryMetric::P99, "response p99"),
        GroupMetric {
            words: ["cheaper", "dearer"],
            ..us(PrimaryMetric::ServerCpu, "server CPU per transaction")
        },
    ];
    all.sort_by_key(|metric| metric.is != primary);
    all
}
