//! What `dbtime query` is to do.

use crate::targets::Target;
use dbtime_model::Nanos;
use std::path::PathBuf;

/// A statement, or two forms of one, and what is to be found out about them.
#[derive(Clone, Debug)]
pub struct QueryRequest {
    /// Where they run; `None`: on a copy of `on_copy`.
    pub target: Option<Target>,
    /// The statement, or A and B.
    pub forms: Vec<FormSource>,
    /// Where the values of parameters come from.
    pub dictionaries: Vec<KeyDictionary>,
    /// Whether nothing runs on the target itself, but on a private copy of its tables; with a path
    /// of that SQLite database.
    pub on_copy: Option<Option<PathBuf>>,
    /// What everything random is a function of.
    pub seed: u64,
    /// How long each form is measured.
    pub budget: Nanos,
    /// How many keys the rows are compared for.
    pub row_keys: u64,
    /// The smallest change of interest, a share.
    pub margin: f64,
    /// How long an execution may take.
    pub statement_timeout: Nanos,
    /// Whether what writes is committed, and not rolled back.
    pub commits: bool,
    /// Whether plans come from executions, and not from estimates alone.
    pub analyzes: bool,
    /// Whether plans are all that is wanted, and nothing is executed.
    pub plan_only: bool,
    /// Whether the planner's switches are tried.
    pub tournament: bool,
    /// Whether advice is looked for and tried.
    pub advises: bool,
    /// Whether untried advice is listed.
    pub lint: bool,
    /// Whether the kernel tells where the time of a server went.
    pub trace: bool,
    /// Whether literals are kept in what is written down.
    pub is_raw: bool,
    /// A record whose plans these are compared with.
    pub against: Option<PathBuf>,
    /// Flags that want something of the result, in their order.
    pub expectations: Vec<String>,
    /// The command line, without secrets.
    pub command: String,
    /// The version of the program.
    pub version: String,
}

/// A statement's text and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormSource {
    /// A file's path, or `--query`.
    pub source: String,
    /// The text.
    pub sql: String,
}

/// Where the values of one parameter come from, or those of several that come together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDictionary {
    /// The parameters: `id`, `1`; several are the columns of a query or of a file of tab-separated
    /// values.
    pub parameters: Vec<String>,
    /// What stands behind the `=` of `--dict`: `ids.txt:unique`, `SELECT id FROM t`,
    /// `template:user%05d:1..5000`, `workload:shop.toml#checkout`.
    pub text: String,
}
