//! What is compared of runs.

use crate::compare::figures::FigureUnit;
use crate::format::clean;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::{PlacedRecord, ProgramMetric, ProgramRules};

/// A figure that each run has.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::compare) struct GroupMetric {
    /// By which name the record has it.
    key: String,
    pub(in crate::compare) name: String,
    pub(in crate::compare) unit: FigureUnit,
    pub(super) is_higher_better: bool,
    /// What more and less of it are called: better, worse.
    pub(super) words: [&'static str; 2],
}

impl GroupMetric {
    /// Its value in a run.
    pub(in crate::compare) fn of(&self, record: PlacedRecord<'_>) -> Option<f64> {
        record.value(&self.key)
    }
}

const SPEED: [&str; 2] = ["faster", "slower"];

/// Those of the runs of an external program, the primary one first.
pub(in crate::compare) fn of_program(rules: &ProgramRules) -> Vec<GroupMetric> {
    let metric = |metric: &ProgramMetric| {
        let unit = match metric.unit.as_str() {
            "us" | "µs" => FigureUnit::Us,
            "bytes" => FigureUnit::Bytes,
            _ => FigureUnit::Number,
        };
        let has_unit = unit == FigureUnit::Number && !metric.unit.is_empty();
        let shown = if has_unit { format!(", {}", metric.unit) } else { String::new() };
        GroupMetric {
            key: metric.name.clone(),
            name: clean(&format!("{}{shown}", metric.name)),
            unit,
            is_higher_better: metric.is_higher_better,
            words: ["better", "worse"],
        }
    };
    rules.metrics.iter().map(metric).collect()
}

/// Those of runs of dbtime, the primary one first.
pub(in crate::compare) fn primary_first(primary: PrimaryMetric) -> Vec<GroupMetric> {
    let us = |is: PrimaryMetric, name: &str| GroupMetric {
        key: is.name().to_owned(),
        name: name.to_owned(),
        unit: FigureUnit::Us,
        is_higher_better: false,
        words: SPEED,
    };
    let mut all = vec![
        GroupMetric {
            key: PrimaryMetric::Throughput.name().to_owned(),
            name: "throughput per second".to_owned(),
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
    all.sort_by_key(|metric| metric.key != primary.name());
    all
}
