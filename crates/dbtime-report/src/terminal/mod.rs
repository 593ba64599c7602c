//! What text for a terminal is made of, in a hundred columns unless something else is said: pages,
//! tables and bars; and the reports that are not made of blocks.

mod bars;
mod charset;
mod forest_text;
mod line;
mod narrow;
mod requests;
mod runs;
mod statement_locks;
mod statement_sums;
mod style;
mod sweep;
mod table;
mod throughput;

pub use charset::Charset;
pub use requests::{cost_line, ledger_lines, request_heading, request_line};
pub use runs::{RecordLine, records_table};
pub use statement_locks::{LockRelease, StatementLocks};
pub use statement_sums::by_fingerprint;
pub use sweep::{SweepRow, SweepServer, sweep_table, sweep_text};
pub use throughput::{ThroughputTicks, throughput_gap};

pub(crate) use forest_text::ForestText;
pub(crate) use requests::{connection_name, ledger_troubles};
pub(crate) use statement_locks::{further_locks, lock_lines};
pub(crate) use statement_sums::locks_by_fingerprint;
pub use style::PageStyle;
pub(crate) use style::{ReportPage, SHORT_FACT_LINES, TextRole};
pub(crate) use table::{ReportTable, TextCell, TextColumn, TextRow};

use crate::reports::run_document;
use dbtime_model::record::Run;

/// No line is longer than this, where nothing says how wide the terminal is.
pub const COLUMNS: usize = 100;

/// What a command prints without `--details` has no more lines than this in [`COLUMNS`].
pub const SCREEN_LINES: usize = 45;

/// A short report has no more lines than this in [`COLUMNS`], histogram and threads aside: with the
/// three that say where record and page are it fits on a screen.
pub const SHORT_LINES: usize = SCREEN_LINES - 3;

/// How the last lines begin of what leaves something out.
pub(crate) const DETAILS: &str = "--details prints the rest";

/// How a report is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalOptions {
    /// What it is written for.
    pub style: PageStyle,
    /// Whether to add the response histogram.
    pub histogram: bool,
    /// Whether to give the answer alone, and of its reasons those that weigh most.
    pub short: bool,
    /// Whether to split what the server used by name of thread.
    pub threads: bool,
    /// What the rate in another tool's report above this one is over: then the throughput says its
    /// own time too.
    pub other_basis: Option<&'static str>,
}

/// The report of one run: the answer first, then its reasons.
///
/// Shape: lines of at most `options.style.columns` columns but for the command, the last one ended,
/// and of a short report at most [`SHORT_LINES`]; no escapes unless `options.style.color`.
pub fn run_report(run: &Run, options: &TerminalOptions) -> String {
    run_document(run, options).text(options.style)
}
