//! Columns of text that never take more room than there is.

use super::bars::bar as signs;
use super::style::TextRole;
use crate::format::{clean, fit, width, wrap};
use crate::labels::distinct_labels;
use dbtime_model::plain_text::plain_lines;

/// The gap between two columns.
const GAP_COLUMNS: usize = 2;

/// The least a column is shrunk to.
const MIN_COLUMN: usize = 6;

/// Lines of what stands above a row across all columns.
const MAX_TITLE_LINES: usize = 3;

/// Before what stands below a row across all columns.
const DETAIL_INDENT: usize = 7;

/// What a column is headed with and how it stands.
#[derive(Clone, Debug)]
pub(crate) struct TextColumn {
    /// May hold line breaks.
    pub(crate) heading: String,
    pub(crate) right: bool,
    /// Whether a text that is too long goes on in the next line; others are cut.
    wraps: bool,
    /// Whether it is left out where there is too little room.
    pub(super) is_optional: bool,
    /// Whether it is shortened only when all others are as short as they can be.
    is_whole: bool,
    /// Whether different texts stay different where they are cut.
    stays_apart: bool,
}

impl TextColumn {
    /// A column of names.
    pub(crate) fn text(heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            right: false,
            wraps: false,
            is_optional: false,
            is_whole: false,
            stays_apart: false,
        }
    }

    /// A column of names that tell rows from each other, cut too.
    pub(crate) fn label(heading: &str) -> Self {
        Self { stays_apart: true, ..Self::text(heading) }
    }

    /// A column of texts that go on in the next line; single words that are too long are cut.
    pub(crate) fn wrapped(heading: &str) -> Self {
        Self { wraps: true, ..Self::text(heading) }
    }

    /// A column of figures.
    pub(crate) fn figure(heading: &str) -> Self {
        Self { right: true, ..Self::text(heading) }
    }

    /// The same, left out where there is too little room: what it says can be done without.
    pub(crate) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// The same, shortened last of all: cut it would be of no use.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// In which turn it gives way: names, then figures, then what is of use whole alone.
    fn turn(&self) -> u8 {
        match (self.is_whole, self.right) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TextCell {
    pub(crate) text: String,
    pub(crate) ink: TextRole,
    /// What a page has in the place of the text: markup of our making.
    pub(crate) markup: Option<String>,
    /// What is drawn, where the text is but a bar of signs.
    pub(crate) bar: Option<CellBar>,
}

/// A bar in a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellBar {
    /// Of the whole, 1 for all of it.
    share: f64,
    /// How long a bar of the whole is on a page of the usual width.
    columns: usize,
}

impl CellBar {
    /// How much of it is filled, if any. Shape: above 0 and up to 1.
    pub(crate) fn filled(self) -> Option<f64> {
        Some(self.share).filter(|share| share.is_finite() && *share > 0.0).map(|it| it.min(1.0))
    }
}

impl TextCell {
    /// A cell in its colour.
    pub(crate) fn new(text: impl Into<String>, ink: TextRole) -> Self {
        Self { text: text.into(), ink, markup: None, bar: None }
    }

    /// The same with markup of our making, which a page has in the place of the text.
    pub(crate) fn drawn(self, markup: String) -> Self {
        Self { markup: Some(markup), ..self }
    }

    /// A bar of this share of the whole, which would be `columns` long.
    pub(crate) fn bar(share: f64, columns: usize, ink: TextRole) -> Self {
        let bar = Some(CellBar { share, columns });
        Self { bar, ..Self::new(signs(share, columns), ink) }
    }
}

impl<T: Into<String>> From<T> for TextCell {
    fn from(text: T) -> Self {
        Self::new(text, TextRole::Plain)
    }
}

/// A line of a table below its headings.
#[derive(Clone, Debug)]
pub(crate) enum TextRow {
    /// A cell for each column.
    Cells(Vec<TextCell>),
    /// The same, which goes on with the row above it.
    More(Vec<TextCell>),
    /// What the rows below it belong to, across all columns.
    Group(String),
    /// What the row below it is about, across all columns, in a few lines.
    Title(String),
    /// More of the row above it, across all columns.
    Detail(String),
}

impl TextRow {
    /// The same with other texts.
    fn mapped(&self, map: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Cells(cells) => Self::Cells(mapped_cells(cells, map)),
            Self::More(cells) => Self::More(mapped_cells(cells, map)),
            Self::Group(text) => Self::Group(map(text)),
            Self::Title(text) => Self::Title(map(text)),
            Self::Detail(text) => Self::Detail(map(text)),
        }
    }
}

/// Cells with other texts.
fn mapped_cells(cells: &[TextCell], map: impl Fn(&str) -> String) -> Vec<TextCell> {
    let cell = |cell: &TextCell| TextCell { text: map(&cell.text), ..cell.clone() };
    cells.iter().map(cell).collect()
}

/// Rows under headings.
#[derive(Clone, Debug)]
pub(crate) struct ReportTable {
    pub(crate) columns: Vec<TextColumn>,
    pub(crate) rows: Vec<TextRow>,
}

impl ReportTable {
    pub(crate) fn new(columns: Vec<TextColumn>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<TextCell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(TextRow::Cells(cells));
    }

    /// Adds cells that go on with the row that was added last.
    pub(crate) fn more(&mut self, cells: Vec<TextCell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(TextRow::More(cells));
    }

    /// Adds a line that says what the rows below it belong to.
    pub(crate) fn group(&mut self, name: &str) {
        self.rows.push(TextRow::Group(name.to_owned()));
    }

    /// Adds what the row that is added next is about.
    pub(crate) fn title(&mut self, text: &str) {
        self.rows.push(TextRow::Title(text.to_owned()));
    }

    /// Adds more of the row that was added last.
    pub(crate) fn detail(&mut self, text: &str) {
        self.rows.push(TextRow::Detail(text.to_owned()));
    }

    /// The same with the first `most` rows of cells and what belongs to them.
    pub(crate) fn first_rows(&self, most: usize) -> Self {
        let mut left = most;
        let is_shown = |row: &&TextRow| match row {
            TextRow::Cells(_) if left == 0 => false,
            TextRow::Cells(_) => {
                left -= 1;
                true
            }
            TextRow::Group(_) | TextRow::Title(_) => left > 0,
            TextRow::More(_) | TextRow::Detail(_) => true,
        };
        let rows = self.rows.iter().take_while(is_shown).cloned().collect();
        Self { columns: self.columns.clone(), rows }
    }

    /// How many rows of cells there are.
    pub(crate) fn height(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, TextRow::Cells(_))).count()
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The narrowest room in which all stands whole but the last column, which has `last` columns.
    pub(crate) fn least(&self, last: usize) -> usize {
        let widths = self.natural();
        let Some((end, others)) = widths.split_last() else { return 0 };
        others.iter().sum::<usize>() + GAP_COLUMNS * others.len() + last.min(*end)
    }

    /// The same with bars of other lengths, each by the one that it has.
    pub(super) fn barred(mut self, columns: impl Fn(usize) -> usize) -> Self {
        let cells = self.rows.iter_mut().flat_map(|row| match row {
            TextRow::Cells(cells) | TextRow::More(cells) => cells.as_mut_slice(),
            TextRow::Group(_) | TextRow::Title(_) | TextRow::Detail(_) => &mut [],
        });
        for cell in cells {
            if let Some(bar) = cell.bar {
                cell.text = signs(bar.share, columns(bar.columns));
            }
        }
        self
    }

    /// The same with other signs in its texts.
    pub(super) fn spelled(&self, spell: impl Fn(&str) -> String) -> Self {
        self.mapped(&spell, &spell)
    }

    /// The same without signs that drive a terminal; lines break in headings alone.
    pub(crate) fn cleaned(&self) -> Self {
        self.mapped(|heading| plain_lines(heading).replace('\t', " "), clean)
    }

    fn mapped(&self, heading: impl Fn(&str) -> String, text: impl Fn(&str) -> String) -> Self {
        let column = |c: &TextColumn| TextColumn { heading: heading(&c.heading), ..c.clone() };
        let columns = self.columns.iter().map(column).collect();
        Self { columns, rows: self.rows.iter().map(|row| row.mapped(&text)).collect() }
    }

    /// The lines, none wider than `room` columns.
    pub(crate) fn lines(
        &self,
        room: usize,
        paint: impl Fn(&str, TextRole) -> String,
    ) -> Vec<String> {
        self.shaped(room).shaped_lines(room, paint)
    }

    fn shaped_lines(&self, room: usize, paint: impl Fn(&str, TextRole) -> String) -> Vec<String> {
        let widths = self.widths(room);
        let mut lines = self.headings(&widths, &paint);
        for row in &self.apart(&widths, room).rows {
            match row {
                TextRow::Cells(cells) | TextRow::More(cells) => {
                    self.row_lines(cells, &widths, &paint, &mut lines);
                }
                TextRow::Group(name) => lines.push(paint(&fit(name, room), TextRole::Plain)),
                TextRow::Title(text) => {
                    let text = wrap(text, room).into_iter().take(MAX_TITLE_LINES);
                    lines.extend(text.map(|line| paint(&line, TextRole::Plain)));
                }
                TextRow::Detail(text) => {
                    let text = wrap(text, room.saturating_sub(DETAIL_INDENT)).into_iter();
                    let indented = |line: String| format!("{:DETAIL_INDENT$}{line}", "");
                    lines.extend(text.map(|line| paint(&indented(line), TextRole::Plain)));
                }
            }
        }
        lines
    }

    /// The same with labels and groups that stay different where they are cut.
    fn apart(&self, widths: &[usize], room: usize) -> Self {
        let mut table = self.clone();
        let labels = (0..widths.len()).filter(|index| self.columns[*index].stays_apart);
        for index in labels {
            let cells = table.rows.iter_mut().filter_map(|row| match row {
                TextRow::Cells(cells) | TextRow::More(cells) => Some(&mut cells[index].text),
                TextRow::Group(_) | TextRow::Title(_) | TextRow::Detail(_) => None,
            });
            keep_apart(cells.collect(), widths[index]);
        }
        let groups = table.rows.iter_mut().filter_map(|row| match row {
            TextRow::Group(name) => Some(name),
            _ => None,
        });
        keep_apart(groups.collect(), room);
        table
    }

    /// A row's line, and those that its longest texts go on in.
    fn row_lines(
        &self,
        cells: &[TextCell],
        widths: &[usize],
        paint: &impl Fn(&str, TextRole) -> String,
        lines: &mut Vec<String>,
    ) {
        let texts: Vec<Vec<String>> = cells
            .iter()
            .zip(&self.columns)
            .zip(widths)
            .map(|((cell, column), width)| match column.wraps {
                true => wrapped(&cell.text, *width),
                false => vec![cell.text.clone()],
            })
            .collect();
        let height = texts.iter().map(Vec::len).max().unwrap_or(1).max(1);
        for at in 0..height {
            let line = texts
                .iter()
                .zip(cells)
                .map(|(texts, cell)| (texts.get(at).map_or("", String::as_str), cell.ink));
            lines.push(self.line(line, widths, paint));
        }
    }

    fn headings(&self, widths: &[usize], paint: &impl Fn(&str, TextRole) -> String) -> Vec<String> {
        let split: Vec<Vec<&str>> =
            self.columns.iter().map(|c| c.heading.split('\n').collect()).collect();
        let height = split.iter().map(Vec::len).max().unwrap_or(0);
        let row = |at: usize| {
            // Headings stand on their columns: short ones sink to the last line.
            let cells = split.iter().map(|lines| {
                let text = (at + lines.len()).checked_sub(height).map_or("", |line| lines[line]);
                (text, TextRole::Dim)
            });
            self.line(cells, widths, paint)
        };
        (0..height).map(row).filter(|line| !line.is_empty()).collect()
    }

    fn line<'a>(
        &self,
        cells: impl Iterator<Item = (&'a str, TextRole)>,
        widths: &[usize],
        paint: &impl Fn(&str, TextRole) -> String,
    ) -> String {
        let mut line = String::new();
        let mut gap = 0;
        for (((text, ink), column), columns) in cells.zip(&self.columns).zip(widths) {
            let text = fit(text, *columns);
            let pad = columns - width(&text);
            let before = if column.right { gap + pad } else { gap };
            if !text.is_empty() {
                line.push_str(&" ".repeat(before));
                line.push_str(&paint(&text, ink));
                gap = if column.right { GAP_COLUMNS } else { GAP_COLUMNS + pad };
            } else {
                gap += columns + GAP_COLUMNS;
            }
        }
        line
    }

    /// Natural widths, the widest column shrunk until the row fits, by [`TextColumn::turn`]: a
    /// later turn only where the ones before cannot make room.
    fn widths(&self, room: usize) -> Vec<usize> {
        let mut widths = self.natural();
        let gaps = GAP_COLUMNS * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > room {
            let shrink = |turn: u8| {
                let columns = widths.iter().enumerate();
                let open =
                    columns.filter(|&(i, w)| *w > MIN_COLUMN && self.columns[i].turn() == turn);
                open.max_by_key(|(_, w)| **w).map(|(i, _)| i)
            };
            match (0..=2).find_map(shrink) {
                Some(index) => widths[index] -= 1,
                None => break,
            }
        }
        widths
    }

    /// What each column would take if there were room.
    fn natural(&self) -> Vec<usize> {
        let natural = |(index, column): (usize, &TextColumn)| {
            let heading = column.heading.split('\n').map(width).max().unwrap_or(0);
            heading.max(self.cell_width(index))
        };
        self.columns.iter().enumerate().map(natural).collect()
    }

    /// The widest cell of a column.
    pub(super) fn cell_width(&self, index: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| match row {
            TextRow::Cells(cells) | TextRow::More(cells) => Some(width(&cells[index].text)),
            TextRow::Group(_) | TextRow::Title(_) | TextRow::Detail(_) => None,
        });
        cells.max().unwrap_or(0)
    }

    /// What all columns take if there is room, with names cut to `short` columns; of those that go
    /// on in the next line their longest words.
    pub(super) fn whole_of(&self, short: Option<usize>) -> usize {
        let widths = self.natural().into_iter().zip(&self.columns).enumerate();
        let wide = |(index, (width, column)): (usize, (usize, &TextColumn))| match short {
            Some(short) if column.wraps => width.min(self.longest_word(index).max(short)),
            Some(short) if column.turn() == 0 && !column.is_optional => width.min(short),
            _ => width,
        };
        widths.map(wide).sum::<usize>() + GAP_COLUMNS * self.columns.len().saturating_sub(1)
    }

    /// The widest word of a column, with the room that a word of a later line needs.
    fn longest_word(&self, index: usize) -> usize {
        let words = self.rows.iter().flat_map(|row| match row {
            TextRow::Cells(cells) | TextRow::More(cells) => cells[index].text.split(' ').collect(),
            TextRow::Group(_) | TextRow::Title(_) | TextRow::Detail(_) => Vec::new(),
        });
        words.map(width).max().unwrap_or(0) + INDENT.len()
    }
}

/// Cuts texts to so many columns, different ones to different labels.
fn keep_apart(texts: Vec<&mut String>, columns: usize) {
    let labels = distinct_labels(&texts, columns);
    for (text, label) in texts.into_iter().zip(labels) {
        *text = label;
    }
}

/// Before what follows the first line of a text.
const INDENT: &str = "  ";

/// A text in lines of at most `room` columns, broken between words; what follows the first line is
/// indented.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{INDENT}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &ReportTable, room: usize) -> String {
        table.lines(room, |text, _| text.to_owned()).join("\n")
    }

    #[test]
    fn names_give_way_before_figures() {
        let mut table =
            ReportTable::new(vec![TextColumn::text("Name"), TextColumn::figure("Mean\ntime")]);
        table.row(vec!["a rather long name".into(), "123".into()]);
        table.row(vec!["b".into(), "".into()]);
        assert_eq!(
            plain(&table, 99),
            "                    Mean\nName                time\na rather long name   123\nb"
        );
        assert_eq!(plain(&table, 16), "            Mean\nName        time\na rather…    123\nb");
    }

    #[test]
    fn a_long_text_goes_on_in_the_next_line() {
        let mut table =
            ReportTable::new(vec![TextColumn::figure("n"), TextColumn::wrapped("Text")]);
        table.row(vec!["1".into(), "SELECT c FROM t WHERE id=?".into()]);
        table.row(vec!["22".into(), "COMMIT".into()]);
        assert_eq!(
            plain(&table, 18),
            " n  Text\n 1  SELECT c FROM\n      t WHERE id=?\n22  COMMIT"
        );
    }

    #[test]
    fn a_group_widens_no_column() {
        let mut table = ReportTable::new(vec![TextColumn::text("Name"), TextColumn::figure("n")]);
        table.group("a group of rows");
        table.row(vec!["b".into(), "1".into()]);
        assert_eq!(plain(&table, 99), "Name  n\na group of rows\nb     1");
        assert_eq!(plain(&table, 8), "Name  n\na group…\nb     1");
    }

    #[test]
    fn labels_and_groups_that_differ_at_their_end_do_so_where_they_are_cut() {
        let mut table =
            ReportTable::new(vec![TextColumn::label("Target"), TextColumn::figure("tps")]);
        table.row(vec!["sqlite:?synchronous=off".into(), "12".into()]);
        table.row(vec!["sqlite:?synchronous=full".into(), "8".into()]);
        assert_eq!(plain(&table, 15), "Target      tps\n…off         12\n…full         8");
        table.group("a group of rows: 1");
        table.group("a group of rows: 2");
        assert!(plain(&table, 15).ends_with("\n…1\n…2"), "{}", plain(&table, 15));
    }
}
