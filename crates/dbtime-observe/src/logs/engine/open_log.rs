//! The files of a plan, each with its format, where reading begins and when its first record is.

use super::formats::{OpenFormat, open_format, tried};
use super::head_peek::first_instant;
use super::input::{FileNumber, LogInput};
use super::parts::{LogPart, parts_since};
use super::since_state::SinceState;
use super::{LogError, LogPlan, TimeBound};
use dbtime_model::log_digest::{DigestInput, InputKind, TimeMeaning};
use std::io;
use std::path::{Path, PathBuf, absolute};

/// How many files are open at once.
const MOST_OPEN: usize = 64;

/// A file whose format is known.
pub(super) struct OpenLog {
    /// What is read, unless it is opened anew.
    input: Option<LogInput>,
    pub(super) path: PathBuf,
    /// Which file it is, and how large before it is unpacked; `None`: it is a pipe. Unit: bytes.
    file: Option<(FileNumber, u64)>,
    /// `None`: it is empty.
    pub(super) format: Option<OpenFormat>,
    /// When its first record is, and not before the file that it goes on from; one without times
    /// comes last. Unit: microseconds since 1970-01-01.
    pub(super) begin_us: i64,
    /// Where reading begins. Unit: bytes.
    pub(super) from: u64,
    pub(super) notes: Vec<String>,
    /// Its names in the state.
    pub(super) keys: Vec<String>,
    /// Whether a last record that is not whole may be later, when the next digest reads it.
    pub(super) is_growing: bool,
}

/// Finds the files and their formats.
pub(super) fn open_logs(
    plan: &LogPlan,
    state: Option<&SinceState>,
) -> Result<Vec<OpenLog>, LogError> {
    let mut logs = Vec::new();
    for path in &plan.inputs {
        let Some(state) = state else {
            let input = LogInput::open(path)?;
            let part = LogPart { input, from: 0, notes: Vec::new() };
            push_log(&mut logs, OpenLog::new(plan, part, None)?);
            continue;
        };
        let key = key_of(path);
        let parts = parts_since(path, state.mark_of(&key))?;
        let (count, mut begin_us) = (parts.len(), i64::MIN);
        for (index, mut part) in parts.into_iter().enumerate() {
            part.leave_out_counted(state);
            let log = OpenLog::new(plan, part, Some(key.clone()))?;
            begin_us = begin_us.max(log.begin_us);
            push_log(&mut logs, OpenLog { begin_us, is_growing: index + 1 == count, ..log });
        }
    }
    Ok(logs)
}

/// Adds a log, unless it is one already: a link leads to it, or the rotation of another log. Where
/// there are many, files are closed until their turn comes.
fn push_log(logs: &mut Vec<OpenLog>, mut log: OpenLog) {
    if let Some(same) = logs.iter_mut().find(|same| same.is_file_of(&log)) {
        same.merge(log);
        return;
    }
    if logs.len() >= MOST_OPEN && log.file.is_some() {
        log.input = None;
    }
    logs.push(log);
}

/// What a path is called in the state, wherever dbtime is started.
fn key_of(path: &Path) -> String {
    absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

impl OpenLog {
    fn new(plan: &LogPlan, part: LogPart, key: Option<String>) -> Result<Self, LogError> {
        let LogPart { input, from, notes } = part;
        let path = input.path().to_owned();
        let head = input.head();
        let format = if head.is_empty() { None } else { open_format(&plan.choice, head)? };
        if format.is_none() && !head.is_empty() {
            return Err(LogError::UnknownFormat { path, tried: tried() });
        }
        let first_us =
            format.as_ref().and_then(|format| first_instant(format.reader.as_ref(), head));
        let (begin_us, file) = (first_us.unwrap_or(i64::MAX), input.file());
        let (input, is_growing, keys) = (Some(input), false, key.into_iter().collect());
        Ok(Self { input, path, file, format, begin_us, from, notes, keys, is_growing })
    }

    /// Whether both are one file. Pipes are not known to be.
    fn is_file_of(&self, other: &Self) -> bool {
        let number = |log: &Self| log.file.map(|(number, _)| number);
        number(self).is_some_and(|file| number(other) == Some(file))
    }

    /// Stands for another log of the same file too, so that no record is counted twice: what is
    /// before the later place to go on from was counted before.
    fn merge(&mut self, other: Self) {
        if other.from > self.from {
            (self.from, self.notes) = (other.from, other.notes);
        }
        let note = "The command line leads to it more than once; it is read once.";
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
        self.keys.extend(other.keys);
        self.begin_us = self.begin_us.max(other.begin_us);
        self.is_growing &= other.is_growing;
    }

    /// A bound in the times of its records. Unit: microseconds.
    pub(super) fn bound_us(&self, bound: TimeBound) -> i64 {
        match self.format.as_ref().filter(|format| format.is_local_time) {
            Some(format) => bound.local_us(format.ahead_us()),
            None => bound.utc_us(),
        }
    }

    /// How large it is before it is unpacked; `None`: it is a pipe. Unit: bytes.
    pub(super) fn raw_size(&self) -> Option<u64> {
        self.file.map(|(_, size)| size)
    }

    /// What is read; a file that was closed is opened again.
    pub(super) fn take_input(&mut self) -> Result<LogInput, LogError> {
        if let Some(input) = self.input.take() {
            return Ok(input);
        }
        let input = LogInput::open(&self.path)?;
        let number = |file: Option<(FileNumber, u64)>| file.map(|(identity, _)| identity);
        if number(input.file()) != number(self.file) {
            let source = io::Error::other("another file has its name meanwhile; start again");
            return Err(LogError::Read { path: self.path.clone(), source });
        }
        Ok(input)
    }

    /// What a digest has of it before it is read.
    pub(super) fn described(&self) -> DigestInput {
        let format = self.format.as_ref();
        let because = format.map_or("It is empty.", |format| format.because.as_str());
        let meaning = format.map_or(TimeMeaning::End, |format| format.reader.time_meaning());
        DigestInput {
            path: self.path.to_string_lossy().into_owned(),
            kind: format.map_or(InputKind::Slow, |format| format.kind),
            format: format.map_or_else(String::new, |format| format.format.clone()),
            because: because.to_owned(),
            time_meaning: meaning,
            is_local_time: format.is_some_and(|format| format.is_local_time),
            bytes: 0,
            from: self.from,
            records: 0,
            unread: Vec::new(),
            notes: self.notes.clone(),
        }
    }
}
