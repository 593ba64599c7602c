//! Studies for tests, of which the runs are computed.

use dbtime_model::record::{FactorValue, RunRecord};
use dbtime_model::study::{
    BlockDesign, CellRole, GateLimits, RecordedStudy, RunOrder, STUDY_SCHEMA, StopRule, StudyCell,
    StudyData, StudyHistory, StudyPlan, StudyRun, StudyTrial, TrialOutcome, TrialRecord,
};

/// A plan of configurations with these flags, the baseline first.
pub(super) fn plan(cells: &[&str]) -> StudyPlan {
    let factor = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        FactorValue { name: name.to_owned(), value: value.to_owned() }
    };
    let cell = |(at, flags): (usize, &&str)| StudyCell {
        name: (*flags).to_owned(),
        role: if at == 0 { CellRole::Baseline } else { CellRole::Candidate },
        factors: flags.split(' ').map(factor).collect(),
        baseline: 0,
        levels: Vec::new(),
        command: "dbtime run tpcb".to_owned(),
        spec: None,
    };
    StudyPlan {
        schema: STUDY_SCHEMA,
        dbtime: "1".to_owned(),
        name: "sample".to_owned(),
        question: None,
        directory: "/".to_owned(),
        primary: "throughput".to_owned(),
        margin_pct: 1.0,
        design: BlockDesign { blocks: 3, seed: 5, stop: StopRule::Fixed, slices: 1 },
        gate: GateLimits {
            steal_pct: 1.0,
            foreign_cpu_pct: 10.0,
            wait_s: 0.0,
            repeats: 3,
            steady: true,
            noise: Default::default(),
        },
        program: None,
        cells: cells.iter().enumerate().map(cell).collect(),
        pilot: None,
        data: StudyData::Snapshot,
        order: RunOrder::Blocks,
        surroundings: Default::default(),
    }
}

/// A study of three blocks, whose runs are what `run` makes of a configuration and a block.
pub(super) fn study(cells: &[&str], run: impl Fn(&str, u32) -> RunRecord) -> RecordedStudy {
    study_of(3, cells, run)
}

/// The same of so many blocks.
pub(super) fn study_of(
    blocks: u32,
    cells: &[&str],
    run: impl Fn(&str, u32) -> RunRecord,
) -> RecordedStudy {
    let mut plan = plan(cells);
    plan.design.blocks = blocks;
    let mut history = StudyHistory::default();
    let mut records = Vec::new();
    for block in 1..=plan.design.blocks {
        for (cell, flags) in (0u32..).zip(cells) {
            let number = u64::from(block - 1) * cells.len() as u64 + u64::from(cell) + 1;
            let at = format!("2026-11-27T10:{:02}:{:02}Z", number / 60, number % 60);
            let mut record = run(flags, block);
            record.validity.valid = true;
            record.started_at.clone_from(&at);
            let folder = format!("runs/{number:04}");
            let trial = StudyTrial {
                run: number,
                block,
                attempt: 1,
                cell,
                folder,
                session: 1,
                at,
                ..StudyTrial::default()
            };
            history.runs.push(StudyRun {
                trial,
                outcome: Some(TrialOutcome::Valid),
                reason: None,
                ended_at: None,
            });
            records.push(Some(TrialRecord::Run(Box::new(record))));
        }
    }
    RecordedStudy { plan, history, records }
}
