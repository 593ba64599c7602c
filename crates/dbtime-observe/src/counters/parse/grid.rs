//! Tables as texts: which form a line begins, and what stands in it.

use super::printed_table::{PrintedTable, split};
use super::{client, psql};
use crate::counters::{global_status, postgres};

/// Reads a table from the lines it begins with: the table, and how many lines it took (at least
/// one).
type GridReader = fn(&[&str]) -> (PrintedTable, usize);

/// Every table of a text. Lines that belong to none are passed over.
pub(super) fn grids(text: &str) -> Vec<PrintedTable> {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let mut grids = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let rest = &lines[at..];
        if let Some(read) = reader(rest) {
            let (grid, taken) = read(rest);
            grids.push(grid);
            at += taken.max(1);
        } else if rest[0].contains(',') && is_heading(&split(rest[0], ',')) {
            grids.extend(comma_separated(&rest.join("\n")));
            break;
        } else {
            at += 1;
        }
    }
    grids
}

fn reader(lines: &[&str]) -> Option<GridReader> {
    let line = lines[0];
    match line {
        _ if line.starts_with("+-") => Some(client::boxed),
        _ if client::is_record(line) => Some(client::vertical),
        _ if psql::is_record(line) => Some(psql::expanded),
        _ if line.contains('\t') => Some(client::tabs),
        _ if lines.get(1).is_some_and(|next| psql::is_rule(next)) => Some(psql::aligned),
        _ if line.contains('|') => Some(psql::unaligned),
        _ => None,
    }
}

/// Whether these are the columns of something known.
fn is_heading(cells: &[String]) -> bool {
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    cells == global_status::COLUMNS || postgres::view_of(&cells).is_some()
}

/// Comma-separated tables after each other, as `psql --csv` prints several.
fn comma_separated(text: &str) -> Vec<PrintedTable> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut grids: Vec<PrintedTable> = Vec::new();
    for record in reader.records().map_while(Result::ok) {
        let cells: Vec<String> = record.iter().map(str::to_owned).collect();
        match grids.last_mut() {
            Some(grid) if !is_heading(&cells) => grid.rows.push(cells),
            _ => grids.push(PrintedTable { columns: cells, rows: Vec::new() }),
        }
    }
    grids
}
