//! PostgreSQL's stderr log, and the same in syslog: lines behind a prefix.

use super::joiner::PostgresJoiner;
use super::message_line::{LineText, MessageLine, MessageWriter};
use super::messages::write_message;
use super::prefix::PrefixPattern;
use super::prefix_match::LineStart;
use super::syslog::syslog_head;
use crate::logs::lines::last_start;
use crate::logs::numbers::iso_us;
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};

/// The log that PostgreSQL writes to stderr or syslog. A message begins at a line that begins with
/// the prefix and a severity; lines that begin with a tab go on with it.
#[derive(Clone, Debug)]
pub(crate) struct PostgresText {
    prefix: PrefixPattern,
}

impl PostgresText {
    /// A log whose lines begin so.
    pub(crate) fn new(prefix: PrefixPattern) -> Self {
        Self { prefix }
    }

    /// Whether the first lines of a log have one of the common prefixes.
    #[cfg(test)]
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        PrefixPattern::guess(head).is_some()
    }

    /// Whether instants are of the server's local time: the first one names no known zone. Seconds
    /// since 1970 have none.
    pub(crate) fn is_local_time(&self, head: &[u8]) -> bool {
        let lines = head.split(|byte| *byte == b'\n');
        let mut starts = lines.filter_map(|line| self.start(line));
        starts.find_map(|start| iso_us(start.line.time)).is_some_and(|(_, is_known)| !is_known)
    }

    fn start<'a>(&self, line: &'a [u8]) -> Option<LineStart<'a>> {
        LineStart::find(&self.prefix, LineText::of_block(line, 0..line.len()))
    }

    /// The text of a line that goes on with the message before; `None`: it does not, or is of
    /// another process.
    fn continued<'a>(&self, line: &'a [u8], pid: &[u8]) -> Option<&'a [u8]> {
        if let Some(text) = line.strip_prefix(b"\t") {
            return Some(text);
        }
        let head = if self.prefix.is_syslog { syslog_head(line) } else { None };
        let head = head.filter(|head| head.is_continued && (pid.is_empty() || head.pid == pid))?;
        Some(&line[head.length..])
    }

    /// Joins the lines that go on at an offset to the first one of a message, if there are any; the
    /// offset behind them.
    fn lengthen(
        &self,
        block: &[u8],
        mut at: usize,
        first: &MessageLine<'_>,
        made: &mut Vec<u8>,
    ) -> usize {
        while at < block.len() {
            let (line, next) = line_at(block, at);
            let Some(text) = self.continued(line, first.pid) else { break };
            if made.is_empty() {
                made.extend_from_slice(first.message.bytes);
            }
            made.push(b'\n');
            made.extend_from_slice(text);
            at = next;
        }
        at
    }

    /// Reads the message at an offset, with `made` for the text of one of several lines; the offset
    /// behind it.
    fn read_message(
        &self,
        block: &[u8],
        at: usize,
        made: &mut Vec<u8>,
        writer: &mut MessageWriter<'_>,
    ) -> usize {
        let (line, next) = line_at(block, at);
        if line.is_empty() {
            return next;
        }
        let start = LineStart::find(&self.prefix, LineText::of_block(block, at..at + line.len()));
        let (mut message, severity) = match start {
            Some(start) => (start.line, start.severity),
            None => (MessageLine::default(), None),
        };
        message.at = at;
        let end = self.lengthen(block, next, &message, made);
        if end > next {
            message.message = LineText::made(made);
        }
        match severity {
            // The server has not written all of it: there may be more of its text.
            _ if end == block.len() && !block.ends_with(b"\n") => {
                writer.unread(UnreadReason::Incomplete, at);
            }
            Some(_) => write_message(&message, writer),
            None => writer.unread(UnreadReason::Form, at),
        }
        end
    }
}

impl LogReader for PostgresText {
    fn last_start(&self, bytes: &[u8], _state: BorderState) -> Option<usize> {
        last_start(bytes, |_, line| self.start(without_return(line)).is_some())
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut writer = MessageWriter::new(namer, batch);
        let mut made = Vec::new();
        let mut at = 0;
        while at < block.len() {
            made.clear();
            at = self.read_message(block, at, &mut made, &mut writer);
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(PostgresJoiner::default())
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}

/// The line at an offset, without its end, and the offset of the next.
fn line_at(block: &[u8], at: usize) -> (&[u8], usize) {
    let rest = block.get(at..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest);
    let line = &rest[..end.unwrap_or(rest.len())];
    (without_return(line), end.map_or(block.len(), |end| at + end + 1))
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
