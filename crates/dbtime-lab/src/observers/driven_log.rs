//! The driver's side of an untraced run on its way to its file, for a join with a recording later.

use super::RunObserver;
use crate::error::want_of_room;
use crate::workload_names::driven_names;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_model::driven_file::{DrivenBegin, DrivenWriter, VERSION};
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{Warning, WarningKind, file};
use dbtime_model::{MonoNanos, RunPhase};
use dbtime_observe::process::clock_id;
use dbtime_sql::LexicalRules;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes every statement and transaction of a load, the warm-up included.
pub(crate) struct DrivenLog {
    path: PathBuf,
    plan: LoadPlan,
    /// How the server reads the statements' texts.
    rules: LexicalRules,
    state: LogState,
}

enum LogState {
    /// Before the load has started there is nothing to write.
    Waiting(File),
    Writing(Box<DrivenWriter<BufWriter<File>>>),
    Failed(io::Error),
}

impl DrivenLog {
    /// Begins a file of a load of this plan.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn create(path: &Path, plan: &LoadPlan, rules: LexicalRules) -> io::Result<Self> {
        let state = LogState::Waiting(File::create(path)?);
        Ok(Self { path: path.to_owned(), plan: plan.clone(), rules, state })
    }

    /// Ends the file; one that could not be written whole is taken away. Returns what is wrong.
    pub(crate) fn finish(self) -> Option<Warning> {
        let Self { path, plan, rules, state } = self;
        let written = match state {
            LogState::Writing(writer) => writer
                .end(driven_names(&plan.workload, &rules))
                .and_then(|file| Ok(file.into_inner()?))
                .and_then(|file| file.sync_all()),
            LogState::Waiting(_) => Err(io::Error::other("the load has not started")),
            LogState::Failed(error) => Err(error),
        };
        let error = written.err()?;
        // Where nothing can be written, this may still be possible.
        let _ = std::fs::remove_file(path);
        Some(unwritten(&error))
    }

    fn write(&mut self, write: impl FnOnce(&mut DrivenWriter<BufWriter<File>>) -> io::Result<()>) {
        if let LogState::Writing(writer) = &mut self.state
            && let Err(error) = write(writer)
        {
            self.state = LogState::Failed(error);
        }
    }
}

/// There is no file of the driver's statements.
pub(crate) fn unwritten(error: &io::Error) -> Warning {
    Warning {
        kind: WarningKind::StatementsLost,
        text: format!("{} could not be written: {error}", file::DRIVEN),
        remedy: format!(
            "the run cannot be joined with a trace; {}, and run again",
            want_of_room(error).unwrap_or("mend that")
        ),
    }
}

impl RunObserver for DrivenLog {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        let LogState::Waiting(file) = &self.state else { return };
        if phase != RunPhase::Started {
            return;
        }
        let window = self.plan.window(at);
        let begin = DrivenBegin {
            version: VERSION,
            clock_id: clock_id(),
            start_ns: at.0,
            window_start_ns: window.start.0,
            window_end_ns: window.end.0,
        };
        let begun = file.try_clone();
        let begun = begun.and_then(|file| DrivenWriter::begin(BufWriter::new(file), &begin));
        self.state =
            begun.map_or_else(LogState::Failed, |writer| LogState::Writing(Box::new(writer)));
    }

    fn takes_exchanges(&self) -> bool {
        true
    }

    fn exchanges(&mut self, batch: &ExchangeBatch) {
        self.write(|writer| writer.batch(batch));
    }
}
