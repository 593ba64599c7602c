//! The plan of a sweep, every run once in each round whatever comes of it, and that of a search.

use super::MARGIN_PCT;
use crate::study::planned_run::PlannedRun;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::{
    BlockDesign, CellRole, GateLimits, NoiseRule, RunOrder, RunSurroundings, STUDY_SCHEMA,
    StopRule, StudyCell, StudyData, StudyPlan,
};
use std::collections::BTreeSet;
use std::path::Path;

/// A gate that lets everything through: whatever goes on beside a run of a sweep, it is in the
/// table.
const OPEN_GATE: GateLimits = GateLimits {
    steal_pct: 100.0,
    foreign_cpu_pct: 1e6,
    wait_s: 0.0,
    repeats: 0,
    steady: false,
    noise: NoiseRule::Stop,
};

/// The plan of so many rounds of these runs, in this folder.
pub fn plan_rounds(
    planned: &[PlannedRun],
    rounds: u32,
    surroundings: RunSurroundings,
    folder: &Path,
) -> StudyPlan {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let directory = std::env::current_dir().unwrap_or_default();
    let is_closed = planned.iter().all(|run| run.spec.load.rate.is_none());
    let cell = |(at, run): (usize, &PlannedRun)| StudyCell {
        name: run.combination(),
        role: if at == 0 { CellRole::Baseline } else { CellRole::Candidate },
        baseline: 0,
        factors: run.factors.clone(),
        levels: run.factors.clone(),
        command: run.command.clone(),
        spec: Some(run.spec.clone()),
    };
    StudyPlan {
        schema: STUDY_SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.into_owned(),
        question: None,
        directory: directory.to_string_lossy().into_owned(),
        primary: PrimaryMetric::usual(is_closed).key(),
        margin_pct: MARGIN_PCT,
        design: BlockDesign {
            blocks: rounds,
            seed: planned.first().map_or(1, |run| run.spec.seed),
            stop: StopRule::Fixed,
            slices: 1,
        },
        gate: OPEN_GATE,
        program: None,
        data: data(planned, rounds),
        order: RunOrder::Rounds,
        surroundings,
        cells: planned.iter().enumerate().map(cell).collect(),
        pilot: None,
    }
}

/// The plan of a search, in this folder, whose runs are this one at other rates.
pub fn plan_search(run: &PlannedRun, surroundings: RunSurroundings, folder: &Path) -> StudyPlan {
    let plan = plan_rounds(std::slice::from_ref(run), 1, surroundings, folder);
    StudyPlan { order: RunOrder::Search, data: StudyData::Loaded, ..plan }
}

/// Snapshots where several runs load the same data.
fn data(planned: &[PlannedRun], rounds: u32) -> StudyData {
    let loading: Vec<_> = planned.iter().filter(|run| run.loads_data()).collect();
    let key = |run: &&PlannedRun| {
        let spec = &run.spec;
        // What can be a record can be written.
        let workload = serde_json::to_string(&spec.workload).unwrap_or_default();
        (spec.target.url.clone(), spec.target.server_set.clone(), workload, spec.seed)
    };
    let kinds: BTreeSet<_> = loading.iter().map(key).collect();
    match loading.len() * rounds as usize > kinds.len() {
        true => StudyData::Snapshot,
        false => StudyData::Loaded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::FactorValue;
    use dbtime_model::spec::{FlagSetting, RunSpec};

    fn run(flag: &str, value: &str) -> PlannedRun {
        let spec = RunSpec::default().with(&[FlagSetting::new(flag, value)]).expect("a run");
        let factor = FactorValue { name: flag.to_owned(), value: value.to_owned() };
        let run = PlannedRun::of_spec(spec, format!("dbtime run --{flag}={value}"), Vec::new());
        run.with_factors(vec![factor])
    }

    #[test]
    fn every_run_is_a_configuration_and_counts() {
        let runs = [run("workers", "2"), run("workers", "4")];
        let surroundings = RunSurroundings { strict: true, ..RunSurroundings::default() };
        let plan = plan_rounds(&runs, 3, surroundings.clone(), Path::new("a/sweep"));
        assert_eq!(plan.surroundings, surroundings);
        let names: Vec<&str> = plan.cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["workers=2", "workers=4"]);
        assert_eq!((plan.order, plan.design.blocks), (RunOrder::Rounds, 3));
        assert_eq!((plan.name.as_str(), plan.primary.as_str()), ("sweep", "throughput"));
        assert_eq!(plan.cells[1].spec.as_ref(), Some(&runs[1].spec));
    }

    #[test]
    fn data_are_kept_where_they_would_be_loaded_again() {
        let by = |runs: &[PlannedRun], rounds| {
            plan_rounds(runs, rounds, RunSurroundings::default(), Path::new("s")).data
        };
        let scales = [run("scale", "1"), run("scale", "2")];
        assert_eq!(by(&scales, 1), StudyData::Loaded);
        assert_eq!(by(&scales, 2), StudyData::Snapshot);
        assert_eq!(by(&[run("workers", "1"), run("workers", "2")], 1), StudyData::Snapshot);
        assert_eq!(by(&[run("target", "null:")], 2), StudyData::Loaded);
    }
}
