//! Which format a log has: what was asked for, or what its beginning shows.

use super::head_peek::is_just_opened;
use super::namers::{FingerprintNamer, PerconaNamer};
use super::{FormatChoice, LogError};
use crate::logs::mysql::{GeneralLog, SlowLog};
use crate::logs::postgres::{PostgresCsv, PostgresJson, PostgresText, PrefixPattern};
use crate::logs::web::{AccessFormat, AccessLog, JsonFields, JsonLines, RouteNamer};
use crate::logs::{ClassNamer, LogReader};
use dbtime_model::log_digest::{ClassGrouping, InputKind};
use dbtime_sql::PerconaRules;
use std::fmt::Display;
use std::sync::Arc;

/// A format that a log is read by.
pub(super) struct OpenFormat {
    /// What reads it.
    pub(super) reader: Arc<dyn LogReader>,
    /// Which it is.
    pub(super) kind: InputKind,
    /// More about it: a format string or prefix; empty: nothing.
    pub(super) format: String,
    /// Why it was chosen, in words behind its name.
    pub(super) because: String,
    /// Whether its instants are of the server's local time.
    pub(super) is_local_time: bool,
    /// What reads a slow log; `None`: it is none.
    slow: Option<SlowLog>,
}

impl OpenFormat {
    fn new(reader: impl LogReader + 'static, kind: InputKind, is_local_time: bool) -> Self {
        let (reader, because) = (Arc::new(reader), "by its first lines".to_owned());
        Self { reader, kind, format: String::new(), because, is_local_time, slow: None }
    }

    /// The same, by a format string.
    fn of_text(self, format: &str) -> Self {
        Self { format: format.to_owned(), ..self }
    }

    fn because(self, because: &str) -> Self {
        Self { because: because.to_owned(), ..self }
    }

    /// How far its clock is ahead of UTC, where its times name no zone. Unit: microseconds; `None`:
    /// the log does not show it.
    pub(super) fn ahead_us(&self) -> Option<i64> {
        self.slow.filter(|_| self.is_local_time).and_then(|slow| slow.ahead_us())
    }

    /// Puts the times of its records in UTC, where the log shows how.
    pub(super) fn put_in_utc(&mut self) {
        if self.ahead_us().is_some()
            && let Some(slow) = self.slow
        {
            self.reader = Arc::new(slow.in_utc());
            self.is_local_time = false;
        }
    }
}

/// The formats in the order in which they are tried: those first whose beginning nothing else has.
const TRIED: [InputKind; 7] = [
    InputKind::Slow,
    InputKind::PostgresJson,
    InputKind::PostgresCsv,
    InputKind::JsonLines,
    InputKind::Access,
    InputKind::Postgres,
    InputKind::General,
];

/// How many of them name themselves, whatever a format string is like.
const CERTAIN: usize = 3;

/// The format of a log that begins like this; `None`: none that dbtime finds.
///
/// Errors: [`LogError::Flag`].
pub(super) fn open_format(
    choice: &FormatChoice,
    head: &[u8],
) -> Result<Option<OpenFormat>, LogError> {
    let given = match choice {
        FormatChoice::Auto => {
            return Ok(TRIED.iter().find_map(|kind| find_format(*kind, head)));
        }
        FormatChoice::Kind(kind) => return given_kind(*kind, head).map(Some),
        FormatChoice::Access(text) => access(text)?,
        FormatChoice::PostgresPrefix(text) => postgres(text, head)?,
        FormatChoice::JsonFields(text) => json_lines(text, head)?,
    };
    // A format string is for the logs that do not show another format, so that logs of two kinds
    // can be read at once.
    let certain = TRIED[..CERTAIN].iter().find_map(|kind| find_format(*kind, head));
    Ok(Some(certain.unwrap_or(given)))
}

/// What [`open_format`] tries, for the error where nothing fits.
pub(super) fn tried() -> String {
    TRIED.map(InputKind::title).join(", ")
}

/// Why a log has the format that it was read by before.
pub(super) const AS_BEFORE: &str = "as the file before it";

/// The format that a log was read by before, by its kind and text, for one that does not show it:
/// it has been begun a moment ago, or in the middle of a line. `None`: it is of no use.
pub(super) fn format_of_before(kind: InputKind, text: &str, head: &[u8]) -> Option<OpenFormat> {
    let format = match kind {
        InputKind::Postgres => postgres(text, head).ok(),
        InputKind::Access => access(text).ok(),
        kind => of_kind(kind, head),
    };
    format.map(|format| format.because(AS_BEFORE))
}

/// The format of a kind, where the beginning of a log is like it.
fn find_format(kind: InputKind, head: &[u8]) -> Option<OpenFormat> {
    let is_like = match kind {
        InputKind::Slow => SlowLog::looks_like(head) || is_just_opened(&SlowLog::default(), head),
        InputKind::General => GeneralLog::looks_like(head),
        InputKind::PostgresCsv => PostgresCsv::looks_like(head),
        InputKind::PostgresJson => PostgresJson::looks_like(head),
        // Those of these kinds have to be found out to be read.
        InputKind::Postgres | InputKind::Access | InputKind::JsonLines => true,
    };
    if is_like { of_kind(kind, head) } else { None }
}

/// What reads a kind; `None`: its format is not found in the beginning of a log.
fn of_kind(kind: InputKind, head: &[u8]) -> Option<OpenFormat> {
    Some(match kind {
        InputKind::Slow => of_slow(head),
        InputKind::General => OpenFormat::new(GeneralLog, kind, GeneralLog::has_local_time(head)),
        InputKind::PostgresCsv => {
            OpenFormat::new(PostgresCsv, kind, PostgresCsv::is_local_time(head))
        }
        InputKind::PostgresJson => {
            OpenFormat::new(PostgresJson, kind, PostgresJson::is_local_time(head))
        }
        InputKind::Postgres => of_prefix(PrefixPattern::guess(head)?, head),
        InputKind::Access => of_access(AccessFormat::guess(head)?),
        InputKind::JsonLines => of_json(JsonLines::detect(head)?, head),
    })
}

fn of_slow(head: &[u8]) -> OpenFormat {
    let log = SlowLog::of(head);
    let format = OpenFormat::new(log, InputKind::Slow, SlowLog::has_local_time(head));
    OpenFormat { slow: Some(log), ..format }
}

/// What reads a kind that was named.
fn given_kind(kind: InputKind, head: &[u8]) -> Result<OpenFormat, LogError> {
    let because = format!("by --read-as {}", kind.name());
    let missing = |flag, cause: &str| LogError::Flag { flag, cause: cause.to_owned() };
    of_kind(kind, head).map(|format| format.because(&because)).ok_or_else(|| match kind {
        InputKind::Postgres => missing(
            "--read-as postgres",
            "none of the common prefixes fits; give the server's log_line_prefix with --prefix \
             (`SHOW log_line_prefix`)",
        ),
        InputKind::Access => missing(
            "--read-as access",
            "no known format fits; give the server's own (LogFormat of Apache, log_format of \
             nginx) with --access-format",
        ),
        _ => missing("--read-as", "the beginning of the log has none of the fields it needs"),
    })
}

/// What was read from the value of a flag, or what is wrong with that.
fn flag_value<T, E: Display>(flag: &'static str, value: Result<T, E>) -> Result<T, LogError> {
    value.map_err(|error| LogError::Flag { flag, cause: error.to_string() })
}

fn access(text: &str) -> Result<OpenFormat, LogError> {
    let format = flag_value("--access-format", AccessFormat::parse(text))?;
    Ok(of_access(format).because("by --access-format"))
}

fn of_access(format: AccessFormat) -> OpenFormat {
    let (text, is_local_time) = (format.text().to_owned(), format.is_local_time());
    OpenFormat::new(AccessLog::new(format), InputKind::Access, is_local_time).of_text(&text)
}

fn postgres(text: &str, head: &[u8]) -> Result<OpenFormat, LogError> {
    let prefix = flag_value("--prefix", PrefixPattern::parse(text))?;
    Ok(of_prefix(prefix, head).because("by --prefix"))
}

fn of_prefix(prefix: PrefixPattern, head: &[u8]) -> OpenFormat {
    let text = prefix.text().to_owned();
    let log = PostgresText::new(prefix);
    let is_local_time = log.is_local_time(head);
    OpenFormat::new(log, InputKind::Postgres, is_local_time).of_text(&text)
}

fn of_json(lines: JsonLines, head: &[u8]) -> OpenFormat {
    let is_local_time = lines.has_local_time(head);
    OpenFormat::new(lines, InputKind::JsonLines, is_local_time)
}

fn json_lines(text: &str, head: &[u8]) -> Result<OpenFormat, LogError> {
    let fields = flag_value("--json-fields", JsonFields::parse(text))?;
    let lines = of_json(JsonLines::new(fields), head);
    Ok(lines.of_text(text).because("by --json-fields"))
}

/// What names the classes of a kind, for each of so many workers.
///
/// Errors: a route is none.
pub(super) fn namers(
    kind: InputKind,
    grouping: ClassGrouping,
    routes: &[(String, String)],
    count: usize,
) -> Result<Vec<Box<dyn ClassNamer>>, LogError> {
    let Some(dialect) = kind.dialect() else { return route_namers(routes, count) };
    let one = || -> Box<dyn ClassNamer> {
        match grouping {
            ClassGrouping::Percona => Box::new(PerconaNamer::new(PerconaRules::Current)),
            ClassGrouping::PerconaOld => Box::new(PerconaNamer::new(PerconaRules::Old)),
            _ => Box::new(FingerprintNamer::new(dialect)),
        }
    };
    Ok((0..count).map(|_| one()).collect())
}

/// Whether routes can be used, before a log is read.
///
/// Errors: [`LogError::Flag`].
pub(super) fn check_routes(routes: &[(String, String)]) -> Result<(), LogError> {
    route_namers(routes, 1).map(drop)
}

fn route_namers(
    routes: &[(String, String)],
    count: usize,
) -> Result<Vec<Box<dyn ClassNamer>>, LogError> {
    let one = |_| -> Result<Box<dyn ClassNamer>, LogError> {
        Ok(Box::new(flag_value("--route", RouteNamer::new(routes))?))
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: &str = "# Time: 2021-10-12T01:13:38.132884Z\n# User@Host: a[a] @ b []  Id:    15\n\
                        # Query_time: 0.000012  Lock_time: 0.000000 Rows_sent: 0  \
                        Rows_examined: 0\nSET timestamp=1634001218;\nSELECT 1;\n";
    const POSTGRES: &str = "2021-10-12 01:13:38.132 UTC [12] LOG:  duration: 1.234 ms  statement: \
                            SELECT 1\n";
    const ACCESS: &str =
        "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5\n";

    const OPENED: &str = "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian 12). started with:\n\
                          Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n\
                          Time\t\t    Id Command\tArgument\n";

    fn kind(choice: &FormatChoice, head: &str) -> Option<InputKind> {
        open_format(choice, head.as_bytes()).expect("no flag is wrong").map(|format| format.kind)
    }

    #[test]
    fn formats_are_found_by_the_beginning_of_a_log() {
        for (head, expected) in [
            (SLOW, Some(InputKind::Slow)),
            (POSTGRES, Some(InputKind::Postgres)),
            (ACCESS, Some(InputKind::Access)),
            (OPENED, Some(InputKind::Slow)),
            ("nothing of the kind\n", None),
        ] {
            assert_eq!(kind(&FormatChoice::Auto, head), expected, "{head}");
        }
    }

    #[test]
    fn a_format_string_is_not_for_logs_that_name_themselves() {
        let choice = FormatChoice::Access("common".to_owned());
        assert_eq!(kind(&choice, SLOW), Some(InputKind::Slow));
        assert_eq!(kind(&choice, "odd\n"), Some(InputKind::Access));
    }

    #[test]
    fn wrong_flags_are_named() {
        for (choice, flag) in [
            (FormatChoice::Access("no field".to_owned()), "--access-format"),
            (FormatChoice::PostgresPrefix("%y".to_owned()), "--prefix"),
            (FormatChoice::JsonFields("nothing".to_owned()), "--json-fields"),
            (FormatChoice::Kind(InputKind::Postgres), "--prefix"),
            (FormatChoice::Kind(InputKind::Access), "--access-format"),
        ] {
            let error = open_format(&choice, b"odd\n").err().expect("refused").to_string();
            assert!(error.contains(flag), "{error}");
        }
    }

    #[test]
    fn every_kind_is_tried() {
        let mut tried = TRIED.to_vec();
        tried.sort_by_key(|kind| kind.name());
        let mut all = InputKind::ALL.to_vec();
        all.sort_by_key(|kind| kind.name());
        assert_eq!(tried, all);
    }
}
