//! A sweep as one page: charts over what was varied, the table of runs, the limits missed.

use super::frame;
use super::machine::repeat_section;
use super::table::{HtmlCell, HtmlHeading, HtmlTable};
use crate::charts::{MAX_LINES, SWEEP_CHARTS, SweepLines, escape};
use crate::facts::instant;
use crate::format::{NONE, count, if_any, percent, rate, us};
use crate::story;
use crate::sweep_story;
use dbtime_model::record::{Sweep, SweepRun};
use std::fmt::Write;

/// The page of a sweep, with what there is of it.
///
/// Shape: as [`super::report`].
pub fn sweep_report(sweep: &Sweep) -> String {
    let mut body = String::new();
    header(sweep, &mut body);
    charts(sweep, &mut body);
    body += "<section><h2>Runs</h2>\n";
    body += &table(sweep);
    body += "</section>\n";
    let target = sweep.runs.first().map_or("", |(_, run)| &run.target.url);
    repeat_section(&sweep.record.command, &sweep.record.directory, target, &mut body);
    frame(&sweep_story::headline(sweep), &body)
}

fn header(sweep: &Sweep, out: &mut String) {
    let started = escape(&instant(&sweep.record.started_at));
    let _ = writeln!(
        out,
        "<header><p class=\"kicker\">dbtime sweep · {started}</p><h1>{}</h1></header>",
        escape(&sweep_story::headline(sweep)),
    );
    if let Some((_, first)) = sweep.runs.first() {
        let load = escape(&story::load(&first.load));
        let _ = writeln!(out, "<p class=\"dim\">first run: {load}</p>");
    }
    if let Some(found) = &sweep.record.found {
        let (answer, facts) = sweep_story::found(found);
        let facts = facts.iter().map(|(name, fact)| format!("{name}: {fact}"));
        let facts = facts.collect::<Vec<_>>().join("; ");
        let (answer, facts) = (escape(&answer), escape(&facts));
        let _ = writeln!(out, "<p><strong>{answer}</strong></p><p class=\"dim\">{facts}</p>");
    }
    for sentence in sweep_story::incomplete(sweep) {
        let _ = writeln!(out, "<p class=\"callout\">{}</p>", escape(&sentence));
    }
    let failed = sweep_story::failed(&sweep.record).into_iter();
    for sentence in failed.chain(sweep_story::missed(&sweep.record)) {
        let sentence = escape(&sentence);
        let _ = writeln!(out, "<p class=\"callout invalid\"><strong>{sentence}</strong></p>");
    }
}

fn charts(sweep: &Sweep, out: &mut String) {
    let runs: Vec<&SweepRun> = sweep.record.runs.iter().collect();
    let lines = SweepLines::new(&runs);
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
        "<p class=\"dim note\">Each point is a run; lines go through the means of repetitions. \
         Values stand at equal steps, whatever lies between them.{more}</p>"
    );
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

fn table(sweep: &Sweep) -> String {
    let mut heads = vec![HtmlHeading::Text("Run"), HtmlHeading::Text("Combination")];
    let figures = ["Per second", "Mean", "p50", "p95", "p99", "Lost", "Server CPU"];
    heads.extend(figures.map(HtmlHeading::Figure));
    heads.extend([HtmlHeading::Text("Limits"), HtmlHeading::Text("Figures")]);
    let mut table = HtmlTable::new("Every run in the order of time", heads);
    for run in &sweep.record.runs {
        table.row(cells(run));
    }
    table.finish()
}

fn cells(run: &SweepRun) -> Vec<HtmlCell> {
    let response = &run.response_us;
    let time = |value| if run.counts.completed == 0 { NONE.to_owned() } else { us(value) };
    let server = run.server_usr_pct.zip(run.server_sys_pct);
    let mut cells =
        vec![HtmlCell::text(&run.folder), HtmlCell::text(sweep_story::combination(run))];
    cells.push(HtmlCell::text(rate(run.throughput_tps)));
    let times = [response.mean, response.p50, response.p95, response.p99];
    cells.extend(times.map(|value| HtmlCell::text(time(value))));
    cells.extend([
        HtmlCell::text(count(run.counts.lost())),
        HtmlCell::text(if_any(server, |(usr, sys)| percent(usr + sys))),
        run.limits.map_or_else(HtmlCell::none, HtmlCell::verdict),
        match run.valid {
            true => HtmlCell::text("valid").class("good"),
            false => HtmlCell::text("NOT VALID").class("bad"),
        },
    ]);
    cells
}
