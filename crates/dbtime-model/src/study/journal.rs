//! The journal of a study: a JSON document a line, appended and brought to the disk one by one.
//!
//! A process that is killed and a machine that loses its power can leave half a last line. That one
//! is as if it had not been written; half a line anywhere else is damage, and is refused.

use super::found_rate::FoundRate;
use super::left_out::NoiseStop;
use crate::record::FactorValue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that happened. Times are UTC, RFC 3339.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JournalEvent {
    /// A process has taken the study up.
    SessionBegun(StudySession),
    /// A run was begun.
    RunBegun(StudyTrial),
    /// It has ended, and what it left is on the disk.
    RunEnded {
        /// Its number.
        run: u64,
        /// Whether it counts.
        outcome: TrialOutcome,
        /// Why not.
        reason: Option<String>,
        /// The SHA-256 of each file that it left, by its name; empty in journals of before.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, String>,
        /// When.
        at: String,
    },
    /// What a run that counted had left is gone or damaged: there will be more.
    RunLost {
        /// Its number.
        run: u64,
        /// What is wrong with its record.
        reason: String,
        /// When that was seen.
        at: String,
    },
    /// A configuration was started for a moment, without a record, and works. It is in no estimate.
    CellStarted {
        /// Its place in the plan, from 0.
        cell: u32,
        /// When that was known.
        at: String,
    },
    /// A configuration cannot run: it is left out of all further blocks.
    CellLeftOut {
        /// Its place in the plan, from 0.
        cell: u32,
        /// Its error.
        reason: String,
        /// When.
        at: String,
    },
    /// What was left out is taken in again: there will be more.
    LeftOutRetried {
        /// When.
        at: String,
    },
    /// So many blocks may be repeated, in place of the plan's number: there will be more.
    RepeatsSet {
        /// How many in all.
        repeats: u32,
        /// When.
        at: String,
    },
    /// No more blocks may be repeated: there will be no more runs until more may be.
    NoiseStopped(NoiseStop),
    /// The stop rule was applied.
    Looked {
        /// How many blocks were complete.
        blocks: u32,
        /// Whether they are enough.
        enough: bool,
        /// What was found, in words.
        text: String,
        /// When.
        at: String,
    },
    /// After a look at the results another number of blocks was wanted than the plan has.
    Extended {
        /// How many there are to be in all.
        blocks: u32,
        /// When.
        at: String,
    },
    /// By how long its blocks take, and not by their results, a study has time for another number
    /// of blocks than the plan has.
    BlocksRenewed {
        /// How many there are to be in all.
        blocks: u32,
        /// When.
        at: String,
    },
    /// There will be no more runs.
    Finished {
        /// Why, in words.
        reason: String,
        /// What a search has found; `null`: it is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<FoundRate>,
        /// When.
        at: String,
    },
}

/// One process's part of a study: what has to stay the same through all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudySession {
    /// From 1. A later process that finds everything the same goes on with the same number.
    pub number: u32,
    /// When it began.
    pub at: String,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// SHA-256 of this program.
    pub program_sha256: String,
    /// Name of the machine.
    pub host: String,
    /// Its kernel.
    pub kernel: String,
    /// Which start of the kernel it is: random(4), boot_id.
    pub boot: String,
    /// CPUs that may be used.
    pub cpus: u32,
    /// What else of the machine changes results: the governor, huge pages, the clock.
    pub settings: Vec<String>,
    /// SHA-256 of the file that the study was planned from; empty: it has none, or the journal is
    /// of an earlier version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_sha256: String,
    /// The servers that are started for runs, and what external commands execute and read; empty
    /// in journals of earlier versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<IdentifiedFile>,
}

/// A file that runs depend on, as it was when a session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdentifiedFile {
    /// Where it is, links resolved.
    pub path: String,
    /// SHA-256 of it.
    pub sha256: String,
    /// Whether it is executed: a file that is only read may be one that runs write.
    pub is_program: bool,
}

/// One run of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyTrial {
    /// Its number, from 1, in the order of time.
    pub run: u64,
    /// Its block, from 1.
    pub block: u32,
    /// How often the block was begun, this time included.
    pub attempt: u32,
    /// Its configuration: the place in the plan, from 0.
    pub cell: u32,
    /// Its round in its block, from 1, where the block is made in slices; 0, and not written: it is
    /// a whole run.
    #[serde(skip_serializing_if = "is_zero")]
    pub slice: u32,
    /// How many rounds of slices its block is made in; 0, and not written: its runs are whole.
    #[serde(skip_serializing_if = "is_zero")]
    pub slices: u32,
    /// The measured window of all runs of its block, where that is another one than the plan has;
    /// 0, and not written: it is the plan's. Unit: milliseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_ms: u32,
    /// What makes it this one beside its configuration: the rate of a run of a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<FactorValue>,
    /// The folder of its record, below that of the study.
    pub folder: String,
    /// The session that it is made in.
    pub session: u32,
    /// When it was begun.
    pub at: String,
}

/// By reference, as serde asks.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// It does.
    Valid,
    /// It was made, and by the rules of the plan it does not.
    Invalid,
    /// It could not be made.
    Failed,
    /// It counted, and its record is gone or damaged.
    Lost,
}

/// What a journal says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalText {
    /// In the order of time.
    pub events: Vec<JournalEvent>,
    /// How far the text is whole; what follows is half a line. Unit: bytes.
    pub whole: usize,
}

/// A line of a journal that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is damaged: {reason}")]
pub struct JournalError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a journal.
///
/// # Errors
/// A line is no event, half a last one excepted.
pub fn read_journal(text: &[u8]) -> Result<JournalText, JournalError> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut events = Vec::new();
    for (index, line) in text[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let event = serde_json::from_slice(line)
            .map_err(|error| JournalError { line: index + 1, reason: error.to_string() })?;
        events.push(event);
    }
    Ok(JournalText { events, whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events() -> Vec<JournalEvent> {
        let trial = StudyTrial { run: 1, block: 1, attempt: 1, ..StudyTrial::default() };
        let at = "2026-11-27T12:00:00Z".to_owned();
        vec![
            JournalEvent::SessionBegun(StudySession { number: 1, ..StudySession::default() }),
            JournalEvent::RunBegun(trial),
            JournalEvent::RunEnded {
                run: 1,
                outcome: TrialOutcome::Invalid,
                reason: Some("a \"quoted\"\nreason".to_owned()),
                files: BTreeMap::from([("run.json".to_owned(), "00ff".to_owned())]),
                at: at.clone(),
            },
            JournalEvent::CellStarted { cell: 0, at: at.clone() },
            JournalEvent::CellLeftOut { cell: 1, reason: "no server".to_owned(), at: at.clone() },
            JournalEvent::LeftOutRetried { at: at.clone() },
            JournalEvent::NoiseStopped(NoiseStop { repeats: 9, ..NoiseStop::default() }),
            JournalEvent::RepeatsSet { repeats: 9, at: at.clone() },
            JournalEvent::BlocksRenewed { blocks: 7, at: at.clone() },
            JournalEvent::Looked { blocks: 3, enough: true, text: "±1 %".to_owned(), at },
        ]
    }

    fn text(events: &[JournalEvent]) -> String {
        events.iter().map(|event| serde_json::to_string(event).expect("JSON") + "\n").collect()
    }

    #[test]
    fn torn_at_any_byte_it_has_the_events_before() {
        let (events, text) = (events(), text(&events()));
        for end in 0..=text.len() {
            let read = read_journal(&text.as_bytes()[..end]).expect("half a last line is forgiven");
            let ends = text.bytes().enumerate().take(end).filter(|(_, byte)| *byte == b'\n');
            let ends: Vec<usize> = ends.map(|(at, _)| at + 1).collect();
            assert_eq!(read.events, events[..ends.len()]);
            assert_eq!(read.whole, ends.last().copied().unwrap_or(0));
        }
    }

    #[test]
    fn a_damaged_line_is_named() {
        let mut text = text(&events());
        text.insert_str(text.find('\n').expect("lines") + 1, "{\"event\":\n");
        assert_eq!(read_journal(text.as_bytes()).expect_err("damaged").line, 2);
    }

    proptest! {
        #[test]
        fn whatever_is_in_it_is_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_journal(&bytes);
        }
    }
}
