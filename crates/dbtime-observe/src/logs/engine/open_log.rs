//! The files of a plan, each with its format, where reading begins and when its first record is.

use super::foreign::{ForeignLog, foreign_log};
use super::formats::{OpenFormat, format_of_before, open_format, tried};
use super::head_peek::first_instant;
use super::input::{FileNumber, LogInput};
use super::parts::{LogPart, parts_since};
use super::since_state::SinceState;
use super::waiting::{GoesOn, always};
use super::{LogError, LogPlan, TimeBound};
use dbtime_model::log_digest::{DigestInput, InputKind, TimeMeaning};
use std::io;
use std::path::{Path, PathBuf, absolute};

/// How many files are open at once.
const MOST_OPEN: usize = 64;

/// As much of two logs is compared to find out whether one is a copy of the other. Unit: bytes.
const COMPARED_BYTES: usize = 4 << 10;

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
    /// Whether statements that were open there were not counted.
    pub(super) resumes_open: bool,
    /// How it begins, once unpacked, whatever is read of it.
    begin: Vec<u8>,
    is_packed: bool,
    doubts: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Its names in the state.
    pub(super) keys: Vec<String>,
    /// Whether a last record that is not whole may be later, when the next digest reads it.
    pub(super) is_growing: bool,
}

/// Finds the files and their formats. A pipe whose beginning does not come is waited for unless
/// `goes_on` breaks.
pub(super) fn open_logs(
    plan: &LogPlan,
    state: Option<&SinceState>,
    goes_on: GoesOn<'_>,
) -> Result<Vec<OpenLog>, LogError> {
    let mut logs = Vec::new();
    for path in &plan.inputs {
        let Some(state) = state else {
            let input = LogInput::open(path, goes_on)?;
            let part = LogPart::whole(input, Vec::new());
            push_log(&mut logs, OpenLog::new(plan, part, None, None)?);
            continue;
        };
        let key = key_of(path);
        let mark = state.mark_of(&key);
        let mut before = mark.and_then(|mark| mark.format.clone());
        let parts = parts_since(path, mark)?;
        let (count, mut begin_us) = (parts.len(), i64::MIN);
        for (index, mut part) in parts.into_iter().enumerate() {
            part.leave_out_counted(state);
            let log = OpenLog::new(plan, part, Some(key.clone()), before.as_ref())?;
            before = log.format_name().or(before);
            begin_us = begin_us.max(log.begin_us);
            push_log(&mut logs, OpenLog { begin_us, is_growing: index + 1 == count, ..log });
        }
    }
    Ok(logs)
}

/// Adds a log, unless it is one already: a link leads to it, the rotation of another log, or it is
/// there packed too. Where there are many, files are closed until their turn comes.
fn push_log(logs: &mut Vec<OpenLog>, mut log: OpenLog) {
    if let Some(same) = logs.iter_mut().find(|same| same.is_file_of(&log)) {
        same.merge(log);
        return;
    }
    if let Some(same) = logs.iter_mut().find(|same| same.is_packed_or_not(&log)) {
        if same.is_packed {
            std::mem::swap(same, &mut log);
        }
        same.leave_out_packed(log);
        return;
    }
    if let Some(like) = logs.iter().find(|like| like.begins_like(&log)) {
        log.doubts.push(format!(
            "It begins as {} does: if one is a copy of the other, their records are counted twice, \
             and only one of the two should be named.",
            like.path.display()
        ));
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

/// The format of a log that begins like this, or else that of the file before.
fn format_of(
    plan: &LogPlan,
    head: &[u8],
    before: Option<&(InputKind, String)>,
) -> Result<Option<OpenFormat>, LogError> {
    let of_before = || before.and_then(|(kind, text)| format_of_before(*kind, text, head));
    Ok(open_format(&plan.choice, head)?.or_else(of_before))
}

/// That a log which begins like this has no known format.
fn unknown(path: PathBuf, head: &[u8], is_pipe: bool) -> LogError {
    match foreign_log(head) {
        Some(ForeignLog { name, remedy, .. }) => {
            LogError::ForeignFormat { path, name, remedy, is_pipe }
        }
        None => LogError::UnknownFormat { path, tried: tried(), is_pipe },
    }
}

impl OpenLog {
    /// A log with its name in the state, and the kind and format of the file that it was in before.
    fn new(
        plan: &LogPlan,
        part: LogPart,
        key: Option<String>,
        before: Option<&(InputKind, String)>,
    ) -> Result<Self, LogError> {
        let LogPart { input, from, resumes_open, notes } = part;
        let path = input.path().to_owned();
        let head = input.head();
        let format = if head.is_empty() { None } else { format_of(plan, head, before)? };
        // One that goes on may have no whole line yet.
        let is_begun = key.is_some() && head.len() <= COMPARED_BYTES && !head.contains(&b'\n');
        if format.is_none() && !head.is_empty() && !is_begun {
            return Err(unknown(path, head, input.file().is_none()));
        }
        let first_us =
            format.as_ref().and_then(|format| first_instant(format.reader.as_ref(), head));
        Ok(Self {
            path,
            file: input.file(),
            begin_us: first_us.unwrap_or(i64::MAX),
            from,
            resumes_open,
            begin: head[..head.len().min(COMPARED_BYTES)].to_vec(),
            is_packed: input.is_packed(),
            doubts: Vec::new(),
            notes,
            keys: key.into_iter().collect(),
            is_growing: false,
            format,
            input: Some(input),
        })
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
            (self.from, self.resumes_open) = (other.from, other.resumes_open);
            self.notes = other.notes;
        }
        let note = "The command line leads to it more than once; it is read once.";
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
        self.keys.extend(other.keys);
        self.begin_us = self.begin_us.max(other.begin_us);
        self.is_growing &= other.is_growing;
    }

    /// What it is read as: its kind, and more about that; `None`: it is empty.
    pub(super) fn format_name(&self) -> Option<(InputKind, String)> {
        self.format.as_ref().map(|format| (format.kind, format.format.clone()))
    }

    /// Whether it may go on with another log: both are files of a folder, and of one format.
    pub(super) fn may_follow(&self, before: &Self) -> bool {
        let form = |log: &Self| {
            let name = log.format_name().filter(|_| log.file.is_some())?;
            Some((name, log.path.parent()?.to_owned()))
        };
        self.from == 0 && form(self).is_some_and(|own| form(before) == Some(own))
    }

    /// Whether both begin with the same bytes and a time, as copies do.
    fn begins_like(&self, other: &Self) -> bool {
        let compared = self.begin.len().min(other.begin.len());
        self.begin_us != i64::MAX && self.begin[..compared] == other.begin[..compared]
    }

    /// Whether one of them is the other packed, by their names and beginnings.
    fn is_packed_or_not(&self, other: &Self) -> bool {
        let (packed, bare) = if self.is_packed { (self, other) } else { (other, self) };
        let is_pair = packed.is_packed && !bare.is_packed && packed.begins_like(bare);
        is_pair && key_of(&packed.path) == key_of(&bare.path) + ".gz"
    }

    /// Stands for its packed copy too.
    fn leave_out_packed(&mut self, packed: Self) {
        let path = packed.path.display();
        self.notes.push(format!("{path} is the same log, packed, and left out."));
        self.keys.extend(packed.keys);
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
        let input = LogInput::open(&self.path, &always)?;
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
        let because = format.map_or("empty", |format| format.because.as_str());
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
            is_misread: false,
            doubts: self.doubts.clone(),
            notes: self.notes.clone(),
        }
    }
}
