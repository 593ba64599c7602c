//! The figures of a run that a verdict can be on.

use super::RunRecord;
use serde::{Deserialize, Serialize};

/// The metric that the verdict is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

    /// What a verdict is on unless somebody says: throughput of a closed loop, else the mean
    /// response.
    pub fn usual(is_closed: bool) -> Self {
        if is_closed { Self::Throughput } else { Self::Mean }
    }

    /// The metric of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, metric)| metric)
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        Self::NAMED.into_iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    /// Its value in a run; `None`: it has none.
    pub fn value(self, record: &RunRecord) -> Option<f64> {
        match self {
            Self::Throughput => Some(record.throughput_tps),
            Self::Mean => Some(record.latency_us.response.mean),
            Self::P50 => Some(record.latency_us.response.p50),
            Self::P99 => Some(record.latency_us.response.p99),
            Self::ServerCpu => record.server.as_ref()?.cpu_us_per_tx,
        }
    }
}
