//! What a study shows of capacity: throughput over clients, response over throughput, and two
//! factors crossed.

use super::CellComparison;
use super::crossed::{self, CrossedFactors};
use super::indexed_runs::IndexedRuns;
use super::latency::{self, LatencySeries};
use super::scalability::{self, ScalabilitySeries};
use crate::compare::figures::FigureUnit;
use crate::compare::tables::TextTable;
use crate::document::DocumentFact;
use serde::Serialize;

/// Charts of one kind: more are too many for a page.
const MOST_CHARTS: usize = 6;

/// What a study shows of capacity; empty where its configurations are no series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyCapacity {
    /// Throughput over clients: one series of each combination of the other factors.
    pub scalability: Vec<ScalabilitySeries>,
    /// Response over throughput, by rate or clients.
    pub latency_throughput: Vec<LatencySeries>,
    /// Where exactly two factors are crossed; `null` elsewhere.
    pub crossed: Option<CrossedFactors>,
}

impl StudyCapacity {
    /// Of a study, whose configurations are compared already.
    pub(super) fn of(runs: &IndexedRuns<'_>, comparisons: &[CellComparison]) -> Self {
        Self {
            scalability: scalability::series(runs),
            latency_throughput: latency::series(runs),
            crossed: crossed::of(runs, comparisons),
        }
    }

    /// The answers in lines.
    pub(super) fn facts(&self) -> Vec<DocumentFact> {
        let fact = |(at, one): (usize, &ScalabilitySeries)| {
            DocumentFact::new(if at == 0 { "scalability" } else { "" }, one.answer.clone())
        };
        self.scalability.iter().enumerate().map(fact).collect()
    }

    pub(super) fn tables(&self) -> Vec<TextTable> {
        vec![scalability::table(&self.scalability), latency::table(&self.latency_throughput)]
    }

    /// The charts with their titles; `metric` is what the verdicts are on.
    pub(super) fn charts(&self, metric: &str, unit: FigureUnit) -> Vec<(&'static str, String)> {
        let joined = |drawn: Vec<String>| (!drawn.is_empty()).then(|| drawn.concat());
        let scaling = self.scalability.iter().take(MOST_CHARTS).enumerate();
        let scaling = joined(scaling.filter_map(|(at, one)| one.chart(at)).collect());
        let latency = self.latency_throughput.iter().take(MOST_CHARTS).enumerate();
        let latency = joined(latency.filter_map(|(at, one)| one.chart(at)).collect());
        let crossed = self.crossed.as_ref();
        let map = crossed.and_then(|crossed| crossed.effect_map(metric));
        let lines = crossed.and_then(|crossed| crossed.interaction(metric, unit));
        let all = [
            ("Scalability", scaling),
            ("Response over throughput", latency),
            ("What each combination changes", map),
            ("Do the factors depend on each other?", lines),
        ];
        all.into_iter().filter_map(|(title, svg)| Some((title, svg?))).collect()
    }
}

/// The name of a series before its chart, where there is one.
pub(super) fn captioned(others: &str, svg: &str) -> String {
    match others {
        "" => svg.to_owned(),
        others => format!("<h3>{}</h3>{svg}", crate::charts::escape(others)),
    }
}
