//! A table as a client printed it.

/// A table as it was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PrintedTable {
    /// Its heading.
    pub(super) columns: Vec<String>,
    /// Its rows; a row may have more or fewer cells than there are columns.
    pub(super) rows: Vec<Vec<String>>,
}

/// The cells of a line, without the blanks around them.
pub(super) fn split(line: &str, by: char) -> Vec<String> {
    line.split(by).map(|cell| cell.trim().to_owned()).collect()
}
