//! The top of the page: what ran, what to beware of, where the time went, and the figures.

use super::part_colors::chip;
use crate::budget_story;
use crate::charts::{SegmentLabels, StackedBar, bar, escape, legend};
use crate::facts::instant;
use crate::format::{counted, percent, rate, us};
use crate::means::PartMeans;
use crate::story::{self, LimitResults, StoryAnswer};
use crate::tail;
use dbtime_model::record::{Run, RunRecord, ValidityGrade};
use std::fmt::Write;

/// What stands above the list of sections.
pub(super) fn markup(run: &Run) -> String {
    let mut out = String::new();
    header(&run.record, &mut out);
    warnings(&run.record, &mut out);
    section(&run.record, &mut out);
    out
}

fn header(record: &RunRecord, out: &mut String) {
    let mut load = vec![story::load(&record.load)];
    load.extend(story::auto_rate(&record.load));
    let _ = writeln!(
        out,
        "<header><p class=\"kicker\">dbtime run · {}</p><h1>{}</h1><p \
            class=\"dim\">{}</p></header>",
        escape(&instant(&record.started_at)),
        escape(&story::headline(record)),
        escape(&load.join(" · ")),
    );
}

fn warnings(record: &RunRecord, out: &mut String) {
    if let Some(why) = story::invalid(record) {
        let remedy = story::culprit(record).map_or("", |warning| &warning.remedy);
        callout(out, "invalid", "NOT VALID", &why, remedy);
    }
    if let Some(warning) = story::noise(record) {
        callout(out, "warn", "NOISY", &warning.text, &warning.remedy);
    }
    if let Some(warning) = story::stall(record) {
        callout(out, "invalid", "STOOD STILL", &warning.text, &warning.remedy);
    }
    for warning in story::other_warnings(record) {
        let class = if warning.kind.invalidates() { "invalid" } else { "warn" };
        callout(out, class, "Warning", &warning.text, &warning.remedy);
    }
}

fn callout(out: &mut String, class: &str, name: &str, text: &str, remedy: &str) {
    let remedy = match remedy {
        "" => String::new(),
        remedy => format!("<span class=\"remedy\">→ {}</span>", escape(remedy)),
    };
    let text = escape(text);
    let _ =
        writeln!(out, "<p class=\"callout {class}\"><strong>{name}</strong> {text}{remedy}</p>");
}

fn section(record: &RunRecord, out: &mut String) {
    out.push_str("<section class=\"answer\" aria-label=\"Where the time goes\">\n");
    sentence(record, out);
    tiles(record, out);
    out.push_str("</section>\n");
}

fn sentence(record: &RunRecord, out: &mut String) {
    let Some(means) = record.budget_us.as_ref().map(PartMeans::from) else {
        let _ = writeln!(
            out,
            "<p class=\"big\">Where the time goes: {}</p>",
            escape(&story::where_it_goes(record))
        );
        return;
    };
    let Some(answer) = story::answer(&means) else {
        let none = if record.counts.completed == 0 { "completed" } else { "was measured" };
        let _ = writeln!(out, "<p class=\"big\">No transaction {none}.</p>");
        return;
    };
    let subject = format!("of a transaction’s {}", us(means.total));
    let mut sentence = spoken(&answer, &subject);
    if let Some(all) = budget_story::all_mean(record) {
        let _ = write!(sentence, "; {}", escape(&all));
    }
    let _ = writeln!(out, "<p class=\"big\">{sentence}.</p>");
    out.push_str(&bar(&StackedBar {
        means: &means,
        full_us: means.positive().max(means.total),
        height: 46,
        title: "Where the time of a mean transaction goes".to_owned(),
        labels: SegmentLabels::Within(780.0),
    }));
    let tail = tail::tail(&record.operations);
    if let Some(tail) = &tail {
        tail_bar(tail, out);
    }
    out.push_str(&legend(
        [Some(&means), tail.as_ref().map(|tail| &tail.slow.means)].into_iter().flatten(),
    ));
}

/// The answer with its figures and parts set off.
fn spoken(answer: &StoryAnswer, subject: &str) -> String {
    let (part, share) = answer.parts[0];
    let mut out = format!(
        "<strong>{}</strong> {subject} is <strong>{}</strong> <span class=\"dim\">({})</span>",
        escape(&percent(share)),
        chip(part),
        part.meaning()
    );
    for (part, share) in &answer.parts[1..] {
        let _ = write!(
            out,
            ", <span class=\"chip\">{} {}</span>",
            escape(&percent(*share)),
            chip(*part)
        );
    }
    out
}

fn tail_bar(tail: &tail::ResponseTail, out: &mut String) {
    let slow = &tail.slow;
    let Some(answer) = story::answer(&slow.means) else {
        return;
    };
    let name = story::slow_name(slow);
    let subject = format!("of their {}", us(slow.means.total));
    let _ = writeln!(
        out,
        "<p class=\"tail\">The {} (from {} up): {}.</p>",
        escape(&name),
        us(slow.from_us),
        spoken(&answer, &subject)
    );
    out.push_str(&bar(&StackedBar {
        means: &slow.means,
        full_us: slow.means.positive().max(slow.means.total),
        height: 30,
        title: format!("Where the time of the {name} goes"),
        labels: SegmentLabels::Within(780.0),
    }));
}

fn tiles(record: &RunRecord, out: &mut String) {
    let response = &record.latency_us.response;
    let shown = |us| story::latency(record, us);
    let completed = format!("{}/s", rate(record.throughput_tps));
    out.push_str("<dl class=\"tiles\">");
    tile(out, "Throughput", &completed, &story::offered_rate(record), "");
    let mean = format!("mean {}", shown(response.mean));
    tile(out, "Median response", &shown(response.p50), &mean, "");
    tile(out, "99th percentile", &shown(response.p99), &format!("max {}", shown(response.max)), "");
    verdict_tiles(record, out);
    out.push_str("</dl>\n");
    let (basis, limits) = (story::basis(record), escape(&story::limits_text(record)));
    let _ = writeln!(
        out,
        "<p class=\"dim note\">Response times: {basis}.</p>\n\
         <p class=\"dim note\">Limits: {limits}.</p>"
    );
}

fn verdict_tiles(record: &RunRecord, out: &mut String) {
    let (limits, note, class) = match story::limits(record) {
        LimitResults::None => ("none set", String::new(), "dim"),
        LimitResults::Passed => ("PASSED", "all met".to_owned(), "good"),
        LimitResults::Failed(missed) => ("FAILED", missed.text("", " missed"), "bad"),
        LimitResults::Undecided(open) => ("UNDECIDED", story::undecided_note(record, open), "bad"),
    };
    tile(out, "Limits", limits, &note, class);
    let (valid, class) = match record.validity.grade() {
        ValidityGrade::Sound => ("valid", "good"),
        ValidityGrade::Noisy => ("noisy", "warned"),
        ValidityGrade::Invalid if record.validity.is_of_the_driver() => ("client-limited", "bad"),
        ValidityGrade::Invalid => ("NOT VALID", "bad"),
    };
    let warned = counted(record.validity.warnings.len() as u64, "warning");
    tile(out, "Figures", valid, &warned, class);
}

fn tile(out: &mut String, name: &str, figure: &str, note: &str, class: &str) {
    let _ = write!(
        out,
        "<div><dt>{name}</dt><dd class=\"{class}\">{}</dd><dd class=\"sub\">{}</dd></div>",
        escape(figure),
        escape(note)
    );
}
