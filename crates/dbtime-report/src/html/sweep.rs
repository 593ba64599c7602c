//! A sweep or a search as one page: what was found, the limits missed, of several combinations the
//! verdicts of a study, charts over what was varied, the table of runs, and what verdicts rest on.

use super::frame;
use super::run_link::run_link;
use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::{MAX_LINES, SWEEP_CHARTS, SweepLines, escape, sweep_budgets};
use crate::compare::{StudyComparison, study_sections};
use crate::document::ReportDocument;
use crate::facts::instant;
use crate::format::{count, if_any, percent, rate};
use crate::repeat;
use crate::story;
use crate::sweep_story::{self, SweepStory};
use dbtime_model::study::{MadeRun, RecordedStudy, RunOrder};
use std::fmt::Write;

/// The page of a sweep or a search, with what there is of it.
///
/// Shape: as [`super::report`].
pub fn sweep_report(study: &RecordedStudy) -> String {
    let sweep = SweepStory::of(study);
    let mut body = String::new();
    header(&sweep, &mut body);
    let plan = &study.plan;
    let has_verdicts = plan.order == RunOrder::Rounds && plan.cells.len() > 1;
    let sections = has_verdicts.then(|| study_sections(&StudyComparison::of(study)));
    let [answer, evidence] = sections.unwrap_or_default();
    // The answer is in the first screen.
    body += &answer;
    charts(&sweep, &mut body);
    body += "<section><h2>Runs</h2>\n";
    body += &table(&sweep);
    body += "</section>\n";
    body += &evidence;
    let target = sweep.runs.first().map_or("", |run| &run.record.target.url);
    let mut end = ReportDocument::new("dbtime sweep", "");
    repeat::section(&plan.surroundings.command, &plan.directory, target, &mut end);
    frame(&sweep.headline(), &(body + &end.sections()))
}

fn header(sweep: &SweepStory<'_>, out: &mut String) {
    let started = sweep.study.history.sessions.first().map_or("", |session| &session.at);
    let started = escape(&instant(started));
    let _ = writeln!(
        out,
        "<header><p class=\"kicker\">dbtime sweep · {started}</p><h1>{}</h1></header>",
        escape(&sweep.headline()),
    );
    if let Some(first) = sweep.runs.first() {
        let load = escape(&story::load(&first.record.load));
        let _ = writeln!(out, "<p class=\"dim\">first run: {load}</p>");
    }
    if let Some(found) = sweep.study.found() {
        let (answer, facts) = sweep_story::found(&found);
        let facts = facts.iter().map(|(name, fact)| format!("{name}: {fact}"));
        let facts = facts.collect::<Vec<_>>().join("; ");
        let (answer, facts) = (escape(&answer), escape(&facts));
        let _ = writeln!(out, "<p><strong>{answer}</strong></p><p class=\"dim\">{facts}</p>");
    }
    for sentence in sweep.incomplete() {
        let _ = writeln!(out, "<p class=\"callout\">{}</p>", escape(&sentence));
    }
    for sentence in sweep.troubles() {
        let sentence = escape(&sentence);
        let _ = writeln!(out, "<p class=\"callout invalid\"><strong>{sentence}</strong></p>");
    }
}

fn charts(sweep: &SweepStory<'_>, out: &mut String) {
    let lines = SweepLines::new(&sweep.runs);
    let drawn: Vec<_> =
        SWEEP_CHARTS.iter().filter_map(|chart| Some((chart, lines.draw(chart)?))).collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str("<section class=\"charts\">\n");
    for (chart, drawing) in drawn {
        let _ = writeln!(
            out,
            "<figure class=\"plot\"><figcaption><h2>{}</h2></figcaption>\
             <div class=\"scroll\" tabindex=\"0\">{drawing}</div>{}</figure>",
            escape(chart.title),
            legend(&lines)
        );
    }
    out.push_str("</section>\n");
    let more = lines.lines.len().saturating_sub(MAX_LINES);
    let more = match more {
        0 => String::new(),
        1 => " One more combination is in the table alone.".to_owned(),
        more => format!(" {} more combinations are in the table alone.", count(more as u64)),
    };
    let _ = writeln!(
        out,
        "<p class=\"dim note\">Each point is a run, a diamond a noisy one, a hollow square one \
         that is not valid; lines go through the means of repetitions. Values stand at equal \
         steps, whatever lies between them.{more}</p>"
    );
    // Of a search each rate is one of its own.
    let is_swept = sweep.study.plan.order == RunOrder::Rounds;
    let bars = sweep_budgets(&lines).filter(|_| is_swept);
    *out += &bars.map_or(String::new(), |bars| budgets(&bars));
}

/// The section of these bars.
fn budgets(bars: &str) -> String {
    format!(
        "<section><h2>Where the time of a transaction goes</h2>\n{bars}\
         <p class=\"dim note\">Bars are as long as the mean response, on one scale, of the runs \
         that are valid.</p></section>\n"
    )
}

/// Which line is which, where there are several.
fn legend(lines: &SweepLines<'_>) -> String {
    if lines.lines.len() < 2 {
        return String::new();
    }
    let mut out = "<ul class=\"legend\">".to_owned();
    for (index, (name, _)) in lines.lines.iter().take(MAX_LINES).enumerate() {
        let _ = write!(
            out,
            "<li><i class=\"swatch line-{index}\" aria-hidden=\"true\"></i>{}</li>",
            escape(name)
        );
    }
    out + "</ul>"
}

fn table(sweep: &SweepStory<'_>) -> String {
    let mut heads = vec![HtmlHeading::Text("Run"), HtmlHeading::Text("Combination")];
    let figures = ["Per second", "Mean", "p50", "p95", "p99", "Lost", "Server CPU"];
    heads.extend(figures.map(HtmlHeading::Figure));
    heads.extend([HtmlHeading::Text("Limits"), HtmlHeading::Text("Figures")]);
    let mut table = HtmlTable::new("Every run in the order of time", heads);
    for run in &sweep.runs {
        table.row(cells(run));
    }
    table.finish()
}

fn cells(run: &MadeRun<'_>) -> Vec<HtmlCell> {
    let record = run.record;
    let response = &record.latency_us.response;
    let time = |value| story::latency(record, value);
    let folder = &run.trial.folder;
    let place = run_link(folder, folder).map_or_else(|| HtmlCell::text(folder), HtmlCell::html);
    let mut cells = vec![place, HtmlCell::text(sweep_story::combination(run))];
    cells.push(HtmlCell::text(rate(record.throughput_tps)));
    let times = [response.mean, response.p50, response.p95, response.p99];
    cells.extend(times.map(|value| HtmlCell::text(time(value))));
    cells.extend([
        HtmlCell::text(count(record.counts.lost())),
        HtmlCell::text(if_any(record.server.as_ref(), |it| percent(it.usr_pct + it.sys_pct))),
        record.limits_outcome().map_or_else(HtmlCell::none, HtmlCell::verdict),
        match record.validity.valid {
            true => HtmlCell::text("valid").class("good"),
            false => HtmlCell::text("NOT VALID").class("bad"),
        },
    ]);
    cells
}
