//! Logs in W3C's form, as IIS and Amazon's CloudFront write them: a line `#Fields:` names the
//! fields of the lines behind it, and a server that is started anew or set otherwise writes another
//! one in mid-file. <https://www.w3.org/TR/WD-logfile.html>

use super::error::LogFormatError;
use super::field::AccessField;
use super::format::{AccessFormat, FormatBuilder};
use super::row::RequestRow;
use super::time::{DayCache, TimePart};
use crate::logs::lines::first_lines;
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// How the line begins that has the fields.
pub(super) const FIELDS: &str = "#Fields:";

/// What the lines of a log have in their order: what they began with, or the last header names.
#[derive(Debug)]
pub(super) struct CurrentForm<'a> {
    own: &'a AccessFormat,
    /// `None`: the last header names no request, so that nothing behind it can be read.
    form: Option<Cow<'a, AccessFormat>>,
}

impl<'a> CurrentForm<'a> {
    /// That of lines behind a header; empty: of a log from its beginning.
    pub(super) fn below(own: &'a AccessFormat, header: &[u8]) -> Self {
        let mut current = Self { own, form: Some(Cow::Borrowed(own)) };
        current.follow(header);
        current
    }

    /// Takes a line of comment, which may be a header.
    pub(super) fn follow(&mut self, line: &[u8]) {
        let Some(fields) = line.strip_prefix(FIELDS.as_bytes()) else { return };
        let fields = str::from_utf8(fields).unwrap_or_default().trim();
        let is_own = self.own.text().strip_prefix(FIELDS).map(str::trim) == Some(fields);
        self.form = match is_own {
            true => Some(Cow::Borrowed(self.own)),
            false => w3c(fields, self.own.separator()).ok().map(Cow::Owned),
        };
    }

    /// Whether a line of the log is a comment.
    pub(super) fn is_comment(&self, line: &[u8]) -> bool {
        self.own.has_comments && line.starts_with(b"#")
    }

    /// Reads the line in this range of a block.
    pub(super) fn read(
        &self,
        block: &[u8],
        line: Range<usize>,
        days: &mut DayCache,
    ) -> Result<RequestRow, UnreadReason> {
        self.form.as_ref().ok_or(UnreadReason::Form)?.read(block, line, days)
    }
}

/// The last header of these bytes; empty: there is none.
pub(super) fn last_header(bytes: &[u8]) -> &[u8] {
    let is_begin = |at: &usize| *at == 0 || bytes[*at - 1] == b'\n';
    let last = memmem::find_iter(bytes, FIELDS).filter(is_begin).last();
    let Some(begin) = last else { return &[] };
    let line = &bytes[begin..];
    &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
}

/// What stands between the values: Amazon's logs have tabs.
pub(super) fn separator(head: &[u8], looked_at: usize) -> u8 {
    let has_tab = first_lines(head, looked_at)
        .map(|line| &head[line])
        .find(|line| !line.starts_with(b"#"))
        .is_some_and(|line| line.contains(&b'\t'));
    if has_tab { b'\t' } else { b' ' }
}

/// The format by the fields of a header. Errors: there is no request among them.
pub(super) fn w3c(fields: &str, separator: u8) -> Result<AccessFormat, LogFormatError> {
    let mut builder = FormatBuilder::new(false);
    (builder.has_comments, builder.is_utc) = (true, true);
    for (index, name) in fields.split_whitespace().enumerate() {
        if index > 0 {
            builder.literal(separator);
        }
        let field = match name {
            "date" => {
                builder.time(TimePart::IsoDay, TimeMeaning::End, index)?;
                continue;
            }
            "time" => {
                builder.time(TimePart::Clock, TimeMeaning::End, index)?;
                continue;
            }
            _ => w3c_field(name),
        };
        builder.field(field, index)?;
    }
    builder.finish(&format!("{FIELDS} {}", fields.trim()))
}

fn w3c_field(name: &str) -> AccessField {
    match name {
        "cs-method" => AccessField::Method,
        "cs-uri-stem" | "cs-uri" => AccessField::Path,
        "cs-uri-query" => AccessField::Query,
        "cs-username" => AccessField::User,
        "c-ip" => AccessField::Host,
        "sc-status" => AccessField::Status,
        "sc-bytes" => AccessField::Sent,
        "cs-bytes" => AccessField::Received,
        "time-taken" => AccessField::TakenTime,
        _ => AccessField::Skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_header_counts() {
        for (bytes, header) in [
            ("", ""),
            ("a b\nc #Fields: d\n", ""),
            ("#Fields: a\nb\n", "#Fields: a"),
            ("#Fields: a\nb\n#Date: c\n#Fields: d\r\ne #Fields: f\n", "#Fields: d\r"),
            ("a\n#Fields: b", "#Fields: b"),
        ] {
            assert_eq!(last_header(bytes.as_bytes()), header.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn a_header_without_a_request_gives_no_form() {
        let own = w3c("date time cs-uri-stem", b' ').expect("a format");
        let mut current = CurrentForm::below(&own, b"#Fields: date time");
        assert!(current.form.is_none());
        current.follow(b"#Date: 2000-10-10");
        assert!(current.form.is_none());
        current.follow(b"#Fields:  date time cs-uri-stem\r");
        assert!(matches!(current.form, Some(Cow::Borrowed(_))), "{current:?}");
        current.follow(b"#Fields: time cs-uri-stem date");
        assert!(matches!(current.form, Some(Cow::Owned(_))), "{current:?}");
    }
}
