//! A recording of a trace: what was seen, line by line, and at the end what it came to in all.
//!
//! ```text
//!   {"begin":{"version":3,…}}
//!   {"request":{…}}            as often as there are some
//!   {"end":{"ledger":…,"totals":…}}
//! ```
//!
//! Lines are JSON, so that a file that was cut short is read up to where that was.

use crate::traced::TracedRequest;
use crate::traced_json::{LedgerJson, RequestJson, read_request};
use crate::traced_ledger::{TraceCost, TraceLedger};
use crate::traced_totals::TracedTotals;
use crate::{MonoNanos, Nanos};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Read, Write};

/// The version that is written. Since 2 a blocker may have no thread; since 3 a request has the
/// form of `dbtime trace --json`.
pub const VERSION: u32 = 3;

/// The oldest that is read.
const OLDEST_VERSION: u32 = 1;

/// Longer lines are none of ours. The longest by far is the end, of some megabytes.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// How [`TraceWriter`] begins the line of a request, which [`PresentLine`] would have to search for
/// its end first.
const REQUEST_BEGIN: &[u8] = b"{\"request\":";

/// What stands at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceBegin {
    /// Of the format.
    pub version: u32,
    /// When it began, on the clock of the requests.
    #[serde(rename = "since_us")]
    pub since: MonoNanos,
    /// The same by the clock on the wall, for people.
    pub clock: String,
    /// The clock of the kernel, by the boot of its machine: what else has it has the same clock.
    /// `None` in recordings of before.
    #[serde(default)]
    pub clock_id: Option<String>,
    /// What was watched, for people.
    pub servers: Vec<String>,
    /// Whether texts hold their literals.
    pub raw_sql: bool,
    /// The step of the distributions; zero: powers of two.
    #[serde(rename = "step_us")]
    pub step: Nanos,
}

/// What stands at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEnd {
    /// How long it was traced.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// How long statements were added up, where that ended before the watching did.
    #[serde(default, rename = "added_up_us")]
    pub added_up: Option<Nanos>,
    /// By the clock on the wall, for people.
    pub clock: String,
    /// What became of every request, those included that are not in the file.
    #[serde(serialize_with = "with_vanished")]
    pub ledger: TraceLedger,
    /// What watching took; `None` in files from before that was told.
    #[serde(default)]
    pub cost: Option<TraceCost>,
    /// What statements came to, those included that are not in the file.
    pub totals: TracedTotals,
}

/// A ledger with what follows from it.
fn with_vanished<S: Serializer>(ledger: &TraceLedger, to: S) -> Result<S::Ok, S::Error> {
    LedgerJson::of(ledger).serialize(to)
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum RecordingLine<'a> {
    Begin(&'a TraceBegin),
    Request(&'a RequestJson<'a>),
    End(&'a TraceEnd),
}

/// A line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceLine {
    /// The first.
    Begin(TraceBegin),
    /// One behind the other, roughly in the order of their ends.
    Request(Box<TracedRequest>),
    /// The last.
    End(Box<TraceEnd>),
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// The system's words.
    #[error(transparent)]
    Io(io::Error),
    /// It begins otherwise.
    #[error("it is no recording of `dbtime trace --record`")]
    NoRecording,
    /// Another program's, or another time's.
    #[error("it has the format {0}; this dbtime reads formats {OLDEST_VERSION} to {VERSION}")]
    Version(u32),
    /// A line that is none.
    #[error(
        "line {number}: {error}: the recording is damaged; restore it from a copy, or record \
             anew"
    )]
    Line {
        /// From 1.
        number: u64,
        /// What is wrong with it.
        error: String,
    },
}

impl From<io::Error> for TraceFileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::IsADirectory => Self::NoRecording,
            _ => Self::Io(error),
        }
    }
}

/// Writes a recording.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    to: W,
    since: MonoNanos,
}

impl<W: Write> TraceWriter<W> {
    /// Begins one, of the present version whatever `begin` says.
    ///
    /// # Errors
    /// As writing.
    pub fn begin(to: W, begin: &TraceBegin) -> io::Result<Self> {
        let mut writer = Self { to, since: begin.since };
        let begin = TraceBegin { version: VERSION, ..begin.clone() };
        writer.line(&RecordingLine::Begin(&begin))?;
        Ok(writer)
    }

    /// Adds a request whose command has this name. Cost: some microseconds.
    ///
    /// # Errors
    /// As writing.
    pub fn request(&mut self, request: &TracedRequest, command_name: &str) -> io::Result<()> {
        let request = RequestJson::of(request, self.since, command_name);
        self.line(&RecordingLine::Request(&request))
    }

    /// What it writes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.to
    }

    /// Ends it, and sees to it that it is written.
    ///
    /// # Errors
    /// As writing.
    pub fn end(mut self, end: &TraceEnd) -> io::Result<()> {
        self.write_end(end)?;
        self.to.flush()
    }

    /// Writes its end.
    ///
    /// # Errors
    /// As writing.
    pub fn write_end(&mut self, end: &TraceEnd) -> io::Result<()> {
        self.line(&RecordingLine::End(end))
    }

    fn line(&mut self, line: &RecordingLine<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, line)?;
        self.to.write_all(b"\n")
    }
}

/// Reads a recording.
#[derive(Debug)]
pub struct TraceReader<R> {
    from: R,
    version: u32,
    since: MonoNanos,
    number: u64,
    is_cut: bool,
    /// Room for a line.
    line: Vec<u8>,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads its beginning.
    ///
    /// # Errors
    /// It is no recording, or one of another version.
    pub fn begin(from: R) -> Result<(TraceBegin, Self), TraceFileError> {
        #[derive(Deserialize)]
        struct RecordingVersion {
            version: u32,
        }
        #[derive(Deserialize)]
        struct VersionHeader {
            begin: RecordingVersion,
        }
        let mut reader = Self {
            from,
            version: OLDEST_VERSION,
            since: MonoNanos(0),
            number: 0,
            is_cut: false,
            line: Vec::new(),
        };
        let mut line = Vec::new();
        if !reader.bytes(&mut line)? {
            return Err(TraceFileError::NoRecording);
        }
        let versioned: VersionHeader =
            serde_json::from_slice(&line).map_err(|_| TraceFileError::NoRecording)?;
        if !(OLDEST_VERSION..=VERSION).contains(&versioned.begin.version) {
            return Err(TraceFileError::Version(versioned.begin.version));
        }
        reader.version = versioned.begin.version;
        match reader.parse(&line)? {
            TraceLine::Begin(begin) => {
                reader.since = begin.since;
                Ok((begin, reader))
            }
            _ => Err(TraceFileError::NoRecording),
        }
    }

    /// The next line behind the beginning; `None` at the end of the file, also where that cuts a
    /// line in two.
    ///
    /// # Errors
    /// The line is none, or cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<TraceLine>, TraceFileError> {
        let mut line = std::mem::take(&mut self.line);
        let parsed = match self.bytes(&mut line)? {
            true => self.parse(&line).map(Some),
            false => Ok(None),
        };
        self.line = line;
        parsed
    }

    /// Whether the last line was cut in two.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Reads a line without its end. Returns whether there is one.
    fn bytes(&mut self, line: &mut Vec<u8>) -> Result<bool, TraceFileError> {
        line.clear();
        self.from.by_ref().take(MAX_RECORD_BYTES).read_until(b'\n', line)?;
        self.number += 1;
        self.is_cut = !line.is_empty() && !line.ends_with(b"\n");
        // One that was cut is none.
        Ok(line.pop() == Some(b'\n'))
    }

    fn parse_present(&self, line: &[u8]) -> serde_json::Result<TraceLine> {
        let request = line.strip_prefix(REQUEST_BEGIN).and_then(|line| line.strip_suffix(b"}"));
        if let Some(request) = request {
            return self.request(serde_json::Deserializer::from_slice(request));
        }
        Ok(match serde_json::from_slice(line)? {
            PresentLine::Begin(begin) => TraceLine::Begin(begin),
            PresentLine::Request(request) => {
                self.request(serde_json::Deserializer::from_str(request.get()))?
            }
            PresentLine::End(end) => TraceLine::End(end),
        })
    }

    fn request<'de, F: serde_json::de::Read<'de>>(
        &self,
        mut from: serde_json::Deserializer<F>,
    ) -> serde_json::Result<TraceLine> {
        let request = read_request(&mut from, self.since)?;
        from.end()?;
        Ok(TraceLine::Request(Box::new(request)))
    }

    fn parse(&self, line: &[u8]) -> Result<TraceLine, TraceFileError> {
        let read = match self.version {
            VERSION => self.parse_present(line),
            _ => serde_json::from_slice(line).and_then(|line| serde_json::from_value(raised(line))),
        };
        read.map_err(|error| TraceFileError::Line { number: self.number, error: error.to_string() })
    }
}

/// A line as the present version has it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum PresentLine<'a> {
    Begin(TraceBegin),
    #[serde(borrow)]
    Request(&'a RawValue),
    End(Box<TraceEnd>),
}

/// A line of an older version with the call of `other` beside the parts.
fn raised(mut line: Value) -> Value {
    if let Some(request) = line.get_mut("request").and_then(Value::as_object_mut) {
        let call = request.get_mut("parts").and_then(Value::as_object_mut);
        if let Some(call) = call.and_then(|parts| parts.remove("other_call")) {
            request.insert("other_call".to_owned(), call);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traced::{Blocker, ErrorCode, Preemptor, QueryCache, RequestOutcome, TextState};
    use crate::traced_files::{FileName, FileWait};
    use crate::traced_totals::{
        Preemption, ReplacedStatements, StatementName, StatementTotals, TraceTotals,
    };
    use crate::{Part, Parts, WireProtocol};
    use proptest::prelude::*;

    fn begin() -> TraceBegin {
        TraceBegin {
            version: VERSION,
            since: MonoNanos(1_234_567_890_123_456),
            clock: "2026-11-22 03:00:00".to_owned(),
            clock_id: Some("3f".to_owned()),
            servers: vec!["mariadbd, process 1".to_owned()],
            raw_sql: true,
            step: Nanos::ZERO,
        }
    }

    fn request(text: &str, nanos: u64) -> TracedRequest {
        TracedRequest {
            connection: 1,
            login: None,
            executes: 0,
            statements: Vec::new(),
            process: 2,
            thread: 3,
            start: MonoNanos(nanos),
            first_sent: Some(MonoNanos(nanos + 1)),
            end: MonoNanos(nanos + 2),
            protocol: WireProtocol::Postgres,
            command: b'Q',
            length: 9,
            text: text.into(),
            text_state: TextState::Whole,
            sent_bytes: 5,
            writes: 1,
            rows: None,
            error: Some(ErrorCode::SqlState("42601".to_owned())),
            outcome: RequestOutcome::Ended,
            server_queue: None,
            parts: Parts::traced(|index| Nanos(u64::from(index == 3))),
            other_call: None,
            blocker: Some(Blocker {
                thread: Some(4),
                lock: Some("tuple".into()),
                statement: Some("COMMIT".into()),
                length: Nanos(1),
                ..Blocker::default()
            }),
            preemptor: Some(Preemptor { thread: 5, name: "sh".to_owned(), length: Nanos(7) }),
            files: vec![mapped()],
            cache: QueryCache::Hit,
            is_match: false,
            answer_arrived: None,
            taken: None,
            stacks: Vec::new(),
        }
    }

    fn mapped() -> FileWait {
        let part = Part::IoRead;
        FileWait { file: FileName::Mapped, part, count: 1, length: Nanos(5) }
    }

    fn end() -> TraceEnd {
        let (responses, files) = ([0, 1].into_iter().collect(), vec![mapped()]);
        let parts = Parts::traced(|_| Nanos::ZERO);
        let totals = TraceTotals { count: 1, parts, responses, files, ..TraceTotals::default() };
        TraceEnd {
            length: Nanos(99),
            added_up: None,
            clock: "2026-11-22 03:00:01".to_owned(),
            cost: Some(TraceCost { probe_hits: 7, ..TraceCost::default() }),
            ledger: TraceLedger { started: 1, ended: 1, streamed: 1, ..TraceLedger::default() },
            totals: TracedTotals {
                statements: vec![StatementTotals {
                    was_preempted: true,
                    totals,
                    ..StatementTotals::nothing_of(StatementName::Text("SELECT".into()))
                }],
                lock_waits: Vec::new(),
                preemptors: vec![Preemption { name: None, count: 1, length: Nanos(5) }],
                replaced: Some(ReplacedStatements { rows: 1, most_calls: 2, most_time: Nanos(3) }),
            },
        }
    }

    fn written(request: &TracedRequest) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::begin(&mut bytes, &begin()).expect("memory");
        writer.request(request, "QUERY").expect("memory");
        writer.end(&end()).expect("memory");
        bytes
    }

    #[test]
    fn what_is_no_recording_says_so() {
        let refused = |bytes: &[u8]| TraceReader::begin(bytes).expect_err("none").to_string();
        assert!(refused(b"").contains("no recording"));
        assert!(refused(b"SELECT 1\n").contains("no recording"));
        assert!(refused(b"{\"begin\":{\"version\":9}}\n").contains("format 9"));
        let bytes = written(&request("SELECT", 5));
        let mut odd = bytes.split_inclusive(|byte| *byte == b'\n').next().expect("one").to_vec();
        odd.extend_from_slice(b"{}\n");
        let (_, mut reader) = TraceReader::begin(&odd[..]).expect("a beginning");
        assert!(reader.next().expect_err("odd").to_string().starts_with("line 2: "));
    }

    #[test]
    fn recordings_of_the_first_version_are_read() {
        let old = include_bytes!("../../../fuzz/seeds/trace/recording");
        let (begin, mut reader) = TraceReader::begin(&old[..]).expect("a beginning");
        assert_eq!(begin.version, 1);
        let mut kinds = [0; 2];
        while let Some(line) = reader.next().expect("a line") {
            kinds[usize::from(matches!(line, TraceLine::End(_)))] += 1;
        }
        assert!(kinds[0] > 0 && kinds[1] == 1, "{kinds:?}");
        // Timers had the number of an idle CPU's thread.
        let timer = r#"{"thread":0,"connection":null,"lock":null,"statement":null,"length_us":1}"#;
        let timer: Blocker = serde_json::from_str(timer).expect("a blocker");
        assert_eq!(timer.thread, None);
    }

    #[test]
    fn a_line_of_which_a_single_byte_is_left_was_cut() {
        let bytes = written(&request("SELECT", 5));
        let begin = bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
        for (length, is_cut) in [(begin, false), (begin + 1, true), (begin + 2, true)] {
            let (_, mut reader) = TraceReader::begin(&bytes[..length]).expect("a beginning");
            assert_eq!((reader.next().expect("no line"), reader.is_cut()), (None, is_cut));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_up_to_where_it_was_cut(
            text: String, nanos in 0u64..1 << 50, at: prop::sample::Index
        ) {
            let request = request(&text, nanos);
            let bytes = written(&request);
            let (found, mut reader) = TraceReader::begin(&bytes[..]).expect("a beginning");
            prop_assert_eq!(found, begin());
            let next = reader.next().expect("a line");
            prop_assert_eq!(next, Some(TraceLine::Request(Box::new(request))));
            let next = reader.next().expect("a line");
            prop_assert_eq!(next, Some(TraceLine::End(Box::new(end()))));
            prop_assert_eq!((reader.next().expect("the end"), reader.is_cut()), (None, false));
            let cut = &bytes[..at.index(bytes.len())];
            if let Ok((_, mut reader)) = TraceReader::begin(cut) {
                while reader.next().expect("whole lines").is_some() {}
                prop_assert_eq!(reader.is_cut(), !cut.ends_with(b"\n"));
            }
        }
    }
}
