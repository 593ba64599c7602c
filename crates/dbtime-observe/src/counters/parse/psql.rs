//! What `psql` prints: columns under each other, between bars (`-A`), or a line per column (`-x`).
//! Its comma-separated form is read with those of all others.

use super::printed_table::{PrintedTable, records, split};

/// Whether a line is the rule under a heading: `----+-----`.
pub(super) fn is_rule(line: &str) -> bool {
    line.starts_with("---") && line.bytes().all(|byte| b"-+".contains(&byte))
}

/// The line under the last row: `(5 rows)`.
fn is_footer(line: &str) -> bool {
    let count = line.strip_prefix('(').and_then(|line| line.strip_suffix(')'));
    let count = count.and_then(|line| line.strip_suffix(" rows").or(line.strip_suffix(" row")));
    count.is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A heading, a rule with a cross between two columns, and rows. Cells are cut where the crosses
/// are, for they may hold bars.
pub(super) fn aligned(lines: &[&str]) -> (PrintedTable, usize) {
    let rule = lines.get(1).copied().unwrap_or_default();
    let crosses: Vec<usize> = rule.match_indices('+').map(|(at, _)| at).collect();
    let rows = lines.iter().skip(2).take_while(|line| !line.is_empty() && !is_footer(line));
    let rows: Vec<_> = rows.map(|line| cut(line, &crosses)).collect();
    let taken = 2 + rows.len();
    (PrintedTable { columns: split(lines[0], '|'), rows }, taken.min(lines.len()))
}

/// The cells of a line between columns. Where other characters than a bar stand there, wide ones
/// have shifted it, and the bars themselves are taken.
fn cut(line: &str, crosses: &[usize]) -> Vec<String> {
    let chars: Vec<(usize, char)> = line.char_indices().collect();
    let mut cells = Vec::with_capacity(crosses.len() + 1);
    let mut from = 0;
    for cross in crosses {
        match chars.get(*cross) {
            Some((at, '|')) => {
                cells.push(line[from..*at].trim().to_owned());
                from = at + 1;
            }
            _ => return split(line, '|'),
        }
    }
    cells.push(line[from..].trim().to_owned());
    cells
}

/// A heading and rows, between bars.
pub(super) fn unaligned(lines: &[&str]) -> (PrintedTable, usize) {
    let rows = lines.iter().skip(1).take_while(|line| line.contains('|'));
    let rows: Vec<_> = rows.map(|line| split(line, '|')).collect();
    let taken = 1 + rows.len();
    (PrintedTable { columns: split(lines[0], '|'), rows }, taken)
}

/// Whether a line heads a record: `-[ RECORD 7 ]-+-----`.
pub(super) fn is_record(line: &str) -> bool {
    line.starts_with("-[ RECORD ")
}

/// Records of a line per column, its name before a bar.
pub(super) fn expanded(lines: &[&str]) -> (PrintedTable, usize) {
    records(lines, is_record, named_cell, |_| false)
}

fn named_cell(line: &str) -> Option<(&str, &str)> {
    line.split_once('|').map(|(name, value)| (name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_cut_where_the_crosses_are() {
        let text = " n  | v  | w \n----+----+---\n a  | 1  | é\n b|c| 2  |\n(2 rows)\n";
        let (grid, taken) = aligned(&text.lines().collect::<Vec<_>>());
        assert_eq!(grid.columns, ["n", "v", "w"]);
        assert_eq!(grid.rows, [["a", "1", "é"], ["b|c", "2", ""]]);
        assert_eq!(taken, 4);
    }

    #[test]
    fn wide_characters_do_not_shift_the_cells() {
        assert_eq!(cut("字 | 1", &[4]), ["字", "1"]);
    }

    #[test]
    fn records_have_a_line_per_column() {
        let text = "-[ RECORD 1 ]-\nn | a\nv | 1\n-[ RECORD 2 ]-\nn | b\nv | \n\nrest";
        let (grid, taken) = expanded(&text.lines().collect::<Vec<_>>());
        assert_eq!((grid.columns.len(), taken), (2, 6));
        assert_eq!(grid.rows, [["a", "1"], ["b", ""]]);
    }

    #[test]
    fn footers_are_no_rows() {
        assert!(is_footer("(1 row)") && is_footer("(12 rows)") && !is_footer("(x rows)"));
    }
}
