//! Where the time goes, at the head of a report: the largest parts of the mean of all transactions
//! and of the slowest, side by side, largest of the mean first; in a short report under a heading
//! of its own, with bars.

use super::{RunView, budget};
use crate::budget_story;
use crate::document::ReportDocument;
use crate::format::{NONE, count, percent, signed_us, us};
use crate::means::PartMeans;
use crate::story;
use crate::tail::{self, TailSlice};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Part;
use dbtime_model::record::RunRecord;

/// A part below this in both columns is among the rest. Unit: percent.
const MIN_SHARE: f64 = 5.0;

/// What is not explained is among the rest up to this, unless the rest is negative. Unit: percent.
const MAX_HIDDEN_SHARE: f64 = 1.0;

/// So many are shown however small they are, where there are so many.
const MIN_SHOWN: usize = 2;

/// What the table is headed with.
const NAME: &str = "where it goes";

/// The length of the bar of a whole response.
const BAR_COLUMNS: usize = 10;

/// As many cells as the mean has, behind which its bar stands.
const MEAN_CELLS: usize = 2;

/// How much of the parts a table shows.
#[derive(Clone, Copy, Debug)]
struct PartLayout {
    /// So many parts at most, and one row for all others.
    most: usize,
    /// Whether the mean has bars.
    has_bars: bool,
}

const ALL_LARGE: PartLayout = PartLayout { most: usize::MAX, has_bars: false };

/// What a short report has room for.
const WITH_BARS: PartLayout = PartLayout { most: 5, has_bars: true };

/// A line of the answer, with the table beside its name.
pub(super) fn section(record: &RunRecord, document: &mut ReportDocument) {
    let Some(table) = table_of(record, ALL_LARGE) else {
        return document.fact(NAME, &story::where_it_goes(record), TextRole::Bold);
    };
    document.fact_table(NAME, &table);
    if let Some(all) = budget_story::all_mean(record) {
        document.fact("", &all, TextRole::Dim);
    }
}

/// The same under a heading of its own, with bars.
pub(super) fn section_with_bars(view: &RunView<'_>, document: &mut ReportDocument) {
    document.heading(budget::TITLE);
    let record = &view.run.record;
    let Some(table) = table_of(record, WITH_BARS) else {
        return document.paragraph(&story::where_it_goes(record), TextRole::Dim);
    };
    document.table(&table);
    if let Some(all) = budget_story::all_mean(record) {
        document.paragraph(&all, TextRole::Dim);
    }
}

/// The table of a record that has any part.
fn table_of(record: &RunRecord, layout: PartLayout) -> Option<ReportTable> {
    let means = record.budget_us.as_ref().map(PartMeans::from);
    let means = means.filter(|means| !means.largest().is_empty())?;
    let tail = tail::tail(&record.operations);
    Some(table(&means, tail.as_ref().map(|tail| &tail.slow), layout))
}

fn columns(means: &PartMeans, slow: Option<&TailSlice>, layout: PartLayout) -> Vec<TextColumn> {
    let mut columns = vec![TextColumn::text("part")];
    let of = means.count;
    let mean = if of > 0 { format!("mean of {}", count(of)) } else { "mean".to_owned() };
    columns.extend([TextColumn::figure(&mean), TextColumn::figure("")]);
    if layout.has_bars {
        columns.push(TextColumn::text("").optional());
    }
    if let Some(slow) = slow {
        columns.push(TextColumn::figure(&story::slow_name(slow)));
        columns.push(TextColumn::figure(""));
    }
    columns.push(TextColumn::text(""));
    columns
}

fn table(means: &PartMeans, slow: Option<&TailSlice>, layout: PartLayout) -> ReportTable {
    let mut table = ReportTable::new(columns(means, slow, layout));
    let slices = || [Some(means), slow.map(|slow| &slow.means)].into_iter().flatten();
    let cells = |figures: &dyn Fn(&PartMeans) -> [String; MEAN_CELLS], share: f64, ink| {
        let figures = slices().flat_map(figures);
        let mut cells: Vec<_> = figures.map(|figure| TextCell::new(figure, ink)).collect();
        if layout.has_bars {
            cells.insert(MEAN_CELLS, TextCell::bar(share / 100.0, BAR_COLUMNS, ink));
        }
        cells
    };
    let (shown, rest) = split(means, slow.map(|slow| &slow.means), layout.most);
    for (index, part) in shown.into_iter().enumerate() {
        let ink = if index == 0 { TextRole::Bold } else { TextRole::Plain };
        let share = means.share(part).unwrap_or(0.0);
        let figures = cells(&|means| part_cells(means, part), share, ink);
        table.row(row(part.name(), figures, part.meaning(), ink));
    }
    if !rest.is_empty() {
        let share = rest.iter().filter_map(|part| means.share(*part)).sum::<f64>();
        let figures = cells(&|means| rest_cells(means, &rest), share, TextRole::Dim);
        let meaning = format!("together, {} parts", rest.len());
        table.row(row("the rest", figures, &meaning, TextRole::Dim));
    }
    let totals = cells(&|means| [us(means.total), String::new()], 0.0, TextRole::Bold);
    table.row(row("total", totals, "", TextRole::Bold));
    table
}

/// A part and its share.
fn part_cells(means: &PartMeans, part: Part) -> [String; MEAN_CELLS] {
    let signed = part == Part::Unexplained;
    let figure = |us_: f64| if signed { signed_us(us_) } else { us(us_) };
    let share = means.share(part).map_or(NONE.into(), percent);
    [means.get(part).map_or(NONE.into(), figure), share]
}

/// What the rest comes to, and its share.
fn rest_cells(means: &PartMeans, rest: &[Part]) -> [String; MEAN_CELLS] {
    let sum = rest.iter().filter_map(|part| means.get(*part)).sum::<f64>();
    let share = 100.0 * sum / means.total;
    [us(sum), if means.total > 0.0 { percent(share) } else { NONE.into() }]
}

fn row(name: &str, figures: Vec<TextCell>, meaning: &str, ink: TextRole) -> Vec<TextCell> {
    let mut row = vec![TextCell::new(name, ink)];
    row.extend(figures);
    row.push(TextCell::new(meaning, TextRole::Dim));
    row
}

/// The parts to be shown, `most` of them and largest of the mean first, and those that are not zero
/// besides.
fn split(means: &PartMeans, slow: Option<&PartMeans>, most: usize) -> (Vec<Part>, Vec<Part>) {
    let of = |means: &PartMeans, part: Part| means.get(part).unwrap_or(0.0);
    let mut parts: Vec<Part> = Part::ALL.into_iter().collect();
    parts.retain(|part| of(means, *part) != 0.0 || slow.is_some_and(|m| of(m, *part) != 0.0));
    parts.sort_by(|a, b| of(means, *b).total_cmp(&of(means, *a)));
    let largest_share = |part: Part| {
        let share = |means: &PartMeans| means.share(part).unwrap_or(0.0).abs();
        share(means).max(slow.map_or(0.0, share))
    };
    // A part that is small in both columns is among the rest.
    let is_small = |part: &Part| largest_share(*part) < MIN_SHARE;
    let is_negative = |means: &PartMeans| {
        parts.iter().filter(|part| is_small(part)).map(|part| of(means, *part)).sum::<f64>() < 0.0
    };
    let is_rest_negative = is_negative(means) || slow.is_some_and(is_negative);
    let stays = |part: Part| {
        part == Part::Unexplained && (is_rest_negative || largest_share(part) > MAX_HIDDEN_SHARE)
    };
    let mut rest: Vec<Part> = Vec::new();
    let mut shown: Vec<Part> = Vec::new();
    for (index, part) in parts.iter().copied().enumerate() {
        let is_large = index < MIN_SHOWN || !is_small(&part) || stays(part);
        if is_large { shown.push(part) } else { rest.push(part) }
    }
    // A rest of one is no shorter than its part.
    while shown.len() > most && shown.len() + rest.len() > most + 1 {
        let by_share =
            |a: &usize, b: &usize| largest_share(shown[*a]).total_cmp(&largest_share(shown[*b]));
        let others = (0..shown.len()).filter(|index| !stays(shown[*index]));
        let smallest = others.min_by(by_share).unwrap_or(most);
        rest.push(shown.remove(smallest));
    }
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
        let (shown, rest) = split(&all, Some(&slow.means), usize::MAX);
        assert_eq!(shown, [Part::Cpu, Part::Sync, Part::Lock]);
        assert_eq!(rest, [Part::Wire, Part::Unexplained]);
        let lines = table(&all, Some(&slow), ALL_LARGE).lines(84, |text, _| text.to_owned());
        let text = lines.join("\n");
        assert!(lines[0].contains("mean") && lines[0].contains("slowest 1.0 %"), "{text}");
        assert!(lines[1].starts_with("cpu") && lines[1].contains("60 %"), "{text}");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&lines[4]).starts_with("the rest 4.00 µs 4.0 % 3.00 µs 0.3 %"), "{text}");
        assert_eq!(words(&lines[5]), "total 100 µs 1.00 ms", "{text}");
    }

    #[test]
    fn what_there_is_no_room_for_is_in_the_rest_which_adds_up() {
        let all = means(30.0, 40.0, 12.0, 8.0, 10.0);
        let slow = means(1.0, 2.0, 3.0, 90.0, 4.0);
        let (shown, rest) = split(&all, Some(&slow), 3);
        assert_eq!(shown, [Part::Cpu, Part::Unexplained, Part::Wire]);
        assert_eq!(rest, [Part::Sync, Part::Lock]);
        let (shown, rest) = split(&all, Some(&slow), 4);
        assert_eq!((shown.len(), rest.len()), (5, 0), "a rest of one is no shorter");
        let layout = PartLayout { most: 3, ..WITH_BARS };
        let lines = table(&all, None, layout).lines(98, |text, _| text.to_owned());
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&lines[1]), "cpu 40.0 µs 40 % ████ on a CPU in the database");
        assert_eq!(words(&lines[4]), "the rest 20.0 µs 20 % ██ together, 2 parts");
        assert_eq!(words(&lines[5]), "total 100 µs");
    }

    #[test]
    fn what_is_not_explained_is_not_hidden_in_the_rest() {
        let rest = |unexplained| split(&means(2.0, 60.0, 35.0, 3.0, unexplained), None, 5).1;
        assert_eq!(rest(1.0), [Part::Wire, Part::Lock, Part::Unexplained]);
        assert_eq!(rest(1.2), [Part::Wire, Part::Lock]);
        assert_eq!(rest(-0.9), [Part::Wire, Part::Lock, Part::Unexplained]);
        let small = split(&means(0.1, 60.0, 35.0, 0.2, -0.9), None, 5);
        assert_eq!(small.1, [Part::Wire, Part::Lock], "or the rest would be negative");
    }

    #[test]
    fn without_a_tail_there_is_one_column() {
        let table = table(&means(1.0, 98.0, 0.0, 0.0, 1.0), None, ALL_LARGE);
        let lines = table.lines(84, |text, _| text.to_owned());
        assert!(lines[0].contains("mean") && !lines[0].contains("slowest"), "{lines:?}");
        assert_eq!(lines.len(), 5, "{lines:?}");
    }
}
