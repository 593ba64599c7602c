//! A file of a digest, and what of it could not be read.

use crate::product::SqlDialect;
use serde::{Deserialize, Serialize};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestInput {
    /// Its path as it was given; `-` for standard input.
    pub path: String,
    /// What it was taken for.
    pub kind: InputKind,
    /// More about that: the format string of an access log, the prefix of a log of PostgreSQL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// Why, in words behind that: `by its first lines`, `by --prefix`.
    pub because: String,
    /// What the instants of its records are.
    pub time_meaning: TimeMeaning,
    /// Whether instants are of the server's local time, because the log names no zone.
    pub is_local_time: bool,
    /// How much was read of it, once unpacked. Unit: bytes.
    pub bytes: u64,
    /// Where reading began, for one that goes on where an earlier digest ended. Unit: bytes.
    pub from: u64,
    /// How many records it had.
    pub records: u64,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadLines>,
    /// Whether not one line of it has the form of `kind`, so that it is of another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_misread: bool,
    /// What makes its figures wrong or doubtful, in sentences: it is damaged, or a copy of another
    /// file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What should be known before its figures are believed, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A slow log of MySQL, MariaDB or Percona Server.
    Slow,
    /// A general log of MySQL or MariaDB.
    General,
    /// PostgreSQL's stderr or syslog.
    Postgres,
    /// PostgreSQL's csvlog.
    PostgresCsv,
    /// PostgreSQL's jsonlog.
    PostgresJson,
    /// An access log by a format string of Apache or nginx.
    Access,
    /// Objects of JSON, one to a line: access logs, or spans of OpenTelemetry.
    JsonLines,
}

impl InputKind {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 7] = [
        Self::Slow,
        Self::General,
        Self::Postgres,
        Self::PostgresCsv,
        Self::PostgresJson,
        Self::Access,
        Self::JsonLines,
    ];

    /// The name in flags and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::General => "general",
            Self::Postgres => "postgres",
            Self::PostgresCsv => "postgres_csv",
            Self::PostgresJson => "postgres_json",
            Self::Access => "access",
            Self::JsonLines => "json_lines",
        }
    }

    /// The name as people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Slow => "MySQL slow log",
            Self::General => "MySQL general log",
            Self::Postgres => "PostgreSQL log",
            Self::PostgresCsv => "PostgreSQL csvlog",
            Self::PostgresJson => "PostgreSQL jsonlog",
            Self::Access => "access log",
            Self::JsonLines => "JSON lines",
        }
    }

    /// Whether its records are requests of a web server rather than statements.
    pub const fn has_requests(self) -> bool {
        self.dialect().is_none()
    }

    /// How its statements are written; `None`: it has requests.
    pub const fn dialect(self) -> Option<SqlDialect> {
        match self {
            Self::Slow | Self::General => Some(SqlDialect::Mysql),
            Self::Postgres | Self::PostgresCsv | Self::PostgresJson => Some(SqlDialect::Postgres),
            Self::Access | Self::JsonLines => None,
        }
    }
}

/// What the instant of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeMeaning {
    /// When it began: Apache's `%t`.
    Start,
    /// When it was written, at the end.
    End,
}

/// Lines that could not be read, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadLines {
    /// Why.
    pub why: UnreadReason,
    /// How many.
    pub count: u64,
    /// Where the first of them begins, once unpacked. Unit: bytes.
    pub first_offset: u64,
}

/// Why a line could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadReason {
    /// It has not the form of the format.
    Form,
    /// A number in it is none, or too large to be true.
    Number,
    /// Its time is none.
    Time,
    /// It is longer than a record may be.
    TooLong,
    /// It ends before it is complete: the file was cut, or is being written.
    Incomplete,
    /// It has a duration that belongs to a statement that is not in the log.
    NoStatement,
}

impl UnreadReason {
    /// In words, behind "N lines".
    pub const fn title(self) -> &'static str {
        match self {
            Self::Form => "not of this format",
            Self::Number => "with a number that is none or too large",
            Self::Time => "with a time that is none",
            Self::TooLong => "longer than 16 MiB",
            Self::Incomplete => "cut short",
            Self::NoStatement => "with a duration whose statement is not in the log",
        }
    }
}
