//! What `mysql` and `mysqladmin` print: columns between tabs (`-B`), in a box (`-t`), or a line per
//! column (`-E`, `\G`).

use super::printed_table::{PrintedTable, records, split};

/// Lines of cells between tabs. Control characters in them are escaped.
pub(super) fn tabs(lines: &[&str]) -> (PrintedTable, usize) {
    let cells = |line: &&str| line.split('\t').map(unescaped).collect::<Vec<_>>();
    let rows = lines.iter().take_while(|line| line.contains('\t'));
    let mut rows: Vec<_> = rows.map(cells).collect();
    let taken = rows.len();
    let columns = rows.remove(0);
    (PrintedTable { columns, rows }, taken)
}

fn unescaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(escaped @ ('n' | 't' | '0' | '\\'))) => {
                chars.next();
                text.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    '0' => '\0',
                    _ => '\\',
                });
            }
            _ => text.push(c),
        }
    }
    text
}

/// A box drawn with `+`, `-` and `|`: an edge, the heading, an edge, rows, an edge. A cell with
/// line breaks is continued on lines that begin with neither.
pub(super) fn boxed(lines: &[&str]) -> (PrintedTable, usize) {
    let mut grid = PrintedTable::default();
    let (mut edges, mut taken) = (0, 0);
    for line in lines {
        if line.starts_with("+-") {
            edges += 1;
        } else if line.is_empty() {
            break;
        } else if let Some(inside) = line.strip_prefix('|') {
            let inside = inside.trim_end().strip_suffix('|').unwrap_or(inside);
            if grid.columns.is_empty() {
                grid.columns = split(inside, '|');
            } else {
                // The last cell may hold what looks like an edge.
                let cells = inside.splitn(grid.columns.len(), '|');
                grid.rows.push(cells.map(|cell| cell.trim().to_owned()).collect());
            }
        } else if let Some(cell) = grid.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push('\n');
            cell.push_str(line.trim_end_matches(['|', ' ']));
        } else {
            break;
        }
        taken += 1;
        if edges == 3 {
            break;
        }
    }
    (grid, taken)
}

/// Whether a line heads a record: `***…*** 7. row ***…***`.
pub(super) fn is_record(line: &str) -> bool {
    line.starts_with("***") && line.ends_with("***") && line.contains(". row ")
}

/// Records of a line per column, its name before a colon. All other lines go on with a cell.
pub(super) fn vertical(lines: &[&str]) -> (PrintedTable, usize) {
    records(lines, is_record, named_cell, |line| !line.is_empty())
}

fn named_cell(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':').map(|(name, value)| (name.trim(), value))?;
    (!name.contains(' ')).then_some((name, value.strip_prefix(' ').unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.lines().collect()
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescaped(r"a\nb\\n\tc\x\"), "a\nb\\n\tc\\x\\");
    }

    #[test]
    fn a_box_may_hold_lines_and_edges() {
        let text = "+---+------+\n| n | v    |\n+---+------+\n| a | 1 | 2 |\n| k | one\ntwo |\n\
                    +---+------+\nrest";
        let (grid, taken) = boxed(&lines(text));
        assert_eq!(grid.columns, ["n", "v"]);
        assert_eq!(grid.rows, [["a", "1 | 2"], ["k", "one\ntwo"]]);
        assert_eq!(taken, 7);
    }

    #[test]
    fn records_have_a_line_per_column() {
        let text =
            "*** 1. row ***\n  n: a\n  v: 1: 2\n*** 2. row ***\n  n: k\n  v: one\ntwo\n\nrest";
        let (grid, taken) = vertical(&lines(text));
        assert_eq!(grid.columns, ["n", "v"]);
        assert_eq!(grid.rows, [["a", "1: 2"], ["k", "one\ntwo"]]);
        assert_eq!(taken, 7);
    }
}
