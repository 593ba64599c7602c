//! Requests as lines of JSON: what `dbtime trace --json` prints, and recordings were before they
//! had blocks.
//!
//! ```text
//!   {"begin":{"version":3,…}}
//!   {"request":{…}}            as often as there are some
//!   {"end":{"ledger":…,"totals":…}}
//! ```

use super::{LINE_VERSION, RecordedPart, TraceBegin, TraceEnd, TraceFileError, possible};
use crate::MonoNanos;
use crate::traced::TracedRequest;
use crate::traced_json::{RequestJson, read_request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Read, Write};

/// Longer lines are none of ours. The longest by far is the end, of some megabytes.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// How [`TraceLineWriter`] begins the line of a request, which [`PresentLine`] would have to search
/// for its end first.
const REQUEST_BEGIN: &[u8] = b"{\"request\":";

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum WrittenLine<'a> {
    Begin(&'a TraceBegin),
    Request(&'a RequestJson<'a>),
    End(&'a TraceEnd),
}

/// Writes lines.
#[derive(Debug)]
pub struct TraceLineWriter<W: Write> {
    to: W,
    since: MonoNanos,
}

impl<W: Write> TraceLineWriter<W> {
    /// Begins with `begin`, of the present version of lines whatever it says.
    ///
    /// # Errors
    /// As writing.
    pub fn begin(to: W, begin: &TraceBegin) -> io::Result<Self> {
        let mut writer = Self { to, since: begin.since };
        let begin = TraceBegin { version: LINE_VERSION, ..begin.clone() };
        writer.line(&WrittenLine::Begin(&begin))?;
        Ok(writer)
    }

    /// Adds a request whose command has this name. Cost: some microseconds.
    ///
    /// # Errors
    /// As writing.
    pub fn request(&mut self, request: &TracedRequest, command_name: &str) -> io::Result<()> {
        let request = RequestJson::of(request, self.since, command_name);
        self.line(&WrittenLine::Request(&request))
    }

    /// What it writes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.to
    }

    /// Writes the end.
    ///
    /// # Errors
    /// As writing.
    pub fn end(&mut self, end: &TraceEnd) -> io::Result<()> {
        self.line(&WrittenLine::End(end))
    }

    fn line(&mut self, line: &WrittenLine<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, line)?;
        self.to.write_all(b"\n")
    }
}

/// Reads the lines behind the first.
#[derive(Debug)]
pub(super) struct TraceLineReader<R> {
    from: R,
    version: u32,
    since: MonoNanos,
    number: u64,
    is_cut: bool,
    /// Room for a line.
    line: Vec<u8>,
}

impl<R: BufRead> TraceLineReader<R> {
    /// What lies behind this beginning.
    pub(super) fn new(from: R, begin: &TraceBegin) -> Self {
        let (version, since) = (begin.version, begin.since);
        Self { from, version, since, number: 1, is_cut: false, line: Vec::new() }
    }

    /// What it reads from.
    pub(super) fn source(&self) -> &R {
        &self.from
    }

    /// Whether the last line was cut in two.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// What the next line has; `None` at the end of the file, also where that cuts a line in two.
    ///
    /// # Errors
    /// The line is none, or cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<RecordedPart>, TraceFileError> {
        self.number += 1;
        match read_line(&mut self.from, &mut self.line)? {
            LineEnd::None => Ok(None),
            LineEnd::Cut => {
                self.is_cut = true;
                Ok(None)
            }
            LineEnd::Whole => {
                let part = self.parsed().map_err(|error| error.to_string());
                let part = part.and_then(|part| possible(part).map_err(str::to_owned));
                let number = self.number;
                part.map(Some).map_err(|error| TraceFileError::Line { number, error })
            }
        }
    }

    fn parsed(&self) -> serde_json::Result<RecordedPart> {
        let line = &self.line[..];
        if self.version < LINE_VERSION {
            let line = serde_json::from_value(raised(serde_json::from_slice(line)?))?;
            return Ok(match line {
                OldLine::Request(request) => RecordedPart::Requests(vec![*request]),
                OldLine::End(end) => RecordedPart::End(end),
            });
        }
        let request = line.strip_prefix(REQUEST_BEGIN).and_then(|line| line.strip_suffix(b"}"));
        if let Some(request) = request {
            return self.request(serde_json::Deserializer::from_slice(request));
        }
        Ok(match serde_json::from_slice(line)? {
            PresentLine::Request(request) => {
                self.request(serde_json::Deserializer::from_str(request.get()))?
            }
            PresentLine::End(end) => RecordedPart::End(end),
        })
    }

    fn request<'de, F: serde_json::de::Read<'de>>(
        &self,
        mut from: serde_json::Deserializer<F>,
    ) -> serde_json::Result<RecordedPart> {
        let request = read_request(&mut from, self.since)?;
        from.end()?;
        Ok(RecordedPart::Requests(vec![request]))
    }
}

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// There is none.
    None,
    /// The file ends before it does.
    Cut,
    /// It is whole.
    Whole,
}

/// Reads a line without its end.
///
/// # Errors
/// As reading, or the line is longer than any of ours.
pub(super) fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineEnd> {
    line.clear();
    from.take(MAX_LINE_BYTES).read_until(b'\n', line)?;
    let is_full = line.len() as u64 == MAX_LINE_BYTES;
    match line.pop() {
        None => Ok(LineEnd::None),
        Some(b'\n') => Ok(LineEnd::Whole),
        Some(_) if is_full => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "a line is longer than 64 MiB, which none of a recording is",
        )),
        Some(_) => Ok(LineEnd::Cut),
    }
}

/// A line as the present version has it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum PresentLine<'a> {
    #[serde(borrow)]
    Request(&'a RawValue),
    End(Box<TraceEnd>),
}

/// A line of the versions 1 and 2.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OldLine {
    Request(Box<TracedRequest>),
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
