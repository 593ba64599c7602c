//! Rows of values that keys are drawn from, with what stands at their edges.

use dbtime_load::program::SqlValue;
use std::cmp::Ordering;

/// Rows, of which there is one at least.
#[derive(Debug)]
pub(super) struct ValueRows {
    /// Row by row.
    cells: Vec<SqlValue>,
    /// Values of each row.
    width: usize,
    /// The numbers of all rows in the order of their values, NULL first.
    sorted: Vec<usize>,
}

impl ValueRows {
    /// Of texts, row by row, `None` for NULL, and so many to each row. A column in which all are
    /// whole numbers is one of numbers. `None`: there are no rows.
    pub(super) fn of(texts: Vec<Option<String>>, width: usize) -> Option<Self> {
        if texts.is_empty() || width == 0 || !texts.len().is_multiple_of(width) {
            return None;
        }
        let is_numeric = |column: usize| {
            let mut column = texts.iter().skip(column).step_by(width).flatten();
            column.all(|text| whole_number(text).is_some())
        };
        let numeric: Vec<bool> = (0..width).map(is_numeric).collect();
        let value = |(at, text): (usize, Option<String>)| match text {
            None => SqlValue::Null,
            Some(text) => match whole_number(&text).filter(|_| numeric[at % width]) {
                Some(number) => SqlValue::Integer(number),
                None => SqlValue::Text(text),
            },
        };
        Some(Self::of_values(texts.into_iter().enumerate().map(value).collect(), width))
    }

    /// Of values, row by row, for one row at least, and so many to each row, of which there is one
    /// at least.
    pub(super) fn of_values(cells: Vec<SqlValue>, width: usize) -> Self {
        let mut sorted: Vec<usize> = (0..cells.len() / width).collect();
        let mut rows = Self { cells, width, sorted: Vec::new() };
        sorted.sort_by(|a, b| order_of_rows(rows.row(*a), rows.row(*b)));
        rows.sorted = sorted;
        rows
    }

    /// How many.
    pub(super) fn count(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// The row of this number, which is below [`Self::count`].
    pub(super) fn row(&self, index: usize) -> &[SqlValue] {
        &self.cells[index * self.width..][..self.width]
    }

    /// The row in the middle of their order.
    pub(super) fn middle(&self) -> &[SqlValue] {
        self.row(self.sorted[self.sorted.len() / 2])
    }

    /// How many differ.
    pub(super) fn distinct(&self) -> u64 {
        self.alike().count() as u64
    }

    /// Rows at the edges, some of them perhaps twice: of values that are in no column, with NULL
    /// for one value and the others of the middle row, the least, the greatest, the most and the
    /// least frequent.
    pub(super) fn edges(&self) -> Vec<Vec<SqlValue>> {
        let mut edges = vec![(0..self.width).map(|column| self.absent(column)).collect()];
        for column in 0..self.width {
            let mut row = self.middle().to_vec();
            row[column] = SqlValue::Null;
            edges.push(row);
        }
        let is_value = |row: &&usize| self.row(**row)[0] != SqlValue::Null;
        let least = self.sorted.iter().find(is_value).or(self.sorted.first());
        let most_frequent = self.alike().max_by_key(|rows| rows.len());
        let least_frequent = self.alike().min_by_key(|rows| rows.len());
        let frequent = [most_frequent, least_frequent].map(|rows| rows.and_then(<[usize]>::first));
        let found = [least, self.sorted.last()].into_iter().chain(frequent).flatten();
        edges.extend(found.map(|row| self.row(*row).to_vec()));
        edges
    }

    /// The numbers of rows that are alike, by their order.
    fn alike(&self) -> impl Iterator<Item = &[usize]> {
        self.sorted.chunk_by(move |a, b| self.row(*a) == self.row(*b))
    }

    /// A value beyond all of a column.
    fn absent(&self, column: usize) -> SqlValue {
        let values = || self.cells.iter().skip(column).step_by(self.width);
        match values().max_by(|a, b| order_of(a, b)) {
            Some(SqlValue::Integer(i64::MAX)) => {
                let numbers = values().filter(|value| **value != SqlValue::Null);
                match numbers.min_by(|a, b| order_of(a, b)) {
                    Some(SqlValue::Integer(least)) => SqlValue::Integer(least.wrapping_sub(1)),
                    _ => SqlValue::Null,
                }
            }
            Some(SqlValue::Integer(greatest)) => SqlValue::Integer(greatest + 1),
            Some(SqlValue::Text(greatest)) => SqlValue::Text(format!("{greatest}~")),
            _ => SqlValue::Null,
        }
    }
}

/// The number that this is, and is written as.
fn whole_number(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}

fn order_of_rows(a: &[SqlValue], b: &[SqlValue]) -> Ordering {
    let differ = a.iter().zip(b).map(|(a, b)| order_of(a, b)).find(|order| order.is_ne());
    differ.unwrap_or(Ordering::Equal)
}

/// NULL before numbers before texts, which are in the order of their bytes.
fn order_of(a: &SqlValue, b: &SqlValue) -> Ordering {
    let class = |value: &SqlValue| match value {
        SqlValue::Null => 0,
        SqlValue::Integer(_) => 1,
        SqlValue::Real(_) => 2,
        SqlValue::Text(_) => 3,
    };
    match (a, b) {
        (SqlValue::Integer(a), SqlValue::Integer(b)) => a.cmp(b),
        (SqlValue::Real(a), SqlValue::Real(b)) => a.total_cmp(b),
        (SqlValue::Text(a), SqlValue::Text(b)) => a.cmp(b),
        _ => class(a).cmp(&class(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[Option<&str>], width: usize) -> ValueRows {
        let texts = texts.iter().map(|text| text.map(str::to_owned)).collect();
        ValueRows::of(texts, width).expect("rows")
    }

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    #[test]
    fn a_column_of_whole_numbers_has_numbers() {
        let found = rows(&[Some("7"), Some("07"), None, Some("-3"), Some("12"), Some("1.5")], 2);
        assert_eq!(found.row(0), [SqlValue::Integer(7), text("07")]);
        assert_eq!(found.row(2), [SqlValue::Integer(12), text("1.5")]);
        let found = rows(&[Some("7"), Some("x"), None, Some("1")], 2);
        assert_eq!(found.row(1), [SqlValue::Null, text("1")]);
        assert_eq!(found.row(0), [SqlValue::Integer(7), text("x")]);
    }

    #[test]
    fn edges_are_those_of_the_values() {
        let texts = [Some("5"), Some("9"), Some("5"), None, Some("2"), Some("2"), Some("2")];
        let found = rows(&texts, 1);
        let [absent, null] = [SqlValue::Integer(10), SqlValue::Null];
        let [least, greatest] = [SqlValue::Integer(2), SqlValue::Integer(9)];
        let expected = [absent, null.clone(), least.clone(), greatest, least, null];
        assert_eq!(found.edges(), expected.map(|value| vec![value]));
        assert_eq!((found.count(), found.distinct()), (7, 4));
        assert_eq!(found.middle(), [SqlValue::Integer(2)]);
    }

    #[test]
    fn values_that_come_together_have_edges_together() {
        let texts = [Some("b"), Some("1"), Some("a"), Some("9"), Some("c"), Some("4")];
        let edges = rows(&texts, 2).edges();
        assert_eq!(edges[0], [text("c~"), SqlValue::Integer(10)]);
        assert_eq!(edges[1], [SqlValue::Null, SqlValue::Integer(1)]);
        assert_eq!(edges[2], [text("b"), SqlValue::Null]);
        assert_eq!(edges[3], [text("a"), SqlValue::Integer(9)]);
        assert_eq!(edges[4], [text("c"), SqlValue::Integer(4)]);
    }

    #[test]
    fn beyond_the_greatest_number_there_is_the_least() {
        let greatest = i64::MAX.to_string();
        let edges = rows(&[Some(greatest.as_str()), Some("3")], 1).edges();
        assert_eq!(edges[0], [SqlValue::Integer(2)]);
        assert_eq!(rows(&[None], 1).edges()[0], [SqlValue::Null]);
        assert!(ValueRows::of(Vec::new(), 1).is_none());
    }
}
