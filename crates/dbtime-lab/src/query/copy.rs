//! Private copies of databases, on which statements run that must not touch the target: of an
//! SQLite file all of it, of a server the statement's tables in a private server of the same
//! version.

mod index_cost;
mod mysql_tables;
mod postgres_tables;
mod row_inserter;
mod server_copy;
mod table_copy;

pub(crate) use index_cost::{IndexCost, build_index};
pub(crate) use table_copy::{tables_of, view_of};

use super::place::{QueryPlace, SqlitePlace};
use super::progress::QueryProgress;
use crate::error::LabError;
use crate::scratch::ScratchFolder;
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{Server, StatementBound, StatementConnection};
use dbtime_model::SqlDialect;
use dbtime_sql::LexicalRules;
use std::fmt;
use std::sync::Arc;

/// A private copy. Dropping it removes it.
pub(crate) struct QueryCopy {
    place: Box<dyn QueryPlace>,
    /// What it is a copy of, as that was named.
    original: String,
    /// How it differs from that.
    pub(crate) notes: Vec<String>,
    /// The folder or the server, which go with this.
    _home: Box<dyn Send + Sync>,
}

/// Copies these tables of a place; of an SQLite file all of it. `stop` ends that early.
///
/// # Errors
/// The place cannot be read, there is no server of its version here or no room, or a table cannot
/// be copied; each says which and what to do.
pub(crate) fn copy_of(
    place: &dyn QueryPlace,
    tables: &[String],
    stop: &RunStop,
    progress: &dyn Fn(QueryProgress),
) -> Result<QueryCopy, LabError> {
    match place.sqlite() {
        Some(target) => file_copy(target, place.url(), stop, progress),
        None => server_copy::make(place, tables, stop, progress),
    }
}

fn file_copy(
    target: &SqliteTarget,
    original: String,
    stop: &RunStop,
    progress: &dyn Fn(QueryProgress),
) -> Result<QueryCopy, LabError> {
    let folder = ScratchFolder::temporary().map_err(|error| {
        LabError::Target(format!("cannot make a folder for the copy: {error}; set TMPDIR"))
    })?;
    let mut step = |done, of| {
        progress(QueryProgress { step: format!("copying pages of {original}"), done, of });
    };
    let copied = target.copy_to(&folder.path().join("copy.db"), stop, &mut step);
    let target = copied.map_err(|error| match stop.is_set() {
        true => INTERRUPTED,
        false => error.into(),
    })?;
    let place = SqlitePlace { url: target.to_string(), target };
    Ok(QueryCopy { place: Box::new(place), original, notes: Vec::new(), _home: Box::new(folder) })
}

/// That a copy was ended.
const INTERRUPTED: LabError = LabError::Interrupted("while a copy was made");

impl QueryPlace for QueryCopy {
    fn connect(&self, bound: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError> {
        self.place.connect(bound)
    }

    fn dialect(&self) -> SqlDialect {
        self.place.dialect()
    }

    fn lexical_rules(&self) -> LexicalRules {
        self.place.lexical_rules()
    }

    fn url(&self) -> String {
        self.place.url()
    }

    fn copy_of(&self) -> Option<String> {
        Some(self.original.clone())
    }

    fn end_statement(&self, number: u32) {
        self.place.end_statement(number);
    }

    fn server_pid(&self) -> Option<u32> {
        self.place.server_pid()
    }

    fn sqlite(&self) -> Option<&SqliteTarget> {
        self.place.sqlite()
    }

    fn server(&self) -> Option<&Arc<dyn Server>> {
        self.place.server()
    }
}

impl fmt::Debug for QueryCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, original, .. } = self;
        f.debug_struct("QueryCopy").field("place", place).field("original", original).finish()
    }
}

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
