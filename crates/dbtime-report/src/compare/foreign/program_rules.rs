//! How the figures of external programs are compared whose study is not at hand.

use super::direction;
use dbtime_model::study::{MetricSource, ProgramMetric, ProgramRecord, ProgramRules, UsageFigure};

/// The rules for these records: the figures that all of them have, those that the programs printed
/// first, with directions by their names.
///
/// Shape: without metrics where they have none in common.
pub fn recorded_rules(records: &[&ProgramRecord]) -> ProgramRules {
    let first = records.first().into_iter().flat_map(|record| record.values.keys());
    let are_all = |name: &&String| records.iter().all(|record| record.values.contains_key(*name));
    let mut metrics: Vec<ProgramMetric> =
        first.filter(are_all).map(|name| metric(name.as_str())).collect();
    metrics.sort_by_key(|metric| matches!(metric.source, MetricSource::Usage(_)));
    ProgramRules { prepare: None, conclude: None, timeout_s: 0.0, metrics }
}

fn metric(name: &str) -> ProgramMetric {
    let usage = UsageFigure::NAMED.iter().find(|(known, ..)| *known == name);
    let (unit, source) = match usage {
        Some((_, unit, figure)) => (*unit, MetricSource::Usage(*figure)),
        None => ("", MetricSource::Json(name.to_owned())),
    };
    ProgramMetric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        is_higher_better: direction::is_higher_better(name),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_records_have_is_compared_and_what_was_printed_comes_first() {
        let record = |names: &[&str]| {
            let values = names.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
            ProgramRecord { values, ..ProgramRecord::default() }
        };
        let one = record(&["rss-peak", "tps", "wall", "seldom"]);
        let rules = recorded_rules(&[&one, &record(&["rss-peak", "tps", "wall"])]);
        let shown: Vec<_> = rules
            .metrics
            .iter()
            .map(|one| (one.name.as_str(), one.unit.as_str(), one.is_higher_better))
            .collect();
        assert_eq!(shown, [("tps", "", true), ("rss-peak", "bytes", false), ("wall", "s", false)]);
        assert!(recorded_rules(&[&one, &record(&[])]).metrics.is_empty());
    }
}
