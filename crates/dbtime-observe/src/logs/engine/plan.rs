//! What is digested, and how.

use dbtime_model::log_digest::{ClassGrouping, InputKind};
use std::path::PathBuf;

/// What is digested, and how.
#[derive(Clone, Debug, Default)]
pub struct LogPlan {
    /// The files, `-` for standard input. They are read in the order of their first records.
    pub inputs: Vec<PathBuf>,
    /// What they are taken for.
    pub choice: FormatChoice,
    /// What makes records one class.
    pub grouping: ClassGrouping,
    /// Regular expressions of paths, and the names of their classes of requests.
    pub routes: Vec<(String, String)>,
    /// How many threads read blocks; `None`: one for each CPU. One reads on the calling thread.
    /// Shape: changes no figure.
    pub threads: Option<usize>,
    /// How large blocks are; `None`: as memory permits. Unit: bytes. Shape: changes no figure.
    pub block_bytes: Option<usize>,
    /// Whether users are the server's accounts for them, as Percona's tools have it, where the log
    /// has both.
    pub names_accounts: bool,
    /// Whether samples keep their literals.
    pub is_raw: bool,
    /// Of how many records each stands for one, where the log is a sample that does not show it;
    /// `None`: all were logged.
    pub assumed_weight: Option<f64>,
    /// Records that ended before it are left out. Unit: microseconds since 1970-01-01.
    pub since_us: Option<i64>,
    /// Records that ended at it or later are left out. Unit: microseconds since 1970-01-01.
    pub until_us: Option<i64>,
    /// How many classes are kept apart; `None`: the digest's own bound.
    pub max_classes: Option<usize>,
    /// Where the ends of the files are kept, for the next digest to go on from.
    pub state: Option<PathBuf>,
    /// The command line, without secrets, for the digest.
    pub command: String,
    /// The version of dbtime, for the digest.
    pub version: String,
}

/// What files are taken for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FormatChoice {
    /// What their beginning shows.
    #[default]
    Auto,
    /// This format.
    Kind(InputKind),
    /// Access logs, by a format string or the name of one.
    Access(String),
    /// Logs of PostgreSQL, by their `log_line_prefix`.
    PostgresPrefix(String),
    /// JSON lines, by which keys mean what: `time=ts,duration=took:ms,path=request.uri`.
    JsonFields(String),
}

/// How far reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogProgress {
    /// How much was read of all files, before it was unpacked. Unit: bytes.
    pub done_bytes: u64,
    /// How much there is; `None`: not known, because one of them is a pipe. Unit: bytes.
    pub all_bytes: Option<u64>,
}
