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
mod tests {
    use super::*;

    #[test]
    fn trouble_is_told_rather_than_the_end() {
        let text =
            "[Note] a\n[ERROR] unknown variable 'x=1'\n[Note] b\n[ERROR] Aborting\n\n[Note] c";
        assert_eq!(key_lines(text), ["[ERROR] unknown variable 'x=1'", "[ERROR] Aborting"]);
        let text = "LOG:  a\nFATAL:  could not map\nHINT:  lower it\nLOG:  down\n";
        assert_eq!(key_lines(text), ["FATAL:  could not map", "HINT:  lower it"]);
    }

    #[test]
    fn without_trouble_the_end_is_told() {
        let many: String = (0..20).map(|n| format!("line {n}\n")).collect();
        let lines = key_lines(&many);
        assert_eq!((lines.len(), lines[0], lines[7]), (8, "line 12", "line 19"));
        assert!(key_lines("").is_empty());
    }

    #[test]
    fn a_log_that_statements_go_to_is_of_its_own_format() {
        for (name, value, format) in [
            ("General-Log_File", "/dev/stderr", LogFormat::MysqlWithStatements),
            ("slow_query_log_file", "/proc/self/fd/2", LogFormat::MysqlWithStatements),
            ("general_log_file", "general.log", LogFormat::Mysql),
            ("general_log", "1", LogFormat::Mysql),
        ] {
            let given = [(name.to_owned(), value.to_owned())];
            assert_eq!(LogFormat::of(Product::Mariadb, &given), format, "{name}");
        }
        let log = "2026-11-30 10:00:01 0 [Note] hush\n";
        assert_eq!(kept_of(log, LogFormat::MysqlWithStatements), "");
        assert_eq!(kept_of(log, LogFormat::Mysql), log);
    }

    #[test]
    fn only_what_is_new_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let quote = |log: &LogFrom<'_>| log.quote(LogFormat::Mysql);
        assert_eq!(quote(&LogFrom::end_of(&path)), "it printed nothing");
        fs::write(&path, "old\n").expect("written");
        let log = LogFrom::end_of(&path);
        fs::write(&path, b"old\nnew \xff\n").expect("written");
        assert_eq!(log.text(), "new \u{fffd}\n");
        assert_eq!(quote(&log), "its log:\n    new \u{fffd}");
        let hidden = log.quote(LogFormat::MysqlWithStatements);
        assert_eq!(hidden, "what it printed may have values, and is not shown");
        // A single line that is longer than what is read.
        fs::write(&path, "a".repeat(MAX_READ_BYTES as usize + 9)).expect("written");
        assert_eq!((log.text(), log.quote(LogFormat::Mysql)), (String::new(), hidden));
    }

    #[test]
    fn of_a_long_log_its_last_lines_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let log = LogFrom { path: &path, offset: 4 };
        let line = format!("{}\n", "a".repeat(1023));
        let most = MAX_READ_BYTES as usize;
        let many = line.repeat(most / line.len());
        for (text, expected) in [
            (format!("old\n{many}"), many.clone()),
            (format!("old\nnew\n{many}"), many.clone()),
            (format!("old\n{many}last\n"), format!("{}last\n", &many[line.len()..])),
            ("old".to_owned(), String::new()),
        ] {
            fs::write(&path, &text).expect("written");
            assert!(log.text() == expected, "{} of {} bytes", log.text().len(), text.len());
        }
    }

    #[test]
    fn lines_that_go_on_with_what_was_not_read_are_not_shown() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let before = format!("{}\n", "a".repeat(1023)).repeat(MAX_READ_BYTES as usize >> 10);
        let log = LogFrom { path: &path, offset: 0 };
        let own = "[1] 00000 LOG:  shutting down";
        for (format, rest, expected) in [
            (LogFormat::Postgres, format!("initdb: hush\n{own}\n"), format!("?\n    {own}")),
            (LogFormat::Mysql, "hush\n".to_owned(), String::new()),
        ] {
            fs::write(&path, format!("{before}{rest}")).expect("written");
            let quoted = log.quote(format);
            assert!(quoted.contains(&expected) && !quoted.contains("hush"), "{quoted}");
        }
    }

    #[test]
    fn what_is_quoted_has_no_value_of_a_statement_or_a_setting() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let log = LogFrom::end_of(&path);
        for (format, text, expected) in [
            (
                LogFormat::Postgres,
                "9 [7] 22023 FATAL:  invalid value for parameter \"work_mem\": \"hush\"\n",
                "9 [7] 22023 FATAL:  invalid value for parameter \"work_mem\": \"?\"",
            ),
            (
                LogFormat::Postgres,
                "9 [7] 08006 FATAL:  could not connect to the primary server: port \"hush\"\n",
                "9 [7] 08006 FATAL:  could not connect to the primary server: ?",
            ),
            (
                LogFormat::Postgres,
                "9 [7] 58P01 FATAL:  could not access file \"hush\": No such file or directory\n",
                "9 [7] 58P01 FATAL:  could not access file \"?\": No such file or directory",
            ),
            (
                LogFormat::Mysql,
                "9 0 [ERROR] mariadbd: unknown variable 'x_password=hush'\n",
                "9 0 [ERROR] mariadbd: unknown variable 'x_password=***",
            ),
            (
                LogFormat::Mysql,
                "ERROR: 1064  You have an error; near 'hush' at line 1\n",
                "ERROR: 1064  You have an error; near '?' at line ?",
            ),
        ] {
            fs::write(&path, text).expect("written");
            assert_eq!(log.quote(format), format!("its log:\n    {expected}"));
            assert_eq!(log.trouble(), text.trim_end(), "the cause is looked for in all of it");
        }
    }

    /// What is kept of a whole log.
    pub(super) fn kept_of(text: &str, format: LogFormat) -> String {
        let mut copy = Vec::new();
        keep_plain(text.as_bytes(), &mut copy, format, LogBegin::Known).expect("memory");
        String::from_utf8(copy).expect("text")
    }

    #[test]
    fn what_a_raise_says_in_the_server_s_words_is_left_out_where_it_departs() {
        let raised = "[1] 00000 LOG:  checkpoint complete: ";
        for (text, expected) in [
            (format!("{raised}hush\n"), format!("{raised}?\n")),
            (format!("{raised}wrote 3 buffers hush\n"), format!("{raised}wrote 3 buffers ?\n")),
            ("LOG:  statement: SELECT hush\n".to_owned(), "LOG:  statement: ?\n".to_owned()),
            (
                "[1] 22023 LOG:  parameter \"a\" of hush\n".to_owned(),
                "[1] 22023 LOG:  parameter \"?\n".to_owned(),
            ),
            (
                "[1] 55P03 ERROR:  redo is not required of hush\n".to_owned(),
                "[1] 55P03 ERROR:  redo is not ?\n".to_owned(),
            ),
            ("[1] 23505 ERROR:  account of hush\n".to_owned(), "[1] 23505 ERROR:  ?\n".to_owned()),
        ] {
            assert_eq!(kept_of(&text, LogFormat::Postgres), expected);
        }
    }

    #[test]
    fn lines_of_programs_that_a_server_has_started_are_left_out() {
        let of_initdb = "initdb: error: no place\ncreating subdirectories ... ok\n";
        let own = "[1] 00000 LOG:  shutting down\n";
        let rows = "hush\n1\thush\ninitdb: hush\ncreating subdirectories ... ok\n";
        for (text, expected) in [
            (format!("{of_initdb}{own}{rows}{own}"), format!("{of_initdb}{own}?\n{own}")),
            (format!("hush\n{of_initdb}"), format!("?\n{of_initdb}")),
            (format!("{own}hush\n\nhush\n{own}"), format!("{own}?\n\n?\n{own}")),
        ] {
            assert_eq!(kept_of(&text, LogFormat::Postgres), expected);
        }
    }

    #[test]
    fn rows_of_a_program_join_no_entry_behind_its_statement() {
        let program = "[1] 00000 LOG:  statement: COPY t TO PROGRAM 'x'\n";
        let shown = "[1] 00000 LOG:  statement: ?\n";
        let own = "[1] 00000 LOG:  shutting down\n";
        let (joined, rows) = (format!("{own}\thush\n"), "\thush\n\t1\thush\n");
        let kept = kept_of(&format!("{program}{joined}"), LogFormat::Postgres);
        assert_eq!(kept, format!("{shown}{own}"));
        let kept = kept_of(&format!("{program}{rows}{own}{rows}{own}"), LogFormat::Postgres);
        assert_eq!(kept, format!("{shown}{own}{own}"));
    }

    #[test]
    fn what_is_kept_has_nothing_that_a_server_repeats_of_a_statement_or_a_row() {
        let dir = tempfile::tempdir().expect("a folder");
        let [log, copy] = ["log", "copy"].map(|name| dir.path().join(name));
        let kept_of = |text: &[u8], format: LogFormat| {
            fs::write(&log, text).expect("written");
            keep(&log, &copy, format).expect("kept");
            fs::read(&copy).expect("a copy")
        };
        let kept = |text: &[u8]| kept_of(text, LogFormat::Postgres);
        let plain = b"LOG:  shutting down\n\n[1] 40P01 ERROR:  deadlock detected";
        assert_eq!(kept(plain), plain);
        assert_eq!(kept(b"[1] 55P03 ERROR:  no relation \xff\n"), b"[1] 55P03 ERROR:  ?\n");
        let missing = "[1] 42P01 ERROR:  relation \"hush\" does not exist at character 9\n";
        assert_eq!(kept(missing.as_bytes()), missing.replace("hush", "?").as_bytes());
        let event = "2026-11-30 10:00:00 7 [ERROR] Event Scheduler: [u@h][d.e] ";
        let ready = b"2026-11-30 10:00:01 0 [Note] InnoDB: Using io_uring\n";
        let made_up = [format!("{event}of\n\thush\nhush\n").as_bytes(), ready].concat();
        let expected = [format!("{event}?\n").as_bytes(), ready].concat();
        assert_eq!(kept_of(&made_up, LogFormat::Mysql), expected);
        let next = "\n2 LOG:  shutting down\n";
        let bare = format!("[1] 42601 ERROR:  syntax error at or near \"hush\"{next}");
        assert_eq!(kept(bare.as_bytes()), bare.replace("hush", "?").as_bytes());
        let begin = "[1] 42601 ERROR:  unterminated quoted string at or near \"";
        let long = format!("{begin}'a\n\thush\n\tb{next}");
        assert_eq!(kept(long.as_bytes()), format!("{begin}?{next}").as_bytes());
        let error = "[1] 40P01 ERROR:  deadlock detected\n[1] 40P01 DETAIL:  ";
        let twice = format!("{error}Key (hush)=(hush) already exists.{next}");
        assert_eq!(kept(twice.as_bytes()), twice.replace("hush", "?").as_bytes());
        let details = format!("{error}Key (a)=(hush) is.{next}");
        let expected = format!("[1] 40P01 ERROR:  deadlock detected{next}");
        assert_eq!(kept(details.as_bytes()), expected.as_bytes());
        let much = format!("[1] 55P03 ERROR:  no {}{next}", "a".repeat(MAX_ENTRY_BYTES));
        assert_eq!(kept(much.as_bytes()), format!("[1] 55P03 ERROR:  ?{next}").as_bytes());
        let lines = "\n\thush".repeat(MAX_ENTRY_BYTES);
        let unread = kept(format!("{begin}'a{lines}{next}").as_bytes());
        assert_eq!(unread, format!("{begin}?{next}").as_bytes());
    }
}
