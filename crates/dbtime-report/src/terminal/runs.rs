//! The table of the records there are.

use super::style::{PageStyle, ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::facts::instant;
use crate::format::{clean, count, counted, if_any, rate, us};
use serde::Serialize;

/// One record: a run, a sweep of several, or a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordLine {
    /// Its folder.
    pub folder: String,
    /// When its load started, UTC, RFC 3339.
    pub started_at: String,
    /// Name of the workload, or of the study.
    pub workload: String,
    /// Engine or product with its version; of a study what was given as the target.
    pub target: String,
    /// Offered rate as given; `null` in a closed loop, and of a sweep.
    pub rate: Option<String>,
    /// Runs of a sweep, of a study those in blocks that count; `null` of a single run.
    pub runs: Option<u64>,
    /// Runs that were planned of it; `null` of a single run.
    pub planned: Option<u64>,
    /// Completed transactions per second; of a sweep those of its best run, which has
    /// the most.
    pub throughput_tps: Option<f64>,
    /// 99th percentile of the response in microseconds; of a sweep that of the same run.
    pub p99_us: Option<f64>,
    /// Whether the figures can be trusted, of a sweep of all runs: not where there are
    /// none.
    pub valid: bool,
    /// Whether a quiet machine could have given others; of a sweep its runs have that alone.
    pub is_noisy: bool,
    /// Whether it is a study that will have no more runs; `null`: it is no study.
    pub is_finished_study: Option<bool>,
    /// Why the record cannot be read; `null` where it can.
    pub problem: Option<String>,
}

/// What stands before a table.
const INDENT_COLUMNS: usize = 2;

/// What is left out where there is too little room, in this order: the name of a record that dbtime
/// has given it begins with the first two.
const LEFT_OUT: [&str; 6] = [STARTED, "Workload", "Target", "Rate", "p99", "Per second"];

/// When the load of a record started.
const STARTED: &str = "Started (UTC)";

/// The records in the order given, a line each.
///
/// Shape: lines of at most `style.columns` columns, the last one ended; longer ones only where the
/// name of a record alone is too long, for one that is cut cannot be pasted.
pub fn records_table(records: &[RecordLine], style: PageStyle) -> String {
    let mut table = ReportTable::new(vec![
        TextColumn::text(STARTED).whole(),
        TextColumn::text("Workload"),
        TextColumn::text("Target"),
        TextColumn::figure("Rate"),
        TextColumn::figure("Per second"),
        TextColumn::figure("p99"),
        TextColumn::text("Figures").whole(),
        TextColumn::text("Record").whole(),
    ]);
    for record in records.iter().filter(|record| record.problem.is_none()) {
        table.row(cells(record));
    }
    let gone = table.leave_out(&LEFT_OUT, style.columns.saturating_sub(INDENT_COLUMNS));
    let needed = if gone.len() == LEFT_OUT.len() { table.least_whole() } else { 0 };
    let columns = style.columns.max(needed + INDENT_COLUMNS);
    let mut page = ReportPage::new(PageStyle { columns, ..style });
    if !table.is_empty() {
        page.table(&table);
        if !gone.is_empty() {
            page.text(&format!("columns left out: {}", gone.join(", ")), TextRole::Dim);
        }
    }
    if records.iter().any(is_sweep) {
        page.text(
            "of sweeps: the run with the highest throughput; dbtime runs FOLDER lists all",
            TextRole::Dim,
        );
    }
    if records.iter().any(|record| record.is_finished_study.is_some()) {
        page.text("of studies: dbtime study report FOLDER has the verdicts", TextRole::Dim);
    }
    if records.iter().any(is_short) {
        page.text("N of M runs: a sweep or study that ended early or still goes on", TextRole::Dim);
    }
    for record in records {
        if let Some(problem) = &record.problem {
            page.text(&format!("! {}", clean(problem)), TextRole::Warn);
        }
    }
    page.finish()
}

fn cells(record: &RecordLine) -> Vec<TextCell> {
    let rate_or_runs = match (record.runs, &record.rate) {
        (Some(runs), _) if is_short(record) => {
            format!("{} of {}", count(runs), counted(record.planned.unwrap_or(0), "run"))
        }
        (Some(runs), _) => counted(runs, "run"),
        (None, Some(rate)) => clean(rate),
        (None, None) => "closed".to_owned(),
    };
    vec![
        minute(&record.started_at).into(),
        clean(&record.workload).into(),
        clean(&record.target).into(),
        rate_or_runs.into(),
        if_any(record.throughput_tps, rate).into(),
        if_any(record.p99_us, us).into(),
        match record.valid {
            _ if record.is_finished_study == Some(true) => TextCell::new("study", TextRole::Good),
            _ if record.is_finished_study == Some(false) => {
                TextCell::new("study, open", TextRole::Warn)
            }
            true if record.is_noisy => TextCell::new("noisy", TextRole::Warn),
            true => TextCell::new("valid", TextRole::Good),
            false if record.runs == Some(0) => TextCell::new("no runs", TextRole::Bad),
            false => TextCell::new("NOT VALID", TextRole::Bad),
        },
        clean(&record.folder).into(),
    ]
}

fn is_sweep(record: &RecordLine) -> bool {
    record.runs.is_some() && record.is_finished_study.is_none()
}

/// Whether a sweep or a study has fewer runs than were planned.
fn is_short(record: &RecordLine) -> bool {
    record.runs < record.planned
}

/// `2026-11-20 10:00`: the seconds are in the name of the record.
fn minute(rfc3339: &str) -> String {
    let started = instant(rfc3339);
    let started = started.trim_end_matches(" UTC");
    match started.rsplit_once(':') {
        Some((minute, _)) if started.matches(':').count() == 2 => minute.to_owned(),
        _ => started.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> RecordLine {
        RecordLine {
            folder: "dbtime-runs/20261123-165655-oltp-read-write".to_owned(),
            started_at: "2026-11-23T16:56:55.123Z".to_owned(),
            workload: "oltp-read-write".to_owned(),
            target: "10.11.14-MariaDB-0+deb12u2".to_owned(),
            rate: None,
            runs: Some(12),
            planned: Some(12),
            throughput_tps: Some(123_456.0),
            p99_us: Some(123.4),
            valid: true,
            is_noisy: false,
            is_finished_study: None,
            problem: None,
        }
    }

    #[test]
    fn a_noisy_run_is_listed_as_one() {
        let style = PageStyle { columns: 160, ..PageStyle::default() };
        let of = |is_noisy| records_table(&[RecordLine { is_noisy, runs: None, ..sweep() }], style);
        assert!(of(true).contains("noisy") && !of(true).contains("valid"), "{}", of(true));
        assert!(!of(false).contains("noisy"), "{}", of(false));
    }

    #[test]
    fn a_study_is_no_sweep() {
        let style = PageStyle { columns: 160, ..PageStyle::default() };
        let of = |is_finished| {
            let line = RecordLine { is_finished_study: Some(is_finished), ..sweep() };
            records_table(&[line], style)
        };
        assert!(of(true).contains("study report FOLDER") && !of(true).contains("of sweeps"));
        assert!(of(false).contains("study, open"), "{}", of(false));
    }

    #[test]
    fn where_there_is_little_room_figures_and_record_stay_whole() {
        for (columns, left_out) in [
            (120, "columns left out: Started (UTC)\n"),
            (100, "columns left out: Started (UTC), Workload\n"),
            (80, "columns left out: Started (UTC), Workload, Target\n"),
        ] {
            let style = PageStyle { columns, ..PageStyle::default() };
            let text = records_table(&[sweep()], style);
            let folder = sweep().folder;
            for whole in [folder.as_str(), "12 runs", "123,456", "123 µs", "valid", left_out] {
                assert!(text.contains(whole), "{columns}: no `{whole}` in {text}");
            }
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        }
        let wide = PageStyle { columns: 160, ..PageStyle::default() };
        assert!(!records_table(&[sweep()], wide).contains("left out"));
    }

    #[test]
    fn a_record_is_never_cut() {
        let folder = "far/".repeat(40);
        let style = PageStyle { columns: 80, ..PageStyle::default() };
        let text = records_table(&[RecordLine { folder: folder.clone(), ..sweep() }], style);
        assert!(text.contains(&folder) && text.contains("Per second\n"), "{text}");
    }

    #[test]
    fn a_sweep_says_what_there_is_of_it() {
        let style = PageStyle { columns: 160, ..PageStyle::default() };
        let of = |runs, valid| {
            let line = RecordLine { runs: Some(runs), valid, ..sweep() };
            records_table(&[line], style)
        };
        assert!(of(12, true).contains(" 12 runs "), "{}", of(12, true));
        let short = of(3, true);
        assert!(short.contains("3 of 12 runs") && short.contains("ended early"), "{short}");
        let none = of(0, false);
        assert!(none.contains("0 of 12 runs") && none.contains("no runs"), "{none}");
    }
}
