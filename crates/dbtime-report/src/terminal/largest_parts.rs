//! Where the time goes, at the head of a report: the largest parts of the mean of all transactions
//! and of the slowest, side by side, largest of the mean first.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextCell, TextColumn};
use crate::budget_story;
use crate::format::{NONE, count, percent, signed_us, us};
use crate::means::PartMeans;
use crate::story;
use crate::tail::{self, TailSlice};
use dbtime_model::Part;
use dbtime_model::record::RunRecord;

/// A part below this in both columns is among the rest. Unit: percent.
const MIN_SHARE: f64 = 5.0;

/// So many are shown however small they are, where there are so many.
const MIN_SHOWN: usize = 2;

/// What the table is headed with.
const NAME: &str = "where it goes";

pub(super) fn section(record: &RunRecord, page: &mut ReportPage) {
    let means = record.budget_us.as_ref().map(PartMeans::from);
    let Some(means) = means.filter(|means| !means.largest().is_empty()) else {
        return page.fact(NAME, &story::where_it_goes(record), TextRole::Bold);
    };
    let tail = tail::tail(&record.operations);
    let slow = tail.as_ref().map(|tail| &tail.slow);
    page.fact_table(NAME, &table(&means, slow));
    if let Some(all) = budget_story::all_mean(record) {
        page.fact("", &all, TextRole::Dim);
    }
}

fn table(means: &PartMeans, slow: Option<&TailSlice>) -> ReportTable {
    let mut columns = vec![TextColumn::text("part")];
    let of = means.count;
    let mean = if of > 0 { format!("mean of {}", count(of)) } else { "mean".to_owned() };
    columns.extend([TextColumn::figure(&mean), TextColumn::figure("")]);
    if let Some(slow) = slow {
        columns.push(TextColumn::figure(&story::slow_name(slow)));
        columns.push(TextColumn::figure(""));
    }
    columns.push(TextColumn::text(""));
    let mut table = ReportTable::new(columns);
    let slices = || [Some(means), slow.map(|slow| &slow.means)].into_iter().flatten();
    let (shown, rest) = split(means, slow.map(|slow| &slow.means));
    for (index, part) in shown.iter().enumerate() {
        let ink = if index == 0 { TextRole::Bold } else { TextRole::Plain };
        let figures = slices().flat_map(|means| {
            let signed = *part == Part::Unexplained;
            let figure = |us_: f64| if signed { signed_us(us_) } else { us(us_) };
            let share = means.share(*part).map_or(NONE.into(), percent);
            [means.get(*part).map_or(NONE.into(), figure), share]
        });
        table.row(row(part.name(), figures, part.meaning(), ink));
    }
    if !rest.is_empty() {
        let sum = |means: &PartMeans| rest.iter().filter_map(|part| means.get(*part)).sum::<f64>();
        let figures = slices().flat_map(|means| {
            let share = 100.0 * sum(means) / means.total;
            [us(sum(means)), if means.total > 0.0 { percent(share) } else { NONE.into() }]
        });
        let meaning = format!("together, {} parts", rest.len());
        table.row(row("the rest", figures, &meaning, TextRole::Dim));
    }
    let totals = slices().flat_map(|means| [us(means.total), String::new()]);
    table.row(row("total", totals, "", TextRole::Bold));
    table
}

fn row(
    name: &str,
    figures: impl Iterator<Item = String>,
    meaning: &str,
    ink: TextRole,
) -> Vec<TextCell> {
    let mut row = vec![TextCell::new(name, ink)];
    row.extend(figures.map(|figure| TextCell::new(figure, ink)));
    row.push(TextCell::new(meaning, TextRole::Dim));
    row
}

/// The parts to be shown, largest of the mean first, and those that are not zero besides.
fn split(means: &PartMeans, slow: Option<&PartMeans>) -> (Vec<Part>, Vec<Part>) {
    let of = |means: &PartMeans, part: Part| means.get(part).unwrap_or(0.0);
    let mut parts: Vec<Part> = Part::ALL.into_iter().collect();
    parts.retain(|part| of(means, *part) != 0.0 || slow.is_some_and(|m| of(m, *part) != 0.0));
    parts.sort_by(|a, b| of(means, *b).total_cmp(&of(means, *a)));
    let is_large = |part: Part| {
        let share = |means: &PartMeans| means.share(part).unwrap_or(0.0).abs();
        share(means) >= MIN_SHARE || slow.is_some_and(|slow| share(slow) >= MIN_SHARE)
    };
    let mut rest: Vec<Part> = Vec::new();
    let mut shown: Vec<Part> = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index < MIN_SHOWN || is_large(part) { shown.push(part) } else { rest.push(part) }
    }
    // A rest of one is no shorter than its part.
    if rest.len() == 1 {
        shown.append(&mut rest);
    }
    (shown, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetUs;

    fn means(lock: f64, cpu: f64, sync: f64, wire: f64, unexplained: f64) -> PartMeans {
        PartMeans::from(&BudgetUs {
            lock: Some(lock),
            cpu: Some(cpu),
            sync: Some(sync),
            wire: Some(wire),
            unexplained: Some(unexplained),
            total: lock + cpu + sync + wire + unexplained,
            ..BudgetUs::default()
        })
    }

    #[test]
    fn what_is_large_in_either_column_is_shown_and_the_rest_adds_up() {
        let all = means(1.0, 60.0, 35.0, 3.0, 1.0);
        let slow = TailSlice {
            share: 1.0,
            from_us: 512.0,
            below_us: 2048.0,
            means: means(900.0, 61.0, 36.0, 2.0, 1.0),
        };
        let (shown, rest) = split(&all, Some(&slow.means));
        assert_eq!(shown, [Part::Cpu, Part::Sync, Part::Lock]);
        assert_eq!(rest, [Part::Wire, Part::Unexplained]);
        let lines = table(&all, Some(&slow)).lines(84, |text, _| text.to_owned());
        let text = lines.join("\n");
        assert!(lines[0].contains("mean") && lines[0].contains("slowest 1.0 %"), "{text}");
        assert!(lines[1].starts_with("cpu") && lines[1].contains("60 %"), "{text}");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&lines[4]).starts_with("the rest 4.00 µs 4.0 % 3.00 µs 0.3 %"), "{text}");
        assert_eq!(words(&lines[5]), "total 100 µs 1.00 ms", "{text}");
    }

    #[test]
    fn without_a_tail_there_is_one_column() {
        let lines = table(&means(1.0, 98.0, 0.0, 0.0, 1.0), None).lines(84, |t, _| t.to_owned());
        assert!(lines[0].contains("mean") && !lines[0].contains("slowest"), "{lines:?}");
        assert_eq!(lines.len(), 5, "{lines:?}");
    }
}
