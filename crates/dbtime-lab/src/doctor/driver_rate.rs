//! Whether the driver itself keeps a rate here: a moment of that rate with nothing behind it.

use crate::error::LabError;
use crate::request::RunRequest;
use crate::run::run;
use dbtime_engines::drive::plan::RunStop;
use dbtime_load::arrivals::Rate;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::spec::{LoadSpec, RateChoice};
use dbtime_model::units::count;
use dbtime_observe::doctor::{FindingFrame, PlannedUse};

const FRAME: FindingFrame = FindingFrame::of_driver(
    "driver_rate",
    "the planned rate for 0.3 s against nothing (--target null)",
    "all of the planned rate, with nothing behind the driver",
);

/// A rate that is worth trying before a load: lower ones are carried wherever dbtime runs. Unit:
/// 1/s.
pub(super) const WORTH_TRYING: f64 = 20_000.0;

/// For how long it is tried.
const TRIED: Nanos = Nanos::from_millis(300);

/// How long that takes, with its beginning and its end.
pub(super) const LONGEST: Nanos = Nanos::from_millis(400);

/// What has to be completed of it. Unit: per cent.
const LEAST_PCT: f64 = 90.0;

/// More connections change nothing about what one driver carries.
const MOST_CONNECTIONS: u64 = 1_000;

/// Tries what is planned.
pub(super) fn of_plan(planned: &PlannedUse, stop: &RunStop) -> DoctorFinding {
    let Some(per_s) = planned.connects_per_s else {
        return FRAME.unknown("no rate is planned: --rate");
    };
    let connections = planned.connections.map(|all| all.min(MOST_CONNECTIONS) as u32);
    let client_cpus = planned.client_cpus.clone();
    of_load(&LoadSpec { connections, client_cpus, ..LoadSpec::default() }, per_s, stop)
}

/// Tries a rate with the connections, the shards and the CPUs of a load.
pub(super) fn of_load(load: &LoadSpec, per_s: f64, stop: &RunStop) -> DoctorFinding {
    match completed(load, per_s, stop) {
        Ok(completed) => graded(per_s, completed),
        Err(error) => FRAME.unknown(format!("the driver was not tried: {error}")),
    }
}

/// What is completed of a rate. Unit: 1/s.
fn completed(load: &LoadSpec, per_s: f64, stop: &RunStop) -> Result<f64, LabError> {
    let workload =
        Workload::from_sql("SELECT 1").map_err(|error| LabError::Usage(error.to_string()))?;
    let mut request = RunRequest::new(workload, "null".parse()?);
    request.spec.load = LoadSpec {
        rate: Some(RateChoice::Given(Rate::Constant(per_s))),
        connections: load.connections,
        shards: load.shards,
        client_cpus: load.client_cpus.clone(),
        ..LoadSpec::default()
    };
    (request.spec.window.warmup, request.spec.window.time) = (Some(Nanos::ZERO), Some(TRIED));
    request.rundown = Some(Nanos::ZERO);
    request.load_only();
    Ok(run(&request, &|_| (), stop)?.run.record.throughput_tps)
}

fn graded(per_s: f64, completed: f64) -> DoctorFinding {
    let pct = 100.0 * completed / per_s.max(f64::MIN_POSITIVE);
    let value = format!("{} of {} a second", count(completed as u64), count(per_s as u64));
    if pct >= LEAST_PCT {
        return FRAME.good(value, "the driver keeps this rate with nothing behind it");
    }
    FRAME.bad(
        value,
        "the driver does not keep this rate even with nothing behind it: what is late is lag",
        format!(
            "measured: {:.0} % of it is missing. A lower rate, more --shards or a quiet machine \
             (`foreign_cpu`) are remedies",
            100.0 - pct
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::doctor::FindingGrade::{Bad, Good, Unknown};

    #[test]
    fn a_rate_is_graded_by_what_is_completed_of_it() {
        assert_eq!(graded(1_000.0, 990.0).grade, Good);
        let short = graded(1_000.0, 250.0);
        assert_eq!((short.grade, short.value.as_str()), (Bad, "250 of 1,000 a second"));
        assert!(short.costs.contains("75 %"), "{short:?}");
    }

    #[test]
    fn what_is_planned_is_tried_and_nothing_else() {
        let stop = RunStop::default();
        assert_eq!(of_plan(&PlannedUse::default(), &stop).grade, Unknown);
        let planned = PlannedUse { connects_per_s: Some(1_000.0), ..PlannedUse::default() };
        let found = of_plan(&planned, &stop);
        assert!(found.value.ends_with(" of 1,000 a second"), "{found:?}");
        stop.at(dbtime_machine::now());
        assert_eq!(of_plan(&planned, &stop).grade, Unknown, "ended early");
    }
}
