//! Tables that do not fit: headings are broken first, then columns left out that can be done
//! without, unless it is long names alone that take the room; only then are texts cut.

use super::table::{ReportTable, TextRow};
use crate::format::width;
use std::borrow::Cow;

/// Names are rather cut to so many columns than that a figure is left out.
const SHORT_COLUMNS: usize = 12;

impl ReportTable {
    /// The table as it is laid out in `room` columns.
    pub(super) fn shaped(&self, room: usize) -> Cow<'_, Self> {
        if self.whole_of(None) <= room {
            return Cow::Borrowed(self);
        }
        let mut shaped = self.clone();
        shaped.break_headings();
        while shaped.least_whole() > room && shaped.leave_out_widest() {}
        Cow::Owned(shaped)
    }

    /// Breaks headings between words where they alone make a column wide.
    fn break_headings(&mut self) {
        let cells: Vec<usize> =
            (0..self.columns.len()).map(|index| self.cell_width(index)).collect();
        for (column, cells) in self.columns.iter_mut().zip(cells) {
            let pieces = column.heading.split('\n').flat_map(pieces);
            let longest = pieces.map(|piece| width(piece.trim_end())).max().unwrap_or(0);
            let lines = column.heading.split('\n').map(|line| broken(line, cells.max(longest)));
            column.heading = lines.collect::<Vec<_>>().join("\n");
        }
    }

    /// Leaves out the widest of the columns that may be missing.
    fn leave_out_widest(&mut self) -> bool {
        let optional = (0..self.columns.len()).filter(|index| self.columns[*index].is_optional);
        // The first of equals: what stands to the right is more to the point.
        let Some(index) = optional.rev().max_by_key(|index| self.cell_width(*index)) else {
            return false;
        };
        self.remove(index);
        true
    }

    /// Leaves columns out, by their headings and in this order, until the others stand in `room`
    /// columns with no more cut than long names. Returns those that are gone.
    pub(super) fn leave_out<'a>(&mut self, order: &[&'a str], room: usize) -> Vec<&'a str> {
        let mut gone = Vec::new();
        for name in order {
            let mut shaped = self.clone();
            shaped.break_headings();
            if shaped.least_whole() <= room {
                break;
            }
            if let Some(index) = self.columns.iter().position(|column| column.heading == *name) {
                self.remove(index);
                gone.push(*name);
            }
        }
        gone
    }

    /// What all columns take with long names cut.
    pub(super) fn least_whole(&self) -> usize {
        self.whole_of(Some(SHORT_COLUMNS))
    }

    fn remove(&mut self, index: usize) {
        self.columns.remove(index);
        for row in &mut self.rows {
            if let TextRow::Cells(cells) | TextRow::More(cells) = row {
                cells.remove(index);
            }
        }
    }
}

/// Where a heading may be broken: behind a blank or a stroke, which stays at the end of its piece.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive([' ', '/'])
}

/// A heading in lines of at most `room` columns.
fn broken(heading: &str, room: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces(heading) {
        match lines.last_mut() {
            Some(line) if width(line) + width(piece.trim_end()) <= room => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::table::TextColumn;
    use super::*;

    #[test]
    fn headings_break_and_columns_go_before_a_text_is_cut() {
        let mut table = ReportTable::new(vec![
            TextColumn::text("Name"),
            TextColumn::figure("Share").optional(),
            TextColumn::figure("Time per op (ns)"),
        ]);
        table.row(vec!["a long name".into(), "12 %".into(), "123,456".into()]);
        let plain = |room| table.lines(room, |text, _| text.to_owned()).join("\n");
        assert!(plain(40).starts_with("Name         Share  Time per op (ns)\n"));
        let broken = plain(30);
        assert!(broken.contains("Share") && !broken.contains("Time per op ("), "{broken}");
        let left_out = plain(24);
        assert!(!left_out.contains("Share") && left_out.contains("a long name"), "{left_out}");
        assert!(plain(15).contains('…'));
    }
}
