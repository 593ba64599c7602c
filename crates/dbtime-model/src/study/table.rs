//! `runs.csv`: the runs of a study as a table, for DuckDB, data frames and spreadsheets.

use super::folder::RecordedStudy;
use super::history::StudyRun;
use super::journal::TrialOutcome;
use super::trial_record::TrialRecord;
use crate::record::{RunFigure, csv};

/// The columns before those of the factors.
const PLACE: [&str; 7] = ["run", "block", "attempt", "session", "cell", "role", "folder"];

/// The column of a sliced study behind them.
const SLICE: &str = "slice";

/// The columns behind the factors.
const COURSE: [&str; 5] = ["started_at", "ended_at", "counts", "outcome", "reason"];

/// The figures of runs of dbtime that have a column, by their keys.
const TABULATED: [&str; 24] = [
    "offered",
    "completed",
    "failed",
    "dropped",
    "unfinished",
    "outstanding",
    "throughput",
    "mean",
    "p50",
    "p90",
    "p95",
    "p99",
    "max",
    "queue-mean",
    "service-mean",
    "client-cpu",
    "server-cpu",
    "server-usr",
    "server-sys",
    "server-rss",
    "server-rss-peak",
    "server-rss-idle",
    "steal",
    "foreign-cpu",
];

/// A line per run, in the order of time; what a run does not have is empty.
pub fn study_table(study: &RecordedStudy) -> String {
    let mut names: Vec<&str> = Vec::new();
    let of_cells = study.plan.cells.iter().flat_map(|cell| &cell.factors);
    let of_runs = study.history.runs.iter().flat_map(|run| &run.trial.factors);
    for factor in of_cells.chain(of_runs) {
        if !names.contains(&factor.name.as_str()) {
            names.push(&factor.name);
        }
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let figures = figure_names(study);
    let slice = is_sliced(study).then_some(&SLICE);
    let head = PLACE.iter().chain(slice).chain(&names).chain(&COURSE).chain(&figures);
    writer.write_record(head).expect("writing to memory");
    let exclusions = study.history.exclusions(&study.plan);
    let runs = study.history.runs.iter().zip(&study.records).zip(exclusions);
    for ((run, record), exclusion) in runs {
        let mut line = line(study, (run, exclusion), &names);
        line.extend(match record {
            Some(TrialRecord::Run(record)) => {
                tabulated().map(|figure| figure.cell(record)).collect::<Vec<_>>()
            }
            Some(TrialRecord::Program(record)) => {
                let value = |name: &&str| record.values.get(*name).map(f64::to_string);
                figures.iter().map(|name| value(name).unwrap_or_default()).collect()
            }
            None => vec![String::new(); figures.len()],
        });
        writer.write_record(line).expect("writing to memory");
    }
    csv::text(writer)
}

/// Others have no such column, as before there were slices: packed tables stay what they are.
fn is_sliced(study: &RecordedStudy) -> bool {
    study.plan.design.slices > 1
}

fn tabulated() -> impl Iterator<Item = &'static RunFigure> {
    TABULATED.into_iter().map(RunFigure::listed)
}

/// The names of the figures, each with its unit where that is not a program's own.
fn figure_names(study: &RecordedStudy) -> Vec<&str> {
    match &study.plan.program {
        Some(rules) => rules.metrics.iter().map(|metric| metric.name.as_str()).collect(),
        None => tabulated().map(|figure| figure.column).collect(),
    }
}

/// A run, and why it does not count.
type CountedRun<'a> = (&'a StudyRun, Option<String>);

fn line(study: &RecordedStudy, (run, exclusion): CountedRun<'_>, factors: &[&str]) -> Vec<String> {
    let (trial, cell) = (&run.trial, &study.plan.cells[run.trial.cell as usize]);
    let role = serde_json::to_value(cell.role).ok();
    let role = role.as_ref().and_then(|role| role.as_str()).unwrap_or_default();
    let numbers = [u64::from(trial.block), u64::from(trial.attempt), u64::from(trial.session)];
    let mut cells = vec![trial.run.to_string()];
    cells.extend(numbers.map(|number| number.to_string()));
    cells.extend([cell.name.clone(), role.to_owned(), trial.folder.clone()]);
    cells.extend(is_sliced(study).then(|| trial.slice.to_string()));
    let of_run = study.factors(run);
    cells.extend(factors.iter().map(|name| {
        let of_name = of_run.iter().filter(|factor| factor.name == *name);
        of_name.map(|factor| factor.value.as_str()).collect::<Vec<_>>().join(" ")
    }));
    let outcome = match run.outcome {
        Some(TrialOutcome::Valid) => "valid",
        Some(TrialOutcome::Invalid) => "invalid",
        Some(TrialOutcome::Failed) => "failed",
        Some(TrialOutcome::Lost) => "lost",
        None => "interrupted",
    };
    let counts = u8::from(exclusion.is_none()).to_string();
    cells.extend([trial.at.clone(), run.ended_at.clone().unwrap_or_default(), counts]);
    cells.extend([outcome.to_owned(), exclusion.unwrap_or_default()]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_figures_keep_their_names() {
        let columns: Vec<&str> = tabulated().map(|figure| figure.column).collect();
        let expected = [
            "offered",
            "completed",
            "failed",
            "dropped",
            "unfinished",
            "outstanding",
            "throughput_tps",
            "response_mean_us",
            "response_p50_us",
            "response_p90_us",
            "response_p95_us",
            "response_p99_us",
            "response_max_us",
            "queue_mean_us",
            "service_mean_us",
            "client_cpu_us_per_tx",
            "server_cpu_us_per_tx",
            "server_usr_pct",
            "server_sys_pct",
            "server_rss_bytes",
            "server_rss_peak_bytes",
            "server_rss_idle_bytes",
            "steal_pct",
            "foreign_cpu_pct",
        ];
        assert_eq!(columns, expected);
    }
}
