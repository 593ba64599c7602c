//! What a run has to say while it runs. Nothing here prints: whoever starts the run listens.

use std::fmt;
use std::sync::Arc;

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

/// Who is told. Called on engine threads, one call at a time or several.
#[derive(Clone)]
pub struct NoticeListener(Arc<dyn Fn(PgbenchNotice) + Send + Sync>);

impl NoticeListener {
    /// Tells `listen`.
    pub fn new(listen: impl Fn(PgbenchNotice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listen))
    }

    /// Says something.
    pub(crate) fn notify(&self, notice: PgbenchNotice) {
        (self.0)(notice);
    }
}

impl Default for NoticeListener {
    /// Nobody is told.
    fn default() -> Self {
        Self::new(|_| ())
    }
}

impl fmt::Debug for NoticeListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
