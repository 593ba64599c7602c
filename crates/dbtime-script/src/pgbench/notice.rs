//! What a run has to say while it runs. Nothing here prints: whoever starts the run listens.

use crate::shared_call::SharedCall;

/// Something that is said once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PgbenchNotice {
    /// Why a client was aborted, without the program's name before it.
    Error(String),
    /// What became of an error, under `--verbose-errors`.
    Info(String),
    /// A line as it is: what `debug()` shows.
    Line(String),
}

/// Who is told.
pub type NoticeListener = SharedCall<PgbenchNotice>;
