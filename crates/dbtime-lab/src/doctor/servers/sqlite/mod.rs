//! Checks of an SQLite database, with the settings that dbtime's connections to it have.

mod file;
mod settings;
#[cfg(test)]
mod tests;

use super::check::ServerCheck;
use super::examined::{AnswerRows, ExaminedServer, SETTINGS};
use super::login::memory_bytes;
use dbtime_engines::databases::sqlite::{SqliteExamination, SqliteTarget};

/// All of them, by families.
pub(super) const CHECKS: &[&[ServerCheck]] = &[settings::CHECKS, file::CHECKS];

/// Names of what was read of the file.
const CONTENTS: [&str; 2] = ["statistics", "large tables without statistics"];

/// Why nothing is known of large tables.
const PARTIAL: &str = "the first tables have statistics or few rows; there are more than 200, or \
                       looking at them took longer than 0.3 s";

/// Reads a database that is there.
pub(super) fn examined(target: &SqliteTarget) -> ExaminedServer {
    taken(SqliteExamination::of(target), memory_bytes())
}

/// What was read, as rules look at it.
fn taken(found: SqliteExamination, memory_bytes: u64) -> ExaminedServer {
    let mut examined =
        ExaminedServer { memory_bytes: Some(memory_bytes), ..ExaminedServer::default() };
    examined.settings = found.settings;
    examined.is_log_left = found.is_log_left;
    let figures = [
        ("file_bytes", found.file_bytes.to_string()),
        ("wal_bytes", found.wal_bytes.to_string()),
        ("file_system", found.file_system),
    ];
    examined.counters = figures.map(|(name, text)| (name.to_owned(), text)).into();
    examined.take("compile options", rows(found.compile_options));
    examined.take("holder", rows(found.holder.into_iter().collect()));
    match found.refusal {
        Some(why) => {
            for name in CONTENTS.into_iter().chain([SETTINGS]) {
                examined.refusals.insert(name, why.clone());
            }
        }
        // What was found is found, whatever was not looked at.
        None if found.is_partial && found.large_tables.is_empty() => {
            examined.refusals.insert(CONTENTS[1], PARTIAL.to_owned());
        }
        None => {
            let count = u64::from(found.has_statistics).to_string();
            examined.take(CONTENTS[0], rows(vec![count]));
            examined.take(CONTENTS[1], rows(found.large_tables));
        }
    }
    examined
}

/// Rows of one column.
fn rows(cells: Vec<String>) -> AnswerRows {
    cells.into_iter().map(|cell| vec![Some(cell)]).collect()
}
