//! A format string, compiled into a list of fields and what stands between them.

use super::error::LogFormatError;
use super::field::{AccessField, FieldShape, FormatStep};
use super::row::RequestRow;
use super::time::{DayCache, InstantParts, TimePart};
use super::{apache, nginx, presets, w3c};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use std::ops::Range;

/// The form of the lines of an access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFormat {
    text: String,
    lead: Vec<u8>,
    steps: Vec<FormatStep>,
    meaning: TimeMeaning,
    is_local_time: bool,
    /// Whether lines with `#` at their beginning are no records.
    pub(super) has_comments: bool,
}

impl AccessFormat {
    /// Compiles a format string of Apache (`%h …`) or nginx (`$remote_addr …`), the line `#Fields:`
    /// of a W3C log, or the name of a preset. Errors: what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, LogFormatError> {
        let name = text.trim();
        if let Some(fields) = name.strip_prefix(w3c::FIELDS) {
            return w3c::w3c(fields, b' ');
        }
        if name == "w3c" {
            return Err(LogFormatError::NeedsFields);
        }
        let format = presets::by_name(name).unwrap_or(name);
        match format.bytes().find(|byte| matches!(byte, b'%' | b'$')) {
            Some(b'%') => apache::compile(format)?.finish(name),
            Some(_) => nginx::compile(format)?.finish(name),
            None => Err(LogFormatError::NoField(name.to_owned())),
        }
    }

    /// The names that [`AccessFormat::parse`] takes in place of a format string.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        presets::names()
    }

    /// The preset with most fields that at least nine of ten of the first lines fit. Shape: `head`
    /// is how the file begins; a line without its end does not count.
    pub fn guess(head: &[u8]) -> Option<Self> {
        presets::guess(head)
    }

    /// As it was given: a format string or a name.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What its instants are.
    pub fn time_meaning(&self) -> TimeMeaning {
        self.meaning
    }

    /// What stands between the first two values.
    pub(super) fn separator(&self) -> u8 {
        self.steps.first().and_then(|step| step.end.first()).copied().unwrap_or(b' ')
    }

    /// Whether its instants are of the server's local time, because they have no zone.
    pub fn is_local_time(&self) -> bool {
        self.is_local_time
    }

    /// Reads the line in this range of a block.
    pub(super) fn read(
        &self,
        block: &[u8],
        line: Range<usize>,
        days: &mut DayCache,
    ) -> Result<RequestRow, UnreadReason> {
        let text = block.get(line.clone()).ok_or(UnreadReason::Form)?;
        let (mut row, mut instant) = (RequestRow::default(), InstantParts::default());
        if !text.starts_with(&self.lead) {
            return Err(UnreadReason::Form);
        }
        let mut at = line.start + self.lead.len();
        for step in &self.steps {
            let (value, next) = step.value(block, at..line.end).ok_or(UnreadReason::Form)?;
            match step.field {
                AccessField::Skipped | AccessField::ServerName => {}
                AccessField::Time(part) => {
                    instant.add(part, &block[value], days).ok_or(UnreadReason::Time)?;
                }
                field => row.set(field, block, value)?,
            }
            at = next;
        }
        if at != line.end {
            return Err(UnreadReason::Form);
        }
        row.logged_us = instant.instant_us()?;
        Ok(row)
    }
}

/// Puts a format together, in the order of its text.
#[derive(Debug, Default)]
pub(super) struct FormatBuilder {
    lead: Vec<u8>,
    steps: Vec<FormatStep>,
    /// What the first instant of the format is.
    meaning: Option<TimeMeaning>,
    /// Whether quotes within quotes have a backslash.
    has_escapes: bool,
    /// Whether lines with `#` at their beginning are no records.
    pub(super) has_comments: bool,
    /// Whether instants without a zone are UTC.
    pub(super) is_utc: bool,
}

impl FormatBuilder {
    /// An empty one, where quotes within quotes have a backslash or not.
    pub(super) fn new(has_escapes: bool) -> Self {
        Self { has_escapes, ..Self::default() }
    }

    /// Adds text that stands in every line.
    pub(super) fn literal(&mut self, byte: u8) {
        match self.steps.last_mut() {
            Some(step) => step.end.push(byte),
            None => self.lead.push(byte),
        }
    }

    /// Adds a field that stands at this byte of the format.
    pub(super) fn field(&mut self, field: AccessField, at: usize) -> Result<(), LogFormatError> {
        self.shaped(field, field.shape(), at)
    }

    /// Adds a field of a shape of its own.
    pub(super) fn shaped(
        &mut self,
        field: AccessField,
        shape: FieldShape,
        at: usize,
    ) -> Result<(), LogFormatError> {
        if let Some(last) = self.steps.last_mut().filter(|step| step.is_open()) {
            match (last.field, field) {
                // `%U%q`: a path may have its query with it.
                (AccessField::Path, AccessField::Query) => return Ok(()),
                // `$host$request_uri`: a path begins with a slash.
                (AccessField::ServerName, AccessField::Path) => last.shape = FieldShape::HostName,
                _ => return Err(LogFormatError::NoBorder { at }),
            }
        }
        self.steps.push(FormatStep { field, shape, end: Vec::new() });
        Ok(())
    }

    /// Adds a part of an instant. Instants of another meaning than the first are passed over.
    pub(super) fn time(
        &mut self,
        part: TimePart,
        meaning: TimeMeaning,
        at: usize,
    ) -> Result<(), LogFormatError> {
        let field = AccessField::Time(part);
        let is_read = *self.meaning.get_or_insert(meaning) == meaning;
        self.shaped(if is_read { field } else { AccessField::Skipped }, field.shape(), at)
    }

    /// The format, under the text that was given for it.
    pub(super) fn finish(mut self, text: &str) -> Result<AccessFormat, LogFormatError> {
        if self.steps.is_empty() {
            return Err(LogFormatError::NoField(text.to_owned()));
        }
        let is_request =
            |step: &FormatStep| matches!(step.field, AccessField::Request | AccessField::Path);
        if !self.steps.iter().any(is_request) {
            return Err(LogFormatError::NoRequest);
        }
        self.keep_finest_duration();
        self.find_quotes();
        Ok(AccessFormat {
            text: text.to_owned(),
            is_local_time: !self.is_utc && self.lacks_zone(),
            lead: self.lead,
            steps: self.steps,
            meaning: self.meaning.unwrap_or(TimeMeaning::End),
            has_comments: self.has_comments,
        })
    }

    /// Of `%T` and `%D` the one with the smaller unit is read.
    fn keep_finest_duration(&mut self) {
        let unit = |step: &FormatStep| match step.field {
            AccessField::Duration(unit_ns) => Some(unit_ns),
            _ => None,
        };
        let finest = self.steps.iter().filter_map(unit).min();
        for step in self.steps.iter_mut().filter(|step| unit(step).is_some()) {
            if unit(step) != finest {
                step.field = AccessField::Skipped;
            }
        }
    }

    /// A field with quotes around it ends at the second one.
    fn find_quotes(&mut self) {
        let mut is_behind_quote = self.lead.ends_with(b"\"");
        for step in &mut self.steps {
            let is_quoted = is_behind_quote && step.end.starts_with(b"\"");
            if is_quoted && self.has_escapes && !matches!(step.shape, FieldShape::Fixed(_)) {
                step.shape = FieldShape::Quoted;
            }
            is_behind_quote = step.end.ends_with(b"\"");
        }
    }

    fn lacks_zone(&self) -> bool {
        let is_zoned = |step: &FormatStep| {
            matches!(
                step.field,
                AccessField::Time(
                    TimePart::Local | TimePart::Iso | TimePart::Epoch(_) | TimePart::Zone
                )
            )
        };
        self.meaning.is_some() && !self.steps.iter().any(is_zoned)
    }
}
