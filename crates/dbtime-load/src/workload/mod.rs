//! Workloads: tables, their data, and the operations that run on them, read from a TOML file.
//!
//! ```text
//!   file ── read ──► Workload ── plan(scale, seed) ──► Plan ── program() ──► one per connection
//!                        └────── table_data(…) ──────► TableData ──► rows for the loader
//! ```
//!
//! The format is described in `docs/workloads.md`; [`SHIPPED`] lists the files that come along.

mod data;
pub(crate) mod document;
mod error;
mod mix;
mod operation_draws;
mod plan;
mod read;
mod script;
mod shipped;
mod sql;

pub use data::{TableData, TableSize};
pub use error::{SourcePosition, WorkloadError};
pub use mix::Mix;
pub use operation_draws::OperationDraws;
pub use plan::WorkloadPlan;
pub use shipped::SHIPPED;
pub(crate) use sql::pieces;
pub use sql::placeholders;

use crate::keys::bound::KeyBinding;
use crate::program::Program;
use crate::script::Script;
use crate::session::{RetryPolicy, SessionRules};
use crate::statement::Statement;
use crate::think::ThinkTime;
use data::DataSpec;
use dbtime_model::bounded_file::written_text;
use dbtime_model::near_names::nearest;
use dbtime_model::secret_text::{first_word, without_secrets};
use dbtime_model::spec::WorkloadLimit;
use script::WorkloadScripts;
use std::path::Path;
use std::sync::Arc;

/// A workload, checked and ready to run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// As its file or its script has it; `query` of one that is on the command line.
    pub name: String,
    /// One sentence on what it is.
    pub description: String,
    /// The file it was read from, as text.
    pub source: String,
    /// Tables in the order of their creation.
    pub tables: Vec<WorkloadTable>,
    /// Operations, by [`dbtime_model::OperationId`].
    pub operations: Vec<Operation>,
    /// Statements of all operations, by [`dbtime_model::StatementId`].
    pub statements: Vec<Statement>,
    /// What is required of the run as a whole.
    pub limits: Vec<WorkloadLimit>,
    scripts: WorkloadScripts,
    /// How the tables are filled, by position.
    data: Vec<DataSpec>,
    /// What runs in the place of operations that were read from a file.
    pub script: Option<Arc<dyn Script>>,
}

/// One operation: a transaction that clients ask for.
#[derive(Clone, Debug)]
pub struct Operation {
    /// As the reports show it.
    pub name: String,
    /// Its weight among all; above zero.
    pub weight: f64,
    /// What a client waits after it.
    pub think: Option<ThinkTime>,
    /// Which failures are tried again.
    pub retry: RetryPolicy,
    /// What is required of it.
    pub limits: Vec<WorkloadLimit>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct WorkloadTable {
    /// As statements write it.
    pub name: String,
    /// Rows at scale 1, before `per_scale` applies.
    pub rows: u64,
    /// Whether `rows` is multiplied by the scale.
    pub per_scale: bool,
    /// Its columns.
    pub columns: Vec<WorkloadColumn>,
    /// Its secondary indexes, created after loading.
    pub indexes: Vec<TableIndex>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct WorkloadColumn {
    /// As statements write it.
    pub name: String,
    /// Its type, which each engine writes its own way.
    pub kind: ColumnType,
    /// Whether it is (part of) the primary key.
    pub primary_key: bool,
    /// Whether the database assigns it (AUTO_INCREMENT, rowid, IDENTITY); then the loader and
    /// INSERT statements leave it out.
    pub auto: bool,
}

/// Types every engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 32 bits.
    Integer,
    /// 64 bits.
    BigInt,
    /// A double.
    Double,
    /// Text of a fixed length in characters, padded with blanks where the database does that.
    Char(u32),
    /// Text up to a length in characters.
    Varchar(u32),
    /// Text of any length.
    Text,
    /// Date and time of day.
    Timestamp,
}

/// A secondary index.
#[derive(Clone, Debug)]
pub struct TableIndex {
    /// As the database has it.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<String>,
    /// Whether no two rows may agree in them.
    pub unique: bool,
}

impl Workload {
    /// Reads a workload from the text of its file; `path` is used in errors, and dictionary files
    /// are looked for beside it.
    ///
    /// # Errors
    /// The first thing wrong with the text, with its file and line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, WorkloadError> {
        read::workload(text, path)
    }

    /// Reads a workload from a file.
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Self::parse`].
    pub(crate) fn load(path: &Path) -> Result<Self, WorkloadError> {
        let text = written_text(path).map_err(|source| {
            // Without `--target` in front of it a server's URL is read as a path.
            let path = without_secrets(&path.display().to_string()).into_owned();
            WorkloadError::Read { path, source }
        })?;
        Self::parse(&text, path)
    }

    /// A shipped workload by its name, or a user's own by its path: what contains `/` or ends in
    /// `.toml` is a path.
    ///
    /// # Errors
    /// An unknown name gets the nearest one and the list; else as [`Self::load`].
    pub fn find(name_or_path: &str) -> Result<Self, WorkloadError> {
        if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
            return Self::load(Path::new(name_or_path));
        }
        let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
        let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_path) else {
            let near = nearest(name_or_path, &names)
                .map_or(String::new(), |near| format!(", did you mean `{near}`?"));
            let hint = format!("{near} (shipped: {})", names.join(", "));
            return Err(WorkloadError::UnknownWorkload {
                name: document::abridged(&first_word(name_or_path)),
                hint,
            });
        };
        Self::parse(text, Path::new(&format!("workloads/{name}.toml")))
    }

    /// A workload of one statement without parameters, in auto-commit: one operation `query`, no
    /// tables.
    ///
    /// # Errors
    /// When the SQL is empty, more than one statement, or has parameters.
    pub fn from_sql(sql: &str) -> Result<Self, WorkloadError> {
        read::from_sql(sql)
    }

    /// A workload whose operations are a script's: no tables, and no statements before it has run.
    pub fn from_script(name: String, operations: Vec<Operation>, script: Arc<dyn Script>) -> Self {
        Self {
            name,
            description: String::new(),
            source: String::new(),
            tables: Vec::new(),
            operations,
            statements: Vec::new(),
            limits: Vec::new(),
            scripts: WorkloadScripts::default(),
            data: Vec::new(),
            script: Some(script),
        }
    }

    /// Its statements. Those of a script are known only after it has run.
    pub fn executed_statements(&self) -> Vec<Statement> {
        self.script.as_ref().map_or_else(|| self.statements.clone(), |script| script.statements())
    }

    /// Checks that the workload makes sense at a scale: rows that can be counted, ranges that are
    /// not empty. Nothing else depends on the scale.
    ///
    /// # Errors
    /// What makes no sense.
    pub fn check_scale(&self, scale: u64) -> Result<(), WorkloadError> {
        read::check_scale(self, scale)
    }

    /// Binds the workload to a scale and a seed. Programs for many connections share a plan.
    pub fn plan(&self, scale: u64, seed: u64) -> WorkloadPlan {
        WorkloadPlan::new(&self.scripts, &self.rows(scale), scale, seed)
    }

    /// A program of the workload: `plan(scale, seed).program()`.
    pub fn program(&self, scale: u64, seed: u64) -> Box<dyn Program> {
        self.plan(scale, seed).program()
    }

    /// The mix of its operations.
    pub fn mix(&self) -> Mix {
        let weights: Vec<f64> = self.operations.iter().map(|op| op.weight).collect();
        Mix::new(&weights)
    }

    /// What all sessions of a run share.
    pub fn rules(&self, seed: u64) -> SessionRules {
        let retry = self.operations.iter().map(|op| op.retry.clone()).collect();
        SessionRules::new(self.statements.clone(), retry, seed)
    }

    /// The rows to load a table with; `table` is its position in [`Self::tables`].
    ///
    /// # Panics
    /// When there is no such table.
    pub fn table_data(&self, table: usize, scale: u64, seed: u64) -> TableData {
        let rows = self.rows(scale);
        let binding = KeyBinding { rows: &rows, scale, seed };
        TableData::new(table, &self.tables[table], &self.data[table], &binding, scale)
    }

    /// An estimate of every table's size.
    pub fn size(&self, scale: u64) -> Vec<TableSize> {
        let tables = self.tables.iter().zip(&self.data);
        tables.map(|(table, data)| data::size(table, data, scale)).collect()
    }

    fn rows(&self, scale: u64) -> Vec<u64> {
        self.tables.iter().map(|table| table.row_count(scale)).collect()
    }
}

impl WorkloadTable {
    /// Its rows at a scale. Saturates; see [`Workload::check_scale`].
    pub fn row_count(&self, scale: u64) -> u64 {
        if self.per_scale { self.rows.saturating_mul(scale) } else { self.rows }
    }
}
