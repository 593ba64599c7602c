//! What a run writes for another process: a JSON document a line, the last of them its outcome.

use crate::progress::RunProgress;
use dbtime_model::record::{AutoRate, RunRecord};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunEvent {
    /// How the run came out, or a slice of it: the last line, or the last but for further slices.
    Outcome(RunOutcome),
    /// What happens on its way.
    Progress(RunProgress),
}

/// How a run came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunOutcome {
    /// It was made.
    Record(Box<RecordedRun>),
    /// The flat-out rate was measured, and nothing else was to be done.
    FlatOutRate {
        /// What was found; `null` where the run needs none.
        auto: Option<AutoRate>,
    },
    /// Its target is ready: a line of its standard input asks for each slice of it.
    Held,
    /// It could not be made.
    Failure {
        /// As `dbtime --help` lists them.
        exit_code: u8,
        /// Cause and remedy.
        text: String,
    },
}

/// What a process that holds a target is asked for, a JSON document a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceRequest {
    /// The new folder for its record.
    pub out: PathBuf,
    /// Its seed.
    pub seed: u64,
}

/// A run that was made, and its record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// As in `run.json`.
    pub record: RunRecord,
    /// The folder of the record; `null` where none was written.
    pub folder: Option<PathBuf>,
    /// What of it could not be written; `null` where all was.
    pub unwritten: Option<String>,
    /// Why the process ends with another code than 0, where the limits of the record do not say so.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::SecondSeen;
    use dbtime_model::{LoginCount, MonoNanos, Nanos, PhaseInstant, RunPhase};

    #[test]
    fn every_line_is_read_as_what_it_was() {
        let failure = RunOutcome::Failure { exit_code: 3, text: "no server".to_owned() };
        let record = RecordedRun { folder: Some("r".into()), ..RecordedRun::default() };
        let events = [
            RunEvent::Progress(RunProgress::Server { step: "starting".to_owned() }),
            RunEvent::Progress(RunProgress::Planned {
                warmup: Nanos::ZERO,
                measure: Some(Nanos::from_secs(1)),
                transactions: None,
            }),
            RunEvent::Progress(RunProgress::Connecting(LoginCount { up: 2, refused: 0, all: 3 })),
            RunEvent::Progress(RunProgress::Phase(PhaseInstant {
                phase: RunPhase::Started,
                at: MonoNanos(5_000),
            })),
            RunEvent::Progress(RunProgress::Second(SecondSeen::default())),
            RunEvent::Outcome(failure),
            RunEvent::Outcome(RunOutcome::Record(Box::new(record))),
            RunEvent::Outcome(RunOutcome::FlatOutRate { auto: None }),
            RunEvent::Outcome(RunOutcome::Held),
        ];
        for event in events {
            let line = serde_json::to_string(&event).expect("it can be written");
            assert!(line.starts_with("{\"event\":\""), "{line}");
            assert_eq!(serde_json::from_str::<RunEvent>(&line).expect("a line"), event);
        }
    }
}
