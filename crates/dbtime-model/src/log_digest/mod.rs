//! What a log says, summed up: which statements or requests took the time, what kind of time, when,
//! and what was different about the slow ones.
//!
//! The types are the file format: `dbtime log --json` prints a [`LogDigest`], and `compare` reads
//! two. Times are microseconds there unless a name says otherwise; instants are microseconds since
//! 1970-01-01 00:00 UTC, or of the server's local time where the log names no zone.

mod buckets;
mod class;
mod figure;
mod input;
mod named_values;
mod timeline;

pub use buckets::FineHistogram;
pub use class::{
    ClassGroups, ClassKind, ClassOverlap, ClassSample, DigestClass, DigestTimes, FigureSummary,
    GroupDifference, NamedCount, PerconaStatistics, SessionRepeats,
};
pub use figure::{LogFigure, LogFigureUnit};
pub use input::{DigestInput, InputKind, TimeMeaning, UnreadLines, UnreadReason};
pub use named_values::NamedValues;
pub use timeline::{DigestTimeline, TimelineBin};

use serde::{Deserialize, Serialize};

/// The version of the written form.
pub const SCHEMA: u32 = 1;

/// What logs said, summed up by class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogDigest {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// The version of that program.
    pub dbtime: String,
    /// Its command line, without secrets.
    pub command: String,
    /// The files, in the order in which they were read.
    pub inputs: Vec<DigestInput>,
    /// What makes records one class.
    pub grouping: ClassGrouping,
    /// What the percentiles, means and totals are of, in a sentence: "each statement's duration as
    /// the server logged it, from the read of the request".
    pub basis: String,
    /// Of how many records each stands for one, where the log is a sample of unknown rate; 1.0
    /// where all were logged or the log gives its rate itself.
    pub assumed_weight: f64,
    /// When the first record began. Unit: microseconds.
    pub first_us: Option<i64>,
    /// When the last record ended. Unit: microseconds.
    pub last_us: Option<i64>,
    /// All records together, as if they were one class; without text and samples.
    pub total: DigestClass,
    /// Largest total time first.
    pub classes: Vec<DigestClass>,
    /// The classes that were merged into one for want of room, with all their figures.
    pub others: Option<DigestClass>,
    /// How many classes those are.
    pub other_classes: u64,
    /// Load over time.
    pub timeline: DigestTimeline,
    /// What the log says beside statements: lock waits, temporary files, checkpoints, deadlocks.
    pub events: Vec<NamedCount>,
    /// What should be known of all files together, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What makes records one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassGrouping {
    /// The fingerprint of the statement, or the method and path of the request.
    #[default]
    Fingerprint,
    /// The fingerprint of Percona's tools since 3.4.0.
    Percona,
    /// The fingerprint of Percona's tools up to 3.2.1.
    PerconaOld,
    /// Who sent it.
    User,
    /// Where it came from.
    Host,
    /// In which database it ran.
    Database,
    /// In which session it ran; of a web server whose log has them, in which process.
    Session,
}

impl ClassGrouping {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 7] = [
        Self::Fingerprint,
        Self::Percona,
        Self::PerconaOld,
        Self::User,
        Self::Host,
        Self::Database,
        Self::Session,
    ];

    /// The name in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fingerprint => "fingerprint",
            Self::Percona => "percona",
            Self::PerconaOld => "percona-3.2",
            Self::User => "user",
            Self::Host => "host",
            Self::Database => "database",
            Self::Session => "session",
        }
    }
}
