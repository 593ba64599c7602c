//! `sweep.csv`: the runs of a sweep as a table, for spreadsheets and plots.

use super::sweep::{SweepRecord, SweepRun};
use super::{CheckOutcome, RunFigure};

/// The columns before those of the factors.
const PLACE: [&str; 2] = ["run", "round"];

/// The figures that have a column, by their keys; before them stands when the run started, behind
/// them how it came out.
const TABULATED: [&str; 18] = [
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
    "server-usr",
    "server-sys",
];

/// A line per run, in the order they were made; what a run does not have is empty.
pub fn sweep_text(record: &SweepRecord) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let factors = record.factors.iter().map(String::as_str);
    let figures = TABULATED.into_iter().map(|key| RunFigure::listed(key).column);
    let head = PLACE.into_iter().chain(factors).chain(["started_at"]).chain(figures);
    let head = head.chain(["limits", "valid"]);
    writer.write_record(head).expect("writing to memory");
    for run in &record.runs {
        writer.write_record(line(run, &record.factors)).expect("writing to memory");
    }
    super::csv::text(writer)
}

fn line(run: &SweepRun, factors: &[String]) -> Vec<String> {
    let value = |name: &String| {
        let found = run.factors.iter().find(|factor| factor.name == *name);
        found.map_or(String::new(), |factor| factor.value.clone())
    };
    let kept = run.kept();
    let mut cells = vec![run.folder.clone(), run.round.to_string()];
    cells.extend(factors.iter().map(value));
    cells.push(run.started_at.clone());
    cells.extend(TABULATED.into_iter().map(|key| RunFigure::listed(key).cell(&kept)));
    let outcome = match run.limits {
        None => "",
        Some(CheckOutcome::Passed) => "passed",
        Some(CheckOutcome::Undecided) => "undecided",
        Some(CheckOutcome::Failed) => "failed",
    };
    cells.extend([outcome.to_owned(), run.valid.to_string()]);
    cells
}

#[cfg(test)]
mod tests {
    use super::super::{CountsInfo, FactorValue};
    use super::*;

    #[test]
    fn a_run_has_a_value_in_every_column() {
        let factor = FactorValue { name: "workers".to_owned(), value: "4,2".to_owned() };
        let run = SweepRun {
            folder: "001".to_owned(),
            round: 1,
            factors: vec![factor],
            counts: CountsInfo { unfinished: 2, outstanding: 3, ..CountsInfo::default() },
            limits: Some(CheckOutcome::Failed),
            ..SweepRun::default()
        };
        let factors = vec!["workers".to_owned(), "rate".to_owned()];
        let record = SweepRecord { factors, runs: vec![run], ..SweepRecord::default() };
        let text = sweep_text(&record);
        let lines: Vec<&str> = text.lines().collect();
        let head = "run,round,workers,rate,started_at,offered,completed,failed,dropped,unfinished,\
                    outstanding,throughput_tps,response_mean_us,response_p50_us,response_p90_us,\
                    response_p95_us,response_p99_us,response_max_us,queue_mean_us,service_mean_us,\
                    client_cpu_us_per_tx,server_usr_pct,server_sys_pct,limits,valid";
        assert_eq!(lines[0], head, "{text}");
        assert!(lines[1].starts_with("001,1,\"4,2\",,,0,0,0,0,2,3,"), "{text}");
        assert!(lines[1].ends_with(",failed,false"), "{text}");
        let cells = csv::Reader::from_reader(text.as_bytes()).records().next();
        assert_eq!(cells.expect("a line").expect("as wide as the heading").len(), 25);
    }
}
