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

/// Records of a line per column, and how many lines they took. Lines without a name and a value go
/// on with the cell before them where they may, and else end the records.
pub(super) fn records(
    lines: &[&str],
    is_record: fn(&str) -> bool,
    named_cell: fn(&str) -> Option<(&str, &str)>,
    goes_on: fn(&str) -> bool,
) -> (PrintedTable, usize) {
    let mut grid = PrintedTable::default();
    let mut taken = 0;
    for line in lines {
        if is_record(line) {
            grid.rows.push(Vec::new());
        } else if let Some((name, value)) = named_cell(line) {
            let is_first = grid.rows.len() == 1;
            let Some(row) = grid.rows.last_mut() else { break };
            row.push(value.to_owned());
            if is_first {
                grid.columns.push(name.to_owned());
            }
        } else if !goes_on(line) {
            break;
        } else if let Some(cell) = grid.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push('\n');
            cell.push_str(line);
        }
        taken += 1;
    }
    (grid, taken)
}
