//! What a server printed: which of it says why it did not start, and what a record keeps.

use super::log_message::{LogMessage, first_line, program_in};
use super::mysql_log::MysqlLog;
use super::program_lines::program_line;
use super::settings;
use dbtime_model::Product;
use dbtime_model::plain_text::CUT_MARK;
use dbtime_model::secret_text::without_secrets;
use dbtime_model::units::counted;
use dbtime_sql::StatementShapes;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How many lines of a log are quoted.
const MAX_QUOTED_LINES: usize = 8;

/// Bytes of an entry that a copy has; of a longer one its end is counted.
const MAX_ENTRY_BYTES: usize = 1 << 16;

/// Entries of a message: PostgreSQL's have fewer.
const MAX_MESSAGE_ENTRIES: usize = 16;

/// What stands for lines of a program.
const UNSHOWN_LINES: &str = "?";

/// Words that mark a line as trouble, in all the servers' logs.
const FAILURE_WORDS: [&str; 9] = [
    "[error]",
    "error:",
    "fatal:",
    "panic:",
    "ld.so",
    "aborting",
    "no space left",
    "hint:",
    "unknown variable",
];

/// Settings of MySQL and MariaDB that name a file of statements, and where what the server prints
/// is one, such as `/dev/stderr`.
const STATEMENT_LOGS: [&str; 4] =
    ["general_log_file", "slow_query_log_file", "log_slow_query_file", "server_audit_file_path"];
const STREAMS: [&str; 2] = ["/dev/", "/proc/"];

/// Of what was printed since an attempt began, its end is read: a log may grow to gigabytes, and a
/// few lines of it are looked at and quoted.
const MAX_READ_BYTES: u64 = 1 << 20;

/// What a log has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogFormat {
    /// Of MariaDB too.
    Mysql,
    /// The same where statements may be logged to the same file.
    MysqlWithStatements,
    Postgres,
}

impl LogFormat {
    /// The format of a product with these settings.
    pub(super) fn of(product: Product, given: &[(String, String)]) -> Self {
        match product {
            Product::Postgres => Self::Postgres,
            _ if has_statements(given) => Self::MysqlWithStatements,
            _ => Self::Mysql,
        }
    }
}

/// Whether a setting names a file of statements that may be the log itself.
fn has_statements(given: &[(String, String)]) -> bool {
    let is_stream = |value: &str| STREAMS.iter().any(|folder| value.starts_with(folder));
    STATEMENT_LOGS.iter().any(|name| settings::value(given, name).is_some_and(is_stream))
}

/// A log that grows, read from where an attempt began.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogFrom<'a> {
    pub(super) path: &'a Path,
    /// Bytes of earlier attempts.
    pub(super) offset: u64,
}

/// What was printed at last.
#[derive(Debug, Default)]
struct LogEnd {
    bytes: Vec<u8>,
    /// Whether there is more before it.
    is_cut: bool,
}

/// Whether it is known what stands before what is read of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogBegin {
    /// Nothing does.
    Known,
    /// Messages and statements may, which the first lines go on with.
    Unknown,
}

impl<'a> LogFrom<'a> {
    /// From its present end on.
    pub(super) fn end_of(path: &'a Path) -> Self {
        let offset = fs::metadata(path).map_or(0, |found| found.len());
        Self { path, offset }
    }

    /// What was printed since, its last MiB of whole lines where it is more.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.read_end().bytes).into_owned()
    }

    /// Nothing where it cannot be read.
    fn read_end(&self) -> LogEnd {
        self.try_read_end().unwrap_or_default()
    }

    fn try_read_end(&self) -> io::Result<LogEnd> {
        let mut log = File::open(self.path)?;
        let from = self.offset.max(log.metadata()?.len().saturating_sub(MAX_READ_BYTES));
        let is_cut = from > self.offset;
        // With the byte before, so that a line that begins there is taken for a whole one.
        log.seek(SeekFrom::Start(from - u64::from(is_cut)))?;
        // It may grow meanwhile.
        let mut log = BufReader::new(log.take(MAX_READ_BYTES + u64::from(is_cut)));
        if is_cut {
            log.skip_until(b'\n')?;
        }
        let mut bytes = Vec::new();
        log.read_to_end(&mut bytes)?;
        Ok(LogEnd { bytes, is_cut })
    }

    /// The lines that say what is wrong, as they were printed: to be looked at, not to be shown.
    pub(super) fn trouble(&self) -> String {
        key_lines(&self.text()).join("\n")
    }

    /// The lines that say what is wrong, as a record would keep them and without the secrets of
    /// settings, indented, after a heading; that there are none, if so.
    pub(super) fn quote(&self, format: LogFormat) -> String {
        let LogEnd { bytes: printed, is_cut } = self.read_end();
        let mut plain = Vec::new();
        let begin = if is_cut { LogBegin::Unknown } else { LogBegin::Known };
        // Memory takes all of it.
        if keep_plain(printed.as_slice(), &mut plain, format, begin).is_err() {
            plain.clear();
        }
        let plain = String::from_utf8_lossy(&plain);
        let text = without_secrets(&plain);
        let lines = key_lines(&text);
        match (lines.is_empty(), printed.is_empty() && !is_cut) {
            (true, true) => "it printed nothing".to_owned(),
            (true, false) => "what it printed may have values, and is not shown".to_owned(),
            (false, _) => format!("its log:\n    {}", lines.join("\n    ")),
        }
    }
}

/// Copies a log without literals and passwords of statements, which an error may repeat,
/// and without values of rows.
pub(super) fn keep(log: &Path, copy: &Path, format: LogFormat) -> io::Result<()> {
    let log = File::open(log)?;
    let copy = File::create(copy)?;
    copy.set_permissions(log.metadata()?.permissions())?;
    let mut copy = BufWriter::new(copy);
    keep_plain(BufReader::new(log), &mut copy, format, LogBegin::Known)?;
    copy.flush()
}

fn keep_plain(
    log: impl BufRead,
    copy: &mut impl Write,
    format: LogFormat,
    begin: LogBegin,
) -> io::Result<()> {
    let shapes = StatementShapes::unknown();
    let is_unknown = begin == LogBegin::Unknown;
    match format {
        LogFormat::Mysql => keep_lines(log, MysqlLog::new(is_unknown), &shapes, copy),
        LogFormat::MysqlWithStatements => keep_lines(log, MysqlLog::new(true), &shapes, copy),
        LogFormat::Postgres => {
            let before = if is_unknown { LinesBefore::unknown() } else { LinesBefore::default() };
            keep_messages(log, before, &shapes, copy)
        }
    }
}

/// Copies the log of MySQL or MariaDB.
fn keep_lines(
    mut log: impl BufRead,
    mut filter: MysqlLog,
    shapes: &StatementShapes,
    copy: &mut impl Write,
) -> io::Result<()> {
    loop {
        let entry = take_entry(&mut log)?;
        if entry.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&entry);
        if let Some(plain) = filter.without_values(text.trim_end_matches('\n'), shapes) {
            write_entry(&entry, &plain, shapes, copy)?;
        }
    }
}

/// Copies the log of PostgreSQL.
fn keep_messages(
    mut log: impl BufRead,
    mut before: LinesBefore,
    shapes: &StatementShapes,
    copy: &mut impl Write,
) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        let entry = take_entry(&mut log)?;
        let goes_on = message.len() < MAX_MESSAGE_ENTRIES
            && LogMessage::goes_on(&String::from_utf8_lossy(&entry));
        if !goes_on {
            before = write_message(&message, before, shapes, copy)?;
            message.clear();
        }
        if entry.is_empty() {
            return Ok(());
        }
        message.push(entry);
    }
}

/// What the log of PostgreSQL has had so far.
#[derive(Clone, Copy, Debug, Default)]
struct LinesBefore {
    /// A message, so that other lines may be of any program.
    has_message: bool,
    /// Such lines at last, for which a sign stands there.
    are_unshown: bool,
    /// A statement with a program, whose lines that begin with a tab join what was printed last.
    has_program: bool,
}

impl LinesBefore {
    /// What may have been there.
    fn unknown() -> Self {
        Self { has_message: true, are_unshown: false, has_program: true }
    }

    /// What is the server's own of an entry that comes next.
    fn own<'a>(&mut self, entry: &'a str) -> &'a str {
        let entry = entry.trim_end_matches('\n');
        let own = if self.has_program { first_line(entry) } else { entry };
        self.has_program |= program_in(entry).is_some();
        own
    }
}

fn write_message(
    entries: &[Vec<u8>],
    mut before: LinesBefore,
    shapes: &StatementShapes,
    copy: &mut impl Write,
) -> io::Result<LinesBefore> {
    let texts: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(entry)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| before.own(text)).collect();
    let message = LogMessage::of(&texts);
    for (entry, text) in entries.iter().zip(texts) {
        let is_message = LogMessage::is_one(text);
        before.has_message |= is_message;
        let line = (!before.has_message).then(|| program_line(text)).flatten();
        let is_unshown = !is_message && line.is_none() && !text.is_empty();
        if is_unshown && before.are_unshown {
            continue;
        }
        before.are_unshown = is_unshown;
        let plain = match line {
            _ if is_unshown => UNSHOWN_LINES.into(),
            Some(line) => line,
            None if text.is_empty() => text.into(),
            None => message.without_values(text),
        };
        if !plain.is_empty() || text.is_empty() {
            write_entry(entry, &plain, shapes, copy)?;
        }
    }
    Ok(before)
}

/// Writes an entry of which this is left; as it was where all of it is.
fn write_entry(
    entry: &[u8],
    plain: &str,
    shapes: &StatementShapes,
    copy: &mut impl Write,
) -> io::Result<()> {
    let shown = shapes.without_repeated("", plain);
    match String::from_utf8_lossy(entry).trim_end_matches('\n') == shown {
        true => copy.write_all(entry),
        false => writeln!(copy, "{shown}"),
    }
}

/// The next entry; empty at the end of the log.
fn take_entry(log: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut entry = Vec::new();
    let mut left_out = take_line(log, &mut entry)?;
    // PostgreSQL begins the further lines of a text by a tab.
    while log.fill_buf()?.first() == Some(&b'\t') {
        left_out += take_line(log, &mut entry)?;
    }
    if left_out > 0 {
        let bytes = counted(left_out, "byte");
        entry.extend_from_slice(format!("{CUT_MARK}{bytes} left out)\n").as_bytes());
    }
    Ok(entry)
}

/// Takes a line to an entry, as far as it has room, and returns how many bytes it had none for.
fn take_line(log: &mut impl BufRead, entry: &mut Vec<u8>) -> io::Result<u64> {
    let room = MAX_ENTRY_BYTES.saturating_sub(entry.len());
    let taken = log.by_ref().take(room as u64).read_until(b'\n', entry)?;
    match taken > 0 && entry.ends_with(b"\n") {
        true => Ok(0),
        false => Ok(log.skip_until(b'\n')? as u64),
    }
}

/// The last lines that tell of trouble, else the last lines.
fn key_lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    let is_trouble = |line: &&str| {
        let line = line.to_lowercase();
        FAILURE_WORDS.iter().any(|word| line.contains(word))
    };
    let trouble: Vec<&str> = lines.iter().copied().filter(is_trouble).collect();
    let chosen = if trouble.is_empty() { lines } else { trouble };
    chosen[chosen.len().saturating_sub(MAX_QUOTED_LINES)..].to_vec()
}

#[cfg(test)]
mod planted;

#[cfg(test)]
mod tests;
