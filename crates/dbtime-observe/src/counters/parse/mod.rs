//! Samples in files: saved by dbtime, or printed by the databases' own clients.
//!
//! Nothing in a file is believed but what it must say: its first characters or the heading of a
//! table decide what it is, and no bytes make the reader panic.

mod client;
mod grid;
mod printed_table;
mod psql;

use super::rows::{CounterCell, add_rows};
use super::{global_status, postgres};
use dbtime_model::Product;
use dbtime_model::counters::{CounterDocument, CounterSample, CounterSource, DocumentError};
use printed_table::PrintedTable;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// No file of counters is larger: ten thousand statements of PostgreSQL take a tenth of it.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Why bytes are no sample.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// There is nothing.
    #[error("is empty")]
    Empty,
    /// It begins like a saved sample.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It is nothing that is known.
    #[error(
        "holds no counters that dbtime knows: it reads samples saved with --save, `show global \
         status` as mysql and mysqladmin print it, and `select * from pg_stat_…` as psql does"
    )]
    Unknown,
    /// The same counters stand there twice.
    #[error("holds more than one sample: put each into a file of its own")]
    TwoSamples,
}

/// Why a file is no sample.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is larger than any sample.
    #[error(
        "{0} is larger than {limit} MiB: that is no sample of counters",
        limit = MAX_FILE_BYTES >> 20
    )]
    TooLarge(PathBuf),
    /// It holds something else.
    #[error("{path} {source}")]
    Parse {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: ParseError,
    },
}

/// Reads a file: a sample, or a report that dbtime wrote.
///
/// Errors: [`FileError`] names the file, and what would have been read.
pub fn read(path: &Path) -> Result<CounterDocument, FileError> {
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    parse(&bytes).map_err(|source| FileError::Parse { path: path.to_owned(), source })
}

/// Reads the bytes of a file: a document of dbtime, or tables as clients print them. Bytes that are
/// no UTF-8 are replaced.
pub fn parse(bytes: &[u8]) -> Result<CounterDocument, ParseError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    if text.trim_start().starts_with('{') {
        return Ok(CounterDocument::read(text)?);
    }
    of_grids(&grid::grids(text)).map(CounterDocument::CounterSample)
}

fn of_grids(grids: &[PrintedTable]) -> Result<CounterSample, ParseError> {
    let mut variables = grids.iter().filter(|grid| is_global_status(grid));
    let views: Vec<_> = grids.iter().filter_map(|grid| Some((view(grid)?, grid))).collect();
    let mut sample = match (variables.next(), views.is_empty()) {
        (None, true) => return Err(ParseError::Unknown),
        (Some(_), false) => return Err(ParseError::TwoSamples),
        (Some(grid), true) => of_variables(grid),
        (None, false) => of_views(&views)?,
    };
    if variables.next().is_some() {
        return Err(ParseError::TwoSamples);
    }
    sample.groups.retain(|_, counters| !counters.is_empty());
    if sample.count() == 0 { Err(ParseError::Unknown) } else { Ok(sample) }
}

/// Without a heading (`mysql -N`), two columns of which one has the uptime.
fn is_global_status(grid: &PrintedTable) -> bool {
    const TABLE: [&str; 2] = ["VARIABLE_NAME", "VARIABLE_VALUE"];
    let is = |names: [&str; 2]| grid.columns == names;
    let is_bare = grid.columns.len() == 2
        && grid.rows.iter().any(|row| row.first().is_some_and(|name| name == "Uptime"));
    is(global_status::COLUMNS) || is(TABLE) || is_bare
}

fn of_variables(grid: &PrintedTable) -> CounterSample {
    let is_headed = global_status::COLUMNS[0].eq_ignore_ascii_case(&grid.columns[0]);
    let heading = Some(&grid.columns).filter(|_| !is_headed);
    let cells = |row: &Vec<String>| row.iter().cloned().map(Some).collect();
    let rows: Vec<Vec<CounterCell>> = heading.into_iter().chain(&grid.rows).map(cells).collect();
    let mut sample = empty(Product::Mysql);
    add_rows(&mut sample, global_status::GROUP, &global_status::COLUMNS, &rows);
    if global_status::is_of_mariadb(&sample) {
        sample.source.product = Product::Mariadb;
    }
    sample
}

fn view(grid: &PrintedTable) -> Option<&'static str> {
    let columns: Vec<&str> = grid.columns.iter().map(String::as_str).collect();
    postgres::view_of(&columns).map(|view| view.name)
}

fn of_views(views: &[(&'static str, &PrintedTable)]) -> Result<CounterSample, ParseError> {
    let mut sample = empty(Product::Postgres);
    for (index, (name, grid)) in views.iter().enumerate() {
        if views[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(ParseError::TwoSamples);
        }
        // psql prints NULL as nothing.
        let cell = |text: &String| (!text.is_empty()).then(|| text.clone());
        let rows: Vec<Vec<CounterCell>> =
            grid.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        add_rows(&mut sample, name, &grid.columns, &rows);
    }
    Ok(sample)
}

fn empty(product: Product) -> CounterSample {
    CounterSample::new(CounterSource { product, version: None, url: None })
}
