//! The first lines: what ran, how fast, where the time went, and whether to believe it.

use super::{RunView, largest_parts, times};
use crate::document::ReportDocument;
use crate::facts::{check_measured, check_required};
use crate::format::{counted, rate, seconds};
use crate::story::{self, LimitResults};
use crate::terminal::{DETAILS, TextRole};
use dbtime_model::record::{Check, CountsInfo, RunRecord, ValidityGrade, Warning, WarningKind};

/// As many troubles as a short report tells; the rest of them is counted.
const MAX_TROUBLES: usize = 2;

/// Why figures are doubtful takes as many lines of a short report.
const REASON_LINES: usize = 3;

/// What to do about that takes as many lines.
const REMEDY_LINES: usize = 2;

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let (record, is_short) = (&view.run.record, view.options.short);
    invalid(record, document);
    document.fact("load", &story::load(&record.load), TextRole::Plain);
    if let Some(auto) = story::auto_rate(&record.load).filter(|_| !is_short) {
        document.fact("", &auto, TextRole::Dim);
    }
    let rates = throughput(record, view.options.other_basis);
    document.fact("throughput", &rates, TextRole::Bold);
    document.fact("response", &response(record), TextRole::Bold);
    document.fact("", story::basis(record), TextRole::Dim);
    if is_short {
        times::first_error(record, document);
    } else {
        largest_parts::section(record, document);
    }
    let (unmet, most) = match is_short {
        true => (unmet_limits(record), room_for_warnings(record)),
        false => (String::new(), usize::MAX),
    };
    verdict(record, &unmet, document);
    warnings(record, most, document);
}

fn throughput(record: &RunRecord, other_basis: Option<&str>) -> String {
    let lacks_counts = record.counts == CountsInfo::default() && record.throughput_tps > 0.0;
    if record.counts.completed == 0 && !lacks_counts {
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
    let lost = match lacks_counts {
        true => Some("the record has no counts".to_owned()),
        false => story::lost(record),
    };
    let lost = lost.map_or(String::new(), |lost| format!("; {lost}"));
    format!("{rate}/s {flat}{}{span}{lost}", story::offered_rate(record))
}

fn response(record: &RunRecord) -> String {
    let response = &record.latency_us.response;
    let shown = |us| story::latency(record, us);
    format!("p50 {}, p99 {}, max {}", shown(response.p50), shown(response.p99), shown(response.max))
}

/// What must be read by those who read two lines alone.
fn invalid(record: &RunRecord, document: &mut ReportDocument) {
    if let Some(warning) = story::stall(record) {
        document.fact("STOOD STILL", &warning.text, TextRole::Bad);
        remedy(warning, 1, document);
    }
    if let Some(why) = story::invalid(record) {
        document.fact_within(REASON_LINES, "NOT VALID", &why, TextRole::Bad);
        if let Some(warning) = story::culprit(record) {
            remedy(warning, REMEDY_LINES, document);
        }
    }
    if let Some(warning) = story::noise(record) {
        document.fact_within(REASON_LINES, "NOISY", &warning.text, TextRole::Warn);
        remedy(warning, REMEDY_LINES, document);
    }
}

/// Whether the figures can be believed, and how the limits came out, which `unmet` says more of.
fn verdict(record: &RunRecord, unmet: &str, document: &mut ReportDocument) {
    if record.validity.grade() == ValidityGrade::Sound {
        document.fact("valid", "no sign that these figures are wrong", TextRole::Good);
    }
    let ink = match story::limits(record) {
        // The command could not be given one.
        LimitResults::None if story::is_of_original(record) => return,
        LimitResults::None => TextRole::Dim,
        LimitResults::Passed => TextRole::Good,
        LimitResults::Failed(..) | LimitResults::Undecided(..) => TextRole::Bad,
    };
    document.fact("limits", &format!("{}{unmet}", story::limits_text(record)), ink);
}

/// The limits that were missed, or else are undecided: a short report has no table of them.
fn unmet_limits(record: &RunRecord) -> String {
    let outcome = record.limits_outcome();
    let is_unmet =
        |check: &Check| check.decides() && !check.passed && Some(check.outcome()) == outcome;
    let unmet = record.checks().filter(|(_, check)| is_unmet(check));
    let text = |(name, check): (&str, &Check)| {
        let (metric, measured) = (&check.metric, check_measured(check));
        format!("; {name}: {metric} {measured}, required {}", check_required(check))
    };
    unmet.map(text).collect()
}

/// The other warnings, so many of them; the rest is counted. A missing trace changes how the whole
/// report is read: it comes first, and is told whatever the room.
fn warnings(record: &RunRecord, most: usize, document: &mut ReportDocument) {
    let is_untraced = |warning: &Warning| warning.kind == WarningKind::Untraced;
    let mut others: Vec<&Warning> = story::other_warnings(record).collect();
    others.sort_by_key(|warning| !is_untraced(warning));
    let most = most.max(others.iter().take(1).filter(|first| is_untraced(first)).count());
    for warning in others.iter().take(most) {
        let ink = if warning.kind.invalidates() { TextRole::Bad } else { TextRole::Warn };
        document.fact("! warning", &warning.text, ink);
        remedy(warning, 1, document);
    }
    let hidden = others.len().saturating_sub(most);
    if hidden > 0 {
        document.fact("! warning", &counted(hidden as u64, "further warning"), TextRole::Warn);
    }
}

/// How many warnings a short report has room for below what stands at its top.
fn room_for_warnings(record: &RunRecord) -> usize {
    let at_top = [story::stall(record), story::noise(record)].into_iter().flatten().count();
    MAX_TROUBLES.saturating_sub(at_top + usize::from(story::invalid(record).is_some()))
}

/// What to do about it, in no more than so many lines of a short report.
fn remedy(warning: &Warning, most: usize, document: &mut ReportDocument) {
    if !warning.remedy.is_empty() {
        document.fact_within(most, "", &format!("→ {}", warning.remedy), TextRole::Plain);
    }
}

/// The last line of a short report: where the rest is.
pub(super) fn more(_: &RunView<'_>, document: &mut ReportDocument) {
    let more = format!("{DETAILS}, and so does `dbtime report RECORD --text --details` later");
    document.gap();
    document.paragraph(&more, TextRole::Dim);
}
