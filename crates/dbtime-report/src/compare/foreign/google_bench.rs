//! What Google Benchmark writes with `--benchmark_format=json`: the times and the rates of each
//! repetition. Its own means and deviations are left out.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};
use dbtime_model::secret_text::script_without_secrets;
use serde::Deserialize;

/// Units of times, and how many nanoseconds they have.
const TIME_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

#[derive(Deserialize)]
struct GoogleDocument {
    #[serde(default)]
    context: GoogleContext,
    benchmarks: Vec<GoogleRun>,
}

#[derive(Default, Deserialize)]
struct GoogleContext {
    host_name: Option<String>,
    library_build_type: Option<String>,
}

#[derive(Deserialize)]
struct GoogleRun {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    skipped: bool,
    time_unit: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    items_per_second: Option<f64>,
    bytes_per_second: Option<f64>,
}

impl GoogleRun {
    /// What was measured, each figure with its unit: times in nanoseconds, whatever unit a version
    /// of the benchmark shows them in, or in one that is not known.
    fn figures(&self) -> impl Iterator<Item = (String, f64)> {
        let unit = self.time_unit.as_deref().unwrap_or("ns");
        let known = TIME_UNITS.iter().find(|(name, _)| *name == unit);
        let (unit, factor) = known.map_or((unit, 1.0), |(_, factor)| ("ns", *factor));
        let time = |time: Option<f64>| time.map(|time| time * factor);
        let figures = [
            (unit.to_owned(), time(self.real_time)),
            (format!("cpu {unit}"), time(self.cpu_time)),
            ("items_per_second".to_owned(), self.items_per_second),
            ("bytes_per_second".to_owned(), self.bytes_per_second),
        ];
        figures.into_iter().filter_map(|(unit, value)| Some((unit, value?)))
    }
}

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    let document: GoogleDocument = serde_json::from_str(text).map_err(ForeignError::whole)?;
    let mut file = ForeignFile::new(ForeignFormat::Google);
    let GoogleContext { host_name, library_build_type } = document.context;
    for (name, value) in [("host", host_name), ("build type", library_build_type)] {
        file.facts.extend(value.map(|value| (name.to_owned(), value)));
    }
    let is_single = |run: &&GoogleRun| run.run_type.as_deref() != Some("aggregate");
    for run in document.benchmarks.iter().filter(is_single) {
        if run.error_occurred || run.skipped {
            file.left_out += 1;
            continue;
        }
        let name = run.run_name.as_ref().unwrap_or(&run.name);
        for (unit, value) in run.figures() {
            let key = SampleKey { name: name.clone(), unit, ..SampleKey::default() };
            let of_run = |text: String| {
                ForeignError::whole(format!("{}: {text}", script_without_secrets(&run.name)))
            };
            file.samples.add(key, ForeignValue { value, block: None }).map_err(of_run)?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_taken_and_aggregates_and_errors_are_not() {
        let text = r#"{"context": {"host_name": "box", "num_cpus": 2}, "benchmarks": [
            {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "real_time": 5.0,
             "cpu_time": 4.0, "time_unit": "us", "items_per_second": 7.0},
            {"name": "BM_a/8", "run_type": "iteration", "real_time": 5.1, "cpu_time": 4.1,
             "time_unit": "us"},
            {"name": "BM_a/8_mean", "run_name": "BM_a/8", "run_type": "aggregate",
             "real_time": 5.05, "cpu_time": 4.05, "time_unit": "us"},
            {"name": "BM_b", "error_occurred": true, "error_message": "no"},
            {"name": "BM_c", "skipped": true, "skip_message": "no", "real_time": 0.0}
        ]}"#;
        let file = read(text).expect("JSON of Google Benchmark");
        let shown: Vec<_> =
            file.samples.samples().iter().map(|one| (&*one.key.unit, one.values.len())).collect();
        assert_eq!(shown, [("ns", 2), ("cpu ns", 2), ("items_per_second", 1)]);
        assert_eq!(file.samples.samples()[0].values[0].value, 5000.0);
        assert_eq!((file.left_out, file.facts["host"].as_str()), (2, "box"));
    }
}
