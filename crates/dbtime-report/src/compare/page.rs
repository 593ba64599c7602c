//! A comparison as one HTML file.

use super::NO_VERDICT;
use super::groups::{self, GroupComparison};
use super::run::{ComparedRun, RunComparison};
use super::study::{self, StudyComparison};
use super::sweep::SweepComparison;
use super::tables::{self, TextTable};
use crate::charts::escape;
use crate::facts::instant;
use crate::html::{HtmlCell, HtmlHeading, HtmlTable, frame};
use std::fmt::Write;

/// Two runs side by side as a self-contained page.
///
/// Shape: as [`crate::html::report`].
pub fn runs_page(runs: &RunComparison) -> String {
    let mut body = head("Two runs side by side", &runs.unlike);
    body += "<section><dl class=\"facts\">";
    side("A", &runs.a, &mut body);
    side("B", &runs.b, &mut body);
    body += "</dl></section>\n";
    no_verdict(&mut body);
    tables::of_runs(runs).iter().for_each(|table| show(table, &mut body));
    frame(&format!("{} and {}", runs.a.place, runs.b.place), &body)
}

/// Two sweeps side by side as a self-contained page: every combination whole.
///
/// Shape: as [`crate::html::report`].
pub fn sweeps_page(sweeps: &SweepComparison) -> String {
    let mut body = head("Two sweeps side by side", &sweeps.unlike);
    body += "<section><dl class=\"facts\">";
    for (name, place) in [("A", &sweeps.a), ("B", &sweeps.b)] {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape(place));
    }
    body += "</dl></section>\n";
    no_verdict(&mut body);
    show(&tables::of_sweeps(sweeps), &mut body);
    for (index, combination) in sweeps.combinations.iter().enumerate() {
        let open = if index == 0 { " open=\"open\"" } else { "" };
        let name = escape(&combination.name());
        let _ = write!(body, "<details{open}><summary>{name}</summary>\n<dl class=\"facts\">");
        side("A", &combination.runs.a, &mut body);
        side("B", &combination.runs.b, &mut body);
        body += "</dl>\n";
        tables::of_runs(&combination.runs).iter().for_each(|table| show(table, &mut body));
        body += "</details>\n";
    }
    frame(&format!("{} and {}", sweeps.a, sweeps.b), &body)
}

/// Two groups of runs as a self-contained page.
///
/// Shape: as [`crate::html::report`].
pub fn groups_page(compared: &GroupComparison) -> String {
    let mut body = head("Two groups of runs", &compared.unlike);
    body += "<section><dl class=\"facts\">";
    for fact in compared.facts() {
        let _ = write!(body, "<dt>{}</dt><dd>{}</dd>", fact.name, escape(&fact.text));
    }
    for (name, group) in [("A", &compared.a), ("B", &compared.b)] {
        let [text, load] = [group.text(), group.load.clone()].map(|text| escape(&text).to_string());
        let _ = write!(body, "<dt>{name}</dt><dd>{text}<br/>{load}</dd>");
    }
    body += "</dl></section>\n";
    for (title, svg) in groups::charts(compared) {
        let _ = writeln!(body, "<section><h2>{title}</h2>{svg}</section>");
    }
    groups::of_groups(compared).iter().for_each(|table| show(table, &mut body));
    frame("Two groups of runs", &body)
}

/// A study as a self-contained page: the verdicts, all changes, all runs.
///
/// Shape: as [`crate::html::report`].
pub fn study_page(compared: &StudyComparison) -> String {
    let name = escape(&compared.name);
    let mut body =
        format!("<header><p class=\"kicker\">dbtime study</p><h1>{name}</h1></header>\n");
    body += &study_sections(compared);
    frame(&compared.name, &body)
}

/// What a page has of a study: the verdicts, all changes, all runs.
pub(crate) fn study_sections(compared: &StudyComparison) -> String {
    let mut body = "<section><dl class=\"facts\">".to_owned();
    for fact in compared.facts() {
        let _ = write!(body, "<dt>{}</dt><dd>{}</dd>", fact.name, escape(&fact.text));
    }
    body += "</dl></section>\n";
    for (title, svg) in study::charts(compared) {
        let _ = writeln!(body, "<section><h2>{title}</h2>{svg}</section>");
    }
    study::of_study(compared).iter().for_each(|table| show(table, &mut body));
    body
}

fn head(what: &str, unlike: &[String]) -> String {
    let mut out =
        format!("<header><p class=\"kicker\">dbtime compare</p><h1>{what}</h1></header>\n");
    for sentence in unlike {
        let sentence = escape(sentence);
        let _ = writeln!(out, "<p class=\"callout invalid\">{sentence}</p>");
    }
    out
}

fn side(name: &str, run: &ComparedRun, out: &mut String) {
    let invalid = run.invalid.as_ref().map_or(String::new(), |why| {
        format!("<br/><strong class=\"bad\">NOT VALID: {}</strong>", escape(why))
    });
    let _ = write!(
        out,
        "<dt>{name}</dt><dd>{}, started {}, {}<br/>{}{invalid}</dd>",
        escape(&run.headline),
        escape(&instant(&run.started_at)),
        escape(&run.place),
        escape(&run.load),
    );
}

fn no_verdict(out: &mut String) {
    let _ = writeln!(out, "<p class=\"callout\">{}</p>", escape(NO_VERDICT));
}

fn show(table: &TextTable, out: &mut String) {
    let head = |heading: &tables::ComparisonHeading| match heading.is_figure {
        true => HtmlHeading::Figure(heading.text),
        false => HtmlHeading::Text(heading.text),
    };
    let mut shown = HtmlTable::new("", table.headings.iter().map(head).collect());
    for row in &table.rows {
        shown.row(row.iter().map(HtmlCell::text).collect());
    }
    let _ = writeln!(out, "<section><h2>{}</h2>", escape(table.title));
    if !table.rows.is_empty() {
        out.push_str(&shown.finish());
    }
    if !table.note.is_empty() {
        let _ = write!(out, "<p class=\"dim note\">{}</p>", escape(&table.note));
    }
    out.push_str("</section>\n");
}
