//! `sweep.csv`: the runs of a sweep as a table, for spreadsheets and plots.

use super::CheckOutcome;
use super::sweep::{SweepRecord, SweepRun};

/// The columns of every sweep; those of the factors stand between the first two and the rest.
const FIGURES: [&str; 21] = [
    "started_at",
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
    "server_usr_pct",
    "server_sys_pct",
    "limits",
    "valid",
];

/// A line per run, in the order they were made; what a run does not have is empty.
pub fn sweep_text(record: &SweepRecord) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let factors = record.factors.iter().map(String::as_str);
    let head = ["run", "round"].into_iter().chain(factors).chain(FIGURES);
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
    let all = run.counts;
    let ended = [all.offered, all.completed, all.failed, all.dropped];
    let counts = ended.into_iter().chain([all.unfinished, all.outstanding]);
    let response = &run.response_us;
    let times = [response.mean, response.p50, response.p90, response.p95, response.p99];
    let mut cells = vec![run.folder.clone(), run.round.to_string()];
    cells.extend(factors.iter().map(value));
    cells.push(run.started_at.clone());
    cells.extend(counts.map(|count| count.to_string()));
    cells.push(format!("{:.3}", run.throughput_tps));
    cells.extend(times.map(|us| format!("{us:.3}")));
    cells.extend(
        [response.max, run.queue_mean_us, run.service_mean_us].map(|us| format!("{us:.3}")),
    );
    let optional = [run.client_cpu_us_per_tx, run.server_usr_pct, run.server_sys_pct];
    cells.extend(optional.map(|figure| figure.map_or(String::new(), |n| format!("{n:.3}"))));
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
        assert!(lines[0].starts_with("run,round,workers,rate,started_at,"), "{text}");
        assert!(lines[1].starts_with("001,1,\"4,2\",,,0,0,0,0,2,3,"), "{text}");
        assert!(lines[1].ends_with(",failed,false"), "{text}");
        let cells = csv::Reader::from_reader(text.as_bytes()).records().next();
        assert_eq!(cells.expect("a line").expect("as wide as the heading").len(), 25);
    }
}
