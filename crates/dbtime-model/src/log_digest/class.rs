//! A class of statements or requests, summed up.

use super::{FineHistogram, NamedValues};
use serde::{Deserialize, Serialize};

/// Records that differ in their literals alone. Shape: what most classes lack takes little memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DigestClass {
    /// MD5 of the text, 32 upper-case hexadecimal digits; empty for a sum of classes.
    pub id: String,
    /// What its records are.
    pub kind: ClassKind,
    /// The fingerprint, or method and path of a request. Shape: without literals, at most 4 KiB.
    pub text: String,
    /// The ID that Percona's tools give its first record, where that is a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percona_id: Option<String>,
    /// IDs that the server gave its statements (`query_id`), at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_ids: Vec<String>,
    /// How many there were: each record counts for as many as the log says it stands for.
    pub count: u64,
    /// How many records say so.
    pub logged: u64,
    /// Of those of `count` that show whether they failed, those that did; `None`: none shows it.
    pub errors: Option<u64>,
    /// How long they took; `None`: the log has no durations.
    pub times: Option<DigestTimes>,
    /// The total of `times`, split by what the log says of it. Unit: microseconds; by names of
    /// parts (`lock`, `io_read`, `cpu`, `other`), which add up to the total.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub parts_us: NamedValues<f64>,
    /// What else the log has in numbers, by the name of the figure: `rows_examined`.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub figures: NamedValues<FigureSummary>,
    /// When the first began. Unit: microseconds.
    pub first_us: Option<i64>,
    /// When the last ended. Unit: microseconds.
    pub last_us: Option<i64>,
    /// The longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Box<ClassSample>>,
    /// One by chance, the same for every reading of the same bytes, unless it is the longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<Box<ClassSample>>,
    /// Who sent them, most frequent first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<NamedCount>,
    /// In which databases they ran, most frequent first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<NamedCount>,
    /// Where they came from, most frequent first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<NamedCount>,
    /// Which processes of a web server served them, most frequent first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<NamedCount>,
    /// The errors by code or status, most frequent first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_codes: Vec<NamedCount>,
    /// Two groups of durations, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Box<ClassGroups>>,
    /// What ran beside its slowest ones, most time first, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<ClassOverlap>,
    /// Where sessions send it again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Box<SessionRepeats>>,
    /// For requests joined with a log of statements: which statements their slowest ones ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<ClassOverlap>,
}

/// What the records of a class are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassKind {
    /// Statements of a database.
    #[default]
    Statement,
    /// Other commands of its protocol: `Quit`, `Ping`.
    Command,
    /// Requests of a web server.
    Request,
    /// All kinds together.
    Mixed,
}

impl ClassKind {
    /// One of its records, in a noun.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Statement => "statement",
            Self::Command => "command",
            Self::Request => "request",
            Self::Mixed => "record",
        }
    }
}

/// Durations of a class. Unit: microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestTimes {
    /// Of all, each by its weight.
    pub total_us: f64,
    /// Of one.
    pub mean_us: f64,
    /// The shortest that was logged.
    pub min_us: f64,
    /// The median of those that were logged.
    pub p50_us: f64,
    /// 90 % of those that were logged took at most that.
    pub p90_us: f64,
    /// Likewise 95 %.
    pub p95_us: f64,
    /// Likewise 99 %.
    pub p99_us: f64,
    /// Likewise 99.9 %.
    pub p999_us: f64,
    /// The longest that was logged.
    pub max_us: f64,
    /// The sum of the squares, by weight, for the variance. Unit: square microseconds.
    pub squares_us2: f64,
    /// All of them, in nanoseconds.
    pub histogram: FineHistogram,
    /// As Percona's tools would have it, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percona: Option<PerconaStatistics>,
}

/// What Percona's tools say of the same values: from buckets of five per cent, whose lower edge
/// stands for all in them. Unit: that of the figure; times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerconaStatistics {
    /// Their `median`.
    pub median: f64,
    /// Their `95%`.
    pub p95: f64,
    /// Their `stddev`.
    pub stddev: f64,
}

/// A number that records have, summed up. Unit: that of the figure; times are microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureSummary {
    /// How many records have it.
    pub logged: u64,
    /// The sum, by weight.
    pub total: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// 95 % are at most that.
    pub p95: f64,
    /// As Percona's tools would have it, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percona: Option<PerconaStatistics>,
}

/// A name and how often it was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCount {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSample {
    /// Its text. Shape: without literals unless they were asked for, at most 4 KiB.
    pub text: String,
    /// When it ended. Unit: microseconds.
    pub end_us: Option<i64>,
    /// How long it took. Unit: microseconds.
    pub duration_us: Option<f64>,
    /// The index of its file in [`super::LogDigest::inputs`].
    pub input: u32,
    /// Where it begins in that file, once unpacked. Unit: bytes.
    pub offset: u64,
    /// What the log has of it, by name; the only record of a class has the figures of the class.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub figures: NamedValues<f64>,
}

/// Two groups of durations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassGroups {
    /// How many the faster group has.
    pub lower_count: u64,
    /// Its median. Unit: microseconds.
    pub lower_us: f64,
    /// How many the slower group has.
    pub higher_count: u64,
    /// Its median. Unit: microseconds.
    pub higher_us: f64,
    /// What differs most between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<GroupDifference>,
}

/// A figure whose typical value differs between two groups. Unit: that of the figure; times are
/// microseconds, and of what is true or false it is the share of records where it is true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDifference {
    /// The name of the figure.
    pub figure: String,
    /// The median in the faster group.
    pub lower: f64,
    /// The median in the slower group.
    pub higher: f64,
}

/// Another class, and how much of its time fell into the slowest records of this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassOverlap {
    /// Its ID.
    pub id: String,
    /// Its text.
    pub text: String,
    /// How many of its records.
    pub count: u64,
    /// Their time within those of this class. Unit: microseconds.
    pub time_us: f64,
    /// Of statements of a request: that they ran at its time is all that links them, as no session
    /// does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_time_alone: bool,
}

/// How sessions repeat a statement: one for each row of another one's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRepeats {
    /// How often it came ten times or more in a row, with nothing of another class between but what
    /// is repeated with it, and no pause above a second.
    pub rows: u64,
    /// How many of its records belong to such rows.
    pub count: u64,
    /// The longest row.
    pub longest: u64,
    /// Of `count`, those that were the same to the byte as one before in their row.
    pub identical: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest may have 100,000 classes of one record, in 256 MiB with everything else.
    #[test]
    fn a_class_of_few_records_takes_little_memory() {
        assert!(size_of::<DigestClass>() <= 600, "{}", size_of::<DigestClass>());
        assert!(size_of::<FigureSummary>() <= 80, "{}", size_of::<FigureSummary>());
    }
}
