//! What ends a run in sysbench's words, and is written where sysbench writes them.

use crate::exit::CommandFailure;
use dbtime_lab::LabError;
use std::fmt::{self, Display};

/// What a traceback of Lua's begins with.
const TRACE_HEAD: &str = "\nstack traceback:";

/// What sysbench calls fatal: it is for stdout, and begins with `FATAL: `.
#[derive(Debug)]
pub(super) struct SysbenchFatal(String);

impl SysbenchFatal {
    /// `None`: the failure is dbtime's own, whatever its text begins with.
    pub(super) fn of(failure: &CommandFailure) -> Option<&Self> {
        let (CommandFailure::Usage(error) | CommandFailure::Environment(error)) = failure;
        error.downcast_ref()
    }

    /// Its words, and behind them where in the script it was. A script may raise an error that
    /// reads like a traceback: Lua's own is the last, and all behind its head is indented.
    pub(super) fn parts(&self) -> (&str, &str) {
        let is_indented = |line: &str| line.is_empty() || line.starts_with('\t');
        let is_own = |at: &usize| self.0[at + TRACE_HEAD.len()..].lines().all(is_indented);
        match self.0.rfind(TRACE_HEAD).filter(is_own) {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0.as_str(), ""),
        }
    }
}

impl Display for SysbenchFatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SysbenchFatal {}

/// What a script, or what runs it, has in sysbench's words.
pub(super) fn in_its_words(words: impl Display) -> CommandFailure {
    CommandFailure::Usage(anyhow::Error::new(SysbenchFatal(words.to_string())))
}

/// What ends a run, in sysbench's manner.
pub(super) fn fatal(error: LabError) -> CommandFailure {
    match error {
        LabError::Script(error) => in_its_words(error),
        other => in_its_words(format!("FATAL: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_fatal_by_its_type_and_not_by_its_text() {
        let failure = in_its_words("FATAL: x\nstack traceback:\n\ty");
        let parts = SysbenchFatal::of(&failure).expect("it is one").parts();
        assert_eq!(parts, ("FATAL: x", "stack traceback:\n\ty"));
        let raised = "FATAL: x\nstack traceback: none\nz";
        for (trace, shown) in [("", ""), ("\nstack traceback:\n\ty", "stack traceback:\n\ty")] {
            let failure = in_its_words(format!("{raised}{trace}"));
            let parts = SysbenchFatal::of(&failure).expect("it is one").parts();
            assert_eq!(parts, (raised, shown));
        }
        let failure = fatal(LabError::Target("x".to_owned()));
        assert!(SysbenchFatal::of(&failure).is_some(), "{}", failure.words());
        let failure = CommandFailure::environment("FATAL: the database system is starting up");
        assert!(SysbenchFatal::of(&failure).is_none());
    }
}
