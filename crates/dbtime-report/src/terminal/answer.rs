//! The first lines: what ran, how fast, where the time went, and whether to believe it.

use super::DETAILS;
use super::largest_parts;
use super::style::{ReportPage, TextRole};
use super::times;
use crate::facts::{check_measured, check_required};
use crate::format::{clean, counted, rate, seconds};
use crate::story::{self, LimitResults};
use dbtime_model::record::{Check, Run, RunRecord, ValidityGrade, Warning};

/// As many troubles as a short report tells; the rest of them is counted.
const MAX_TROUBLES: usize = 2;

/// Why figures are doubtful takes as many lines of a short report.
const REASON_LINES: usize = 3;

/// What to do about that takes as many lines.
const REMEDY_LINES: usize = 2;

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let record = &run.record;
    page.title(&story::headline(record));
    invalid(record, page);
    page.fact("load", &story::load(&record.load), TextRole::Plain);
    if let Some(auto) = story::auto_rate(&record.load).filter(|_| !page.is_short()) {
        page.fact("", &auto, TextRole::Dim);
    }
    let rates = throughput(record, page.other_basis());
    page.fact("throughput", &rates, TextRole::Bold);
    page.fact("response", &response(record), TextRole::Bold);
    page.fact("", story::basis(record), TextRole::Dim);
    if page.is_short() {
        times::first_error(record, page);
    } else {
        largest_parts::section(record, page);
    }
    verdict(record, page);
    warnings(record, page);
}

fn throughput(record: &RunRecord, other_basis: Option<&str>) -> String {
    if record.counts.completed == 0 {
        return format!("0/s: no transaction completed ({})", story::offered_rate(record));
    }
    let flat = match (story::is_open(&record.load), record.load.rate_tps) {
        (true, Some(_)) => "of ",
        (true, None) => "with all ",
        (false, _) => "",
    };
    let rate = rate(record.throughput_tps);
    let span = other_basis.map_or(String::new(), |other| {
        format!(", over the window of {}; {other}", seconds(record.window.measure_s))
    });
    let lost = story::lost(record).map_or(String::new(), |lost| format!("; {lost}"));
    format!("{rate}/s {flat}{}{span}{lost}", story::offered_rate(record))
}

fn response(record: &RunRecord) -> String {
    let response = &record.latency_us.response;
    let shown = |us| story::latency(record, us);
    format!("p50 {}, p99 {}, max {}", shown(response.p50), shown(response.p99), shown(response.max))
}

/// Whoever reads only two lines must have read this.
fn invalid(record: &RunRecord, page: &mut ReportPage) {
    if let Some(warning) = story::stall(record) {
        page.fact("STOOD STILL", &clean(&warning.text), TextRole::Bad);
        remedy(warning, 1, page);
    }
    if let Some(why) = story::invalid(record) {
        page.fact_within(REASON_LINES, "NOT VALID", &why, TextRole::Bad);
        if let Some(warning) = story::culprit(record) {
            remedy(warning, REMEDY_LINES, page);
        }
    }
    if let Some(warning) = story::noise(record) {
        page.fact_within(REASON_LINES, "NOISY", &clean(&warning.text), TextRole::Warn);
        remedy(warning, REMEDY_LINES, page);
    }
}

fn verdict(record: &RunRecord, page: &mut ReportPage) {
    if record.validity.grade() == ValidityGrade::Sound {
        page.fact("valid", "nothing found that makes these figures wrong", TextRole::Good);
    }
    let ink = match story::limits(record) {
        LimitResults::None => TextRole::Dim,
        LimitResults::Passed => TextRole::Good,
        LimitResults::Failed(..) | LimitResults::Undecided(..) => TextRole::Bad,
    };
    let unmet = if page.is_short() { unmet_limits(record) } else { String::new() };
    page.fact("limits", &format!("{}{unmet}", story::limits_text(record)), ink);
}

/// The limits that were missed, or else are undecided: a short report has no table of them.
fn unmet_limits(record: &RunRecord) -> String {
    let outcome = record.limits_outcome();
    let is_unmet = |check: &Check| !check.passed && Some(check.outcome()) == outcome;
    let unmet = record.checks().filter(|(_, check)| is_unmet(check));
    let text = |(name, check): (&str, &Check)| {
        let (name, metric) = (clean(name), clean(&check.metric.to_string()));
        format!("; {name}: {metric} {}, required {}", check_measured(check), check_required(check))
    };
    unmet.map(text).collect()
}

fn warnings(record: &RunRecord, page: &mut ReportPage) {
    let others: Vec<&Warning> = story::other_warnings(record).collect();
    let most = if page.is_short() { room_for_warnings(record) } else { others.len() };
    for warning in others.iter().take(most) {
        let ink = if warning.kind.invalidates() { TextRole::Bad } else { TextRole::Warn };
        page.fact("! warning", &clean(&warning.text), ink);
        remedy(warning, 1, page);
    }
    let hidden = others.len().saturating_sub(most);
    if hidden > 0 {
        page.fact("! warning", &counted(hidden as u64, "further warning"), TextRole::Warn);
    }
}

/// How many warnings a short report has room for below what stands at its top.
fn room_for_warnings(record: &RunRecord) -> usize {
    let at_top = [story::stall(record), story::noise(record)].into_iter().flatten().count();
    MAX_TROUBLES.saturating_sub(at_top + usize::from(story::invalid(record).is_some()))
}

/// What to do about it, in no more than so many lines of a short report.
fn remedy(warning: &Warning, most: usize, page: &mut ReportPage) {
    if !warning.remedy.is_empty() {
        page.fact_within(most, "", &format!("→ {}", clean(&warning.remedy)), TextRole::Plain);
    }
}

/// The last line of a short report: where the rest is.
pub(super) fn more(_: &Run, page: &mut ReportPage) {
    page.line("");
    let more = format!("{DETAILS}, and so does `dbtime report RECORD --text --details` later");
    page.text(&more, TextRole::Dim);
}
