//! What executions of the forms took, where that time went, and B against A by the number of rows.

use super::answer::failure;
use super::ratio_text::{interval_text, ratio};
use crate::charts::{SegmentLabels, StackedBar, bar, legend};
use crate::document::ReportDocument;
use crate::format::{count, counted, if_any, one_line, percent, rate, us};
use crate::means::PartMeans;
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Part;
use dbtime_model::query::{ExecutionTimes, FormComparison, QueryForm, RatioMethod, RowsDecile};

/// Standard errors that show more pairs than half, with an error of 5 % over ten groups together.
const SHOWN_LEAD: f64 = 2.81;

/// About as wide as a bar is on a page. Unit: pixels.
const BAR_PIXELS: f64 = 900.0;

/// How long the bar of a share of all is.
const BAR_COLUMNS: usize = 16;

/// Both forms beside each other.
pub(super) fn forms_table(forms: &[QueryForm]) -> ReportTable {
    let headings = ["Mean", "p50", "p90", "p99", "Rows", "First\nexecution", "Executions"];
    let mut columns = vec![TextColumn::text("Form")];
    columns.extend(headings.map(TextColumn::figure));
    let has_cpu = forms.iter().any(|form| form.server_cpu_us.is_some());
    columns.extend(has_cpu.then(|| TextColumn::figure("Server\nCPU")));
    let mut table = ReportTable::new(columns);
    for form in forms {
        let time = |of: fn(&ExecutionTimes) -> f64| if_any(form.times.as_ref(), |it| us(of(it)));
        let cells = [
            one_line(&form.name),
            time(|times| times.mean_us),
            time(|times| times.p50_us),
            time(|times| times.p90_us),
            time(|times| times.p99_us),
            if_any(form.times.as_ref(), |times| rate(times.rows)),
            if_any(form.first.as_ref(), |first| us(first.execute_us)),
            if_any(form.times.as_ref(), |times| count(times.count)),
        ];
        let cpu = has_cpu.then(|| if_any(form.server_cpu_us, us));
        table.row(cells.into_iter().chain(cpu).map(TextCell::from).collect());
    }
    table
}

/// Why the forms' means point the other way than their ratio does, where they do: their own ratio
/// lies on the other side of 1, and outside of the interval.
pub(super) fn means_note(forms: &[QueryForm], compared: &FormComparison) -> Option<String> {
    let [a, b] = forms else { return None };
    let of_means = b.times?.mean_us / a.times?.mean_us;
    let interval = compared.ratio;
    let is_beyond = of_means < interval.low || of_means > interval.high;
    let is_contrary = (of_means - 1.0) * (interval.ratio - 1.0) < 0.0;
    (is_beyond && is_contrary).then(|| {
        format!(
            "B's mean is {} of A's: the longest executions dominate a mean, while every pair \
             weighs the same in the ratio",
            ratio(of_means)
        )
    })
}

/// Where the texts come from, and what failed.
pub(super) fn form_facts(forms: &[QueryForm], document: &mut ReportDocument) {
    for form in forms {
        form_fact(form, document);
        if form.failed > 0 || form.times.is_none() {
            document.fact("", &failure(form), TextRole::Bad);
        }
    }
}

/// Where the text of a form comes from.
pub(super) fn form_fact(form: &QueryForm, document: &mut ReportDocument) {
    let text = format!("{}: {}", one_line(&form.source), one_line(&form.sql));
    document.fact(&one_line(&form.name), &text, TextRole::Plain);
}

/// The parts of the time, as a table and on a page as bars; nothing where it is one number.
pub(super) fn form_parts(forms: &[QueryForm], document: &mut ReportDocument) {
    let means: Vec<PartMeans> = forms.iter().map(PartMeans::from).collect();
    if !means.iter().any(PartMeans::are_split) {
        return;
    }
    document.heading("Where the time goes");
    document.table(&parts_table(forms, &means));
    let full_us = means.iter().map(PartMeans::positive).fold(0.0, f64::max);
    let bars = forms.iter().zip(&means).map(|(form, means)| {
        bar(&StackedBar {
            means,
            full_us,
            height: 26,
            title: format!("Parts of {}", one_line(&form.name)),
            labels: SegmentLabels::Within(BAR_PIXELS),
        })
    });
    let bars: String = bars.collect();
    document.markup(format!("{bars}{}\n", legend(means.iter())));
}

fn parts_table(forms: &[QueryForm], means: &[PartMeans]) -> ReportTable {
    let mut columns = vec![TextColumn::text("Part")];
    columns.extend(forms.iter().map(|form| TextColumn::figure(&one_line(&form.name))));
    // The share is of the last form: of B, where there is one.
    let share = if forms.len() == 2 { "Share\nof B" } else { "Share" };
    columns.extend([TextColumn::figure(share), TextColumn::text("")]);
    let mut table = ReportTable::new(columns);
    let is_shown = |part: &Part| means.iter().any(|of| of.get(*part).is_some_and(|us| us != 0.0));
    for part in Part::ALL.into_iter().filter(is_shown) {
        let share = means.last().and_then(|of| of.share(part)).unwrap_or_default();
        let figures = means.iter().map(|of| TextCell::from(if_any(of.get(part), us)));
        let mut cells = vec![TextCell::from(part.name())];
        cells.extend(figures);
        cells.push(percent(share).into());
        cells.push(TextCell::bar(share / 100.0, BAR_COLUMNS, TextRole::Plain));
        table.row(cells);
    }
    table
}

/// How the interval came about, and what it would be without pairs.
pub(super) fn comparison_facts(compared: &FormComparison, document: &mut ReportDocument) {
    let how = match compared.method {
        RatioMethod::Batches => {
            let autocorrelation = ratio(compared.autocorrelation);
            format!("from {}, autocorrelation {autocorrelation}", batches(compared))
        }
        RatioMethod::Signs => "the sign test's of the median, for few pairs".to_owned(),
        RatioMethod::Lives => format!("from {} lives of a server", count(compared.lives)),
    };
    document.fact("interval", &how, TextRole::Plain);
    let median = format!("of the pairs' ratios: {}", ratio(compared.median_ratio));
    document.fact("median", &median, TextRole::Plain);
    if let Some(unpaired) = compared.unpaired {
        let [ratio, interval] = [ratio(unpaired.ratio), interval_text(unpaired)];
        let text = format!("the ratio would be {ratio} ({interval})");
        document.fact("unpaired", &text, TextRole::Dim);
    }
}

/// What an interval is from; batches of one pair are pairs.
fn batches(compared: &FormComparison) -> String {
    match compared.batch_pairs {
        1 => counted(compared.batches, "pair"),
        size => format!("{} of {}", counted(compared.batches, "batch"), counted(size, "pair")),
    }
}

/// Whether B is shown to be faster for some numbers of rows and slower for others, by more than the
/// margin.
pub(super) fn is_mixed(compared: &FormComparison) -> bool {
    let margin = compared.margin;
    let deciles = || compared.deciles.iter();
    let is_faster = |of: &RowsDecile| of.ratio < 1.0 - margin && lead(of) >= SHOWN_LEAD;
    let is_slower = |of: &RowsDecile| of.ratio > 1.0 + margin && lead(of) <= -SHOWN_LEAD;
    deciles().any(is_faster) && deciles().any(is_slower)
}

/// By how many standard errors more pairs than half have B faster; below zero: fewer.
fn lead(decile: &RowsDecile) -> f64 {
    (2.0 * decile.faster_share - 1.0) * (decile.pairs as f64).sqrt()
}

/// B against A by the number of rows that A returned.
pub(super) fn deciles(compared: &FormComparison, document: &mut ReportDocument) {
    if compared.deciles.len() < 2 {
        return;
    }
    document.heading("By the number of rows");
    let columns = [
        TextColumn::figure("Rows of A"),
        TextColumn::figure("Pairs"),
        TextColumn::figure("B / A"),
        TextColumn::figure("B faster"),
        TextColumn::text(""),
    ];
    let mut table = ReportTable::new(columns.into());
    for decile in &compared.deciles {
        let rows = match decile.rows_from == decile.rows_to {
            true => count(decile.rows_from),
            false => format!("{} .. {}", count(decile.rows_from), count(decile.rows_to)),
        };
        table.row(vec![
            rows.into(),
            count(decile.pairs).into(),
            ratio(decile.ratio).into(),
            percent(decile.faster_share * 100.0).into(),
            TextCell::bar(decile.faster_share, BAR_COLUMNS, TextRole::Plain),
        ]);
    }
    document.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::RatioInterval;

    #[test]
    fn means_that_contradict_the_ratio_are_explained() {
        let form = |mean_us| QueryForm {
            times: Some(ExecutionTimes { mean_us, ..ExecutionTimes::default() }),
            ..QueryForm::default()
        };
        let ratio = RatioInterval { ratio: 0.98, low: 0.95, high: 1.002, level: 0.95 };
        let compared = FormComparison { ratio, ..FormComparison::default() };
        let note = |b| means_note(&[form(393.0), form(b)], &compared);
        assert!(note(420.0).is_some_and(|note| note.starts_with("B's mean is 1.07 of A's")));
        assert_eq!([note(390.0), note(200.0), note(393.5)], [None, None, None]);
        assert_eq!(means_note(&[form(393.0)], &compared), None);
    }

    #[test]
    fn batches_of_one_pair_are_pairs() {
        let of = |batches, batch_pairs| {
            let compared = FormComparison { batches, batch_pairs, ..FormComparison::default() };
            super::batches(&compared)
        };
        assert_eq!([of(15_924, 1), of(20, 40)], ["15,924 pairs", "20 batches of 40 pairs"]);
    }
}
