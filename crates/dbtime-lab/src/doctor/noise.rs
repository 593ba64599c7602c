//! How small a difference two runs can tell apart here: a few short runs of one and the same thing.

use super::DoctorRequest;
use crate::error::LabError;
use crate::progress::RunProgress;
use crate::request::RunRequest;
use crate::run::run;
use crate::targets::Target;
use dbtime_engines::drive::plan::RunStop;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use dbtime_model::doctor::NoiseResolution;
use dbtime_model::record::{RunFigure, RunRecord};
use dbtime_stats::run_resolution;

/// How many runs; a deviation of eight is known to a third.
const RUNS: u32 = 8;

/// How long each of them measures, and what it drives before.
const MEASURED: Nanos = Nanos::from_secs(3);
const WARMED_UP: Nanos = Nanos::from_millis(500);

/// What is run on a database that is not dbtime's: it reads no table, and writes nothing.
const HARMLESS: &str = "values1";

/// What is run on a database of its own.
const USUAL: &str = "atm";

/// Makes the runs, each with a database of its own where no target is named.
///
/// Errors: as of a run; [`LabError::Interrupted`].
pub(super) fn resolution(
    request: &DoctorRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<NoiseResolution, LabError> {
    let mut run_request = run_request(request.target.as_ref())?;
    run_request.spec.load.client_cpus.clone_from(&request.planned.client_cpus);
    let mut records = Vec::new();
    for _ in 0..RUNS {
        let finished = run(&run_request, progress, stop)?;
        if stop.is_set() {
            return Err(LabError::Interrupted("while the noise was measured"));
        }
        records.push(finished.run.record);
    }
    of_records(&records).ok_or_else(|| {
        LabError::Target("the noise is not known: a run completed no transaction".to_owned())
    })
}

/// A closed loop of one client, without a record.
fn run_request(target: Option<&Target>) -> Result<RunRequest, LabError> {
    let name = if target.is_some() { HARMLESS } else { USUAL };
    let workload = Workload::find(name).map_err(|error| LabError::Usage(error.to_string()))?;
    let target = match target {
        Some(target) => target.clone(),
        None => "sqlite".parse()?,
    };
    let mut request = RunRequest::new(workload, target);
    request.spec.window.warmup = Some(WARMED_UP);
    request.spec.window.time = Some(MEASURED);
    request.load_only();
    Ok(request)
}

/// What these runs can tell apart; `None`: one of them has no figures.
fn of_records(records: &[RunRecord]) -> Option<NoiseResolution> {
    let pct = |key: &str| {
        let figure = RunFigure::listed(key);
        let values: Option<Vec<f64>> = records.iter().map(|record| figure.value(record)).collect();
        run_resolution(&values?).map(|share| 100.0 * share)
    };
    Some(NoiseResolution {
        throughput_pct: pct("throughput")?,
        p50_pct: pct("p50")?,
        p99_pct: pct("p99")?,
        runs: records.len() as u32,
        run_s: MEASURED.as_secs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_on_a_database_of_others_writes_nothing() {
        let given: Target = "mysql://u@127.0.0.1:1/shop".parse().expect("a target");
        let request = run_request(Some(&given)).expect("shipped");
        assert!(request.workload.tables.is_empty());
        assert!(request.check().is_ok(), "it needs no table");
        let own = run_request(None).expect("shipped");
        assert!(!own.workload.tables.is_empty() && own.target.loads_data());
        assert!(own.out.is_none(), "no record");
    }

    #[test]
    fn runs_that_are_alike_tell_small_differences_apart() {
        let of = |tps: f64| RunRecord { throughput_tps: tps, ..RunRecord::default() };
        let throughput = |values: &[f64]| {
            let records: Vec<RunRecord> = values.iter().map(|tps| of(*tps)).collect();
            let figure = RunFigure::listed("throughput");
            let values: Option<Vec<f64>> = records.iter().map(|run| figure.value(run)).collect();
            run_resolution(&values.expect("figures")).expect("a resolution")
        };
        assert!(throughput(&[1_000.0, 1_001.0, 999.0]) < throughput(&[1_000.0, 1_100.0, 900.0]));
        assert!(of_records(&[RunRecord::default(), RunRecord::default()]).is_none());
    }
}
