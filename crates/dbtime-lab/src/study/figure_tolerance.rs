//! How closely the files of runs have their figures: a figure that was changed within that is not
//! found.

use super::contradictions::{mean_range_us, throughput_range_tps};
use dbtime_model::record::Run;

/// The widest range of each figure within which a run still agrees with its files.
#[derive(Debug, Default)]
pub(super) struct FigureTolerance {
    /// Unit: microseconds.
    mean_us: Option<FigureRange>,
    /// Unit: per second.
    throughput_tps: Option<FigureRange>,
}

/// Between which ends a figure of a run agrees with its files.
#[derive(Debug)]
struct FigureRange {
    /// The folder of the run.
    place: String,
    ends: [f64; 2],
}

impl FigureTolerance {
    /// Takes in the run of this folder.
    pub(super) fn add(&mut self, place: &str, run: &Run) {
        if let Some(ends) = mean_range_us(&run.record) {
            widen(&mut self.mean_us, place, ends);
        }
        widen(&mut self.throughput_tps, place, throughput_range_tps(&run.record, &run.series));
    }

    /// How closely each figure is verified, in words.
    pub(super) fn texts(&self) -> Vec<String> {
        let mean = self.mean_us.as_ref().map(|FigureRange { place, ends: [low, high] }| {
            format!(
                "mean, maximum and percentiles closer than the histogram's powers of two (the \
                 mean of {place} within {low:.1} .. {high:.1} µs)"
            )
        });
        let rate = self.throughput_tps.as_ref().map(|FigureRange { place, ends: [low, high] }| {
            format!(
                "throughput closer than its whole seconds (the throughput of {place} within \
                 {low:.1} .. {high:.1}/s)"
            )
        });
        mean.into_iter().chain(rate).collect()
    }
}

/// Takes a range that is wider than the one that is there. One that has no width leaves nothing
/// open.
fn widen(widest: &mut Option<FigureRange>, place: &str, ends: [f64; 2]) {
    let ratio = |[low, high]: [f64; 2]| high / low.max(f64::MIN_POSITIVE);
    let is_open = ends.iter().all(|end| end.is_finite()) && ends[0] < ends[1];
    if is_open && widest.as_ref().is_none_or(|there| ratio(there.ends) < ratio(ends)) {
        *widest = Some(FigureRange { place: place.to_owned(), ends });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{HistogramBucket, RunRecord, SeriesRow};

    fn run(measure_s: f64) -> Run {
        let histogram = vec![HistogramBucket { below_us: 500.0, count: 10 }];
        let mut record = RunRecord { histogram, ..RunRecord::default() };
        record.window.measure_s = measure_s;
        let row = |second| SeriesRow { second, completed: 50, ..SeriesRow::default() };
        Run { record, series: vec![row(0), row(1), row(2)], ..Run::default() }
    }

    #[test]
    fn the_widest_range_is_told_with_its_run() {
        let mut tolerance = FigureTolerance::default();
        tolerance.add("whole", &run(2.0));
        let mean = "(the mean of whole within 249.5 .. 500.5 µs)";
        let texts = tolerance.texts();
        assert!(texts.len() == 1 && texts[0].ends_with(mean), "{texts:?}");
        tolerance.add("wide", &run(0.5));
        tolerance.add("narrow", &run(2.5));
        let texts = tolerance.texts();
        assert!(texts[0].ends_with(mean), "{texts:?}");
        let rate = "(the throughput of wide within 0.0 .. 100.0/s)";
        assert!(texts[1].ends_with(rate), "{texts:?}");
    }

    #[test]
    fn of_no_run_nothing_is_told() {
        let mut tolerance = FigureTolerance::default();
        assert!(tolerance.texts().is_empty());
        tolerance.add("empty", &Run::default());
        assert!(tolerance.texts().is_empty());
    }
}
