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
    /// What measures it, for runs that do not have it.
    pub(super) source: &'static str,
}

impl GroupMetric {
    /// The metric of runs of dbtime with this name; `None`: external programs alone have it.
    pub(super) fn of_run(&self) -> Option<PrimaryMetric> {
        PrimaryMetric::named(&self.key)
    }

    /// Its value in a run.
    pub(in crate::compare) fn of(&self, record: PlacedRecord<'_>) -> Option<f64> {
        record.value(&self.key)
    }

    /// One of a file of another tool.
    pub(in crate::compare) fn foreign(
        name: &str,
        is_higher_better: bool,
        words: [&'static str; 2],
    ) -> Self {
        Self {
            key: name.to_owned(),
            name: name.to_owned(),
            unit: FigureUnit::Number,
            is_higher_better,
            words,
            source: "the file of another tool has it",
        }
    }

    /// Whether more of it, or less, is better.
    pub(in crate::compare) fn is_better(&self, is_more: bool) -> bool {
        is_more == self.is_higher_better
    }

    /// What a change for the better is called, or one for the worse.
    pub(in crate::compare) fn word(&self, is_better: bool) -> &'static str {
        self.words[usize::from(!is_better)]
    }

    /// The same where it is a finite number.
    pub(super) fn finite(&self, record: PlacedRecord<'_>) -> Option<f64> {
        self.of(record).filter(|value| value.is_finite())
    }
}

/// The figures that are compared of all runs of dbtime.
const COMPARED: [&str; 5] = ["throughput", "mean", "p50", "p99", "server-cpu"];

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
            source: "see what the command printed, in the folders of the runs, and by which `json` \
                     or `regex` the study's file reads it",
        }
    };
    rules.metrics.iter().map(metric).collect()
}

/// Those of runs of dbtime, the primary one first.
pub(in crate::compare) fn primary_first(primary: PrimaryMetric) -> Vec<GroupMetric> {
    let others = COMPARED.into_iter().filter_map(PrimaryMetric::named);
    let others = others.filter(|metric| *metric != primary);
    [primary].into_iter().chain(others).map(GroupMetric::from).collect()
}

impl From<PrimaryMetric> for GroupMetric {
    fn from(metric: PrimaryMetric) -> Self {
        let better = metric.better();
        Self {
            key: metric.key(),
            name: metric.name(),
            unit: metric.unit().into(),
            is_higher_better: better.is_higher(),
            words: better.words(),
            source: source_of(&metric.key()),
        }
    }
}

/// What measures a figure of a run.
fn source_of(key: &str) -> &'static str {
    match key {
        key if key.starts_with("server-") => {
            "it is read of a server's process, on this machine and with rights to it, while \
             transactions end; SQLite and null have none"
        }
        "client-cpu" | "round-trips" | "errors" => {
            "it takes transactions that end in the window: lengthen the run with --time"
        }
        _ => "it takes transactions that end in the window, and records of this dbtime",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_metric_comes_first_and_the_usual_ones_follow_once() {
        let keys = |primary: &str| {
            let primary = PrimaryMetric::named(primary).expect(primary);
            primary_first(primary).into_iter().map(|metric| metric.key).collect::<Vec<_>>()
        };
        assert_eq!(keys("throughput"), COMPARED);
        assert_eq!(keys("p99"), ["p99", "throughput", "mean", "p50", "server-cpu"]);
        assert_eq!(keys("p95"), ["p95", "throughput", "mean", "p50", "p99", "server-cpu"]);
        let size = GroupMetric::from(PrimaryMetric::named("server-rss").expect("a figure"));
        assert_eq!((size.unit, size.words), (FigureUnit::Bytes, ["better", "worse"]));
    }
}
