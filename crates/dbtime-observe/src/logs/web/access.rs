//! Reads access logs by their format.

use super::format::AccessFormat;
use super::joiner::RequestJoiner;
use super::row::RowWriter;
use super::time::DayCache;
use super::w3c::{CurrentForm, last_header};
use crate::logs::lines::{last_line, lines_of};
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};

/// An access log of Apache, nginx, AWS ALB or of W3C's form: one line is one request.
#[derive(Clone, Debug)]
pub(crate) struct AccessLog {
    format: AccessFormat,
}

impl AccessLog {
    /// One whose lines have this form.
    pub(crate) fn new(format: AccessFormat) -> Self {
        Self { format }
    }

    /// Whether a file that begins like this has the form of a preset.
    #[cfg(test)]
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        AccessFormat::guess(head).is_some()
    }
}

impl LogReader for AccessLog {
    fn last_start(&self, bytes: &[u8], _state: BorderState) -> Option<usize> {
        last_line(bytes)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        self.read_below(&[], block, namer, batch);
    }

    fn header_in<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.format.has_comments { last_header(bytes) } else { &[] }
    }

    fn read_below(
        &self,
        header: &[u8],
        block: &[u8],
        namer: &mut dyn ClassNamer,
        batch: &mut RecordBatch,
    ) {
        let (mut writer, mut days) = (RowWriter::new(namer), DayCache::default());
        let mut form = CurrentForm::below(&self.format, header);
        for line in lines_of(block) {
            let at = line.range.start;
            if form.is_comment(&block[line.range.clone()]) {
                form.follow(&block[line.range]);
                continue;
            }
            match form.read(block, line.range, &mut days) {
                Ok(row) => writer.push(&row, at, block, batch),
                Err(_) if !line.has_end => batch.unread.push((UnreadReason::Incomplete, at as u32)),
                Err(why) => batch.unread.push((why, at as u32)),
            }
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(RequestJoiner { meaning: self.time_meaning() })
    }

    fn time_meaning(&self) -> TimeMeaning {
        self.format.time_meaning()
    }
}
