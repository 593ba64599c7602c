//! What is compared of runs.

use crate::compare::figures::FigureUnit;
use dbtime_model::record::RunRecord;

/// The metric that the verdict is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimaryMetric {
    /// Transactions completed a second.
    Throughput,
    /// The mean response.
    Mean,
    /// The median response.
    P50,
    /// What 99 % of the responses stay at or below.
    P99,
    /// CPU of the server for a transaction.
    ServerCpu,
}

impl PrimaryMetric {
    /// All of them, by the names that a command line has for them.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("throughput", Self::Throughput),
        ("mean", Self::Mean),
        ("p50", Self::P50),
        ("p99", Self::P99),
        ("server-cpu", Self::ServerCpu),
    ];
}

/// A figure that each run has.
pub(super) struct GroupMetric {
    pub(super) is: PrimaryMetric,
    pub(super) name: &'static str,
    pub(super) unit: FigureUnit,
    pub(super) is_higher_better: bool,
    /// What more and less of it are called: better, worse.
    pub(super) words: [&'static str; 2],
    pub(super) of: fn(&RunRecord) -> Option<f64>,
}

const SPEED: [&str; 2] = ["faster", "slower"];

/// All of them, the primary one first.
pub(super) fn primary_first(primary: PrimaryMetric) -> Vec<GroupMetric> {
    let us = |is, name, of| GroupMetric {
        is,
        name,
        unit: FigureUnit::Us,
        is_higher_better: false,
        words: SPEED,
        of,
    };
    let mut all = vec![
        GroupMetric {
            is: PrimaryMetric::Throughput,
            name: "throughput per second",
            unit: FigureUnit::Number,
            is_higher_better: true,
            words: SPEED,
            of: |record| Some(record.throughput_tps),
        },
        us(PrimaryMetric::Mean, "response mean", |r| Some(r.latency_us.response.mean)),
        us(PrimaryMetric::P50, "response p50", |r| Some(r.latency_us.response.p50)),
        us(PrimaryMetric::P99, "response p99", |r| Some(r.latency_us.response.p99)),
        GroupMetric {
            words: ["cheaper", "dearer"],
            ..us(PrimaryMetric::ServerCpu, "server CPU per transaction", |record| {
                record.server.as_ref()?.cpu_us_per_tx
            })
        },
    ];
    all.sort_by_key(|metric| metric.is != primary);
    all
}
