//! The statistics of Percona's tools, where classes are grouped as theirs.

use super::seen::SeenRecord;
use dbtime_model::SqlDialect;
use dbtime_model::log_digest::{
    DigestClass, InputKind, LogFigure, LogFigureUnit, PerconaStatistics,
};
use dbtime_sql::{LexicalRules, PerconaRules};
use dbtime_stats::PerconaBuckets;

/// Nanoseconds of a second, and microseconds of one: those tools count in seconds.
const SECOND_NS: f64 = 1e9;
const SECOND_US: f64 = 1e6;

/// Values of a class in the buckets of Percona's tools.
#[derive(Debug, Default)]
pub(super) struct PerconaSums {
    times: PerconaBuckets,
    figures: Vec<(LogFigure, PerconaBuckets)>,
}

impl PerconaSums {
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>) {
        if let Some(duration_ns) = seen.duration_ns {
            self.times.add(duration_ns as f64 / SECOND_NS);
        }
        for (figure, value) in seen.record.figures {
            let place = self.figures.iter().position(|(own, _)| own == figure);
            let place = place.unwrap_or_else(|| {
                self.figures.push((*figure, PerconaBuckets::default()));
                self.figures.len() - 1
            });
            let unit = if is_time(*figure) { SECOND_NS } else { 1.0 };
            self.figures[place].1.add(*value as f64 / unit);
        }
    }

    /// Puts the statistics into a class.
    pub(super) fn fill(&self, class: &mut DigestClass) {
        if let Some(times) = &mut class.times {
            times.percona = statistics(&self.times, SECOND_US);
        }
        for (figure, buckets) in &self.figures {
            let unit = if is_time(*figure) { SECOND_US } else { 1.0 };
            if let Some(summary) = class.figures.get_mut(figure.name()) {
                summary.percona = statistics(buckets, unit);
            }
        }
    }
}

/// The text that Percona's tools give a command of the protocol, which is its fingerprint too.
pub(super) fn command_text(command: &str) -> String {
    format!("administrator command: {command}")
}

/// What is shown of a class by these rules that this statement is of: they leave parts of literals,
/// so that all literals are removed before.
pub(super) fn shown_text(text: &[u8], kind: InputKind, rules: PerconaRules) -> String {
    let dialect = kind.dialect().unwrap_or(SqlDialect::Mysql);
    let (mut bare, mut shown) = (String::new(), Vec::new());
    dbtime_sql::fingerprint(text, &LexicalRules::unknown(dialect), &mut bare);
    dbtime_sql::percona_fingerprint(bare.as_bytes(), rules, &mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

fn is_time(figure: LogFigure) -> bool {
    figure.unit() == LogFigureUnit::Time
}

fn statistics(buckets: &PerconaBuckets, unit: f64) -> Option<PerconaStatistics> {
    let summary = buckets.summary()?;
    Some(PerconaStatistics {
        median: summary.median * unit,
        p95: summary.p95 * unit,
        stddev: summary.stddev * unit,
    })
}
