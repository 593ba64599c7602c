//! What is digested, and how.

use dbtime_model::log_digest::{ClassGrouping, InputKind};
use std::path::PathBuf;

/// What is digested, and how.
#[derive(Clone, Debug, Default)]
pub struct LogPlan {
    /// The files, `-` for standard input. They are read in the order of their first records.
    pub inputs: Vec<PathBuf>,
    /// What they are taken for.
    pub choice: FormatChoice,
    /// What makes records one class.
    pub grouping: ClassGrouping,
    /// Regular expressions of paths, and the names of their classes of requests.
    pub routes: Vec<(String, String)>,
    /// How many threads read blocks; `None`: one for each CPU. One reads on the calling thread.
    /// Shape: changes no figure.
    pub threads: Option<usize>,
    /// How large blocks are; `None`: as memory permits. Unit: bytes. Shape: changes no figure.
    pub block_bytes: Option<usize>,
    /// Whether users are the server's accounts for them, as Percona's tools have it, where the log
    /// has both.
    pub names_accounts: bool,
    /// Whether samples keep their literals.
    pub is_raw: bool,
    /// Of how many records each stands for one, where the log is a sample that does not show it;
    /// `None`: all were logged.
    pub assumed_weight: Option<f64>,
    /// Records that ended before it are left out.
    pub since: Option<TimeBound>,
    /// Records that ended at it or later are left out.
    pub until: Option<TimeBound>,
    /// How many classes are kept apart; `None`: the digest's own bound.
    pub max_classes: Option<usize>,
    /// Where the ends of the files are kept, for the next digest to go on from.
    pub state: Option<PathBuf>,
    /// The command line, without secrets, for the digest.
    pub command: String,
    /// The version of dbtime, for the digest.
    pub version: String,
}

/// A bound of the times of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBound {
    /// A time that names no zone: UTC, and in a log whose times name none the time there. Unit:
    /// microseconds since 1970-01-01.
    AsWritten(i64),
    /// An instant, whatever clock a log has.
    Instant {
        /// Unit: microseconds since 1970-01-01.
        utc_us: i64,
        /// The same by the clock of this machine, in its zone. Unit: likewise.
        local_us: i64,
    },
}

impl TimeBound {
    /// In UTC. Unit: microseconds since 1970-01-01.
    pub const fn utc_us(self) -> i64 {
        match self {
            Self::AsWritten(us) | Self::Instant { utc_us: us, .. } => us,
        }
    }

    /// In the times of a log that name no zone: of a clock so far ahead of UTC or, where the log
    /// does not show that, in the zone of this machine. Unit: microseconds.
    pub(super) fn local_us(self, ahead_us: Option<i64>) -> i64 {
        match (self, ahead_us) {
            (Self::AsWritten(us), _) => us,
            (Self::Instant { utc_us, .. }, Some(ahead_us)) => utc_us.saturating_add(ahead_us),
            (Self::Instant { local_us, .. }, None) => local_us,
        }
    }
}

/// What files are taken for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FormatChoice {
    /// What their beginning shows.
    #[default]
    Auto,
    /// This format.
    Kind(InputKind),
    /// Access logs, by a format string or the name of one.
    Access(String),
    /// Logs of PostgreSQL, by their `log_line_prefix`.
    PostgresPrefix(String),
    /// JSON lines, by which keys mean what: `time=ts,duration=took:ms,path=request.uri`.
    JsonFields(String),
}

/// How far reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogProgress {
    /// How much was read of all files, before it was unpacked. Unit: bytes.
    pub done_bytes: u64,
    /// How much there is; `None`: not known, because one of them is a pipe. Unit: bytes.
    pub all_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::TimeBound;

    #[test]
    fn an_instant_is_in_the_clock_of_its_log() {
        let instant = TimeBound::Instant { utc_us: 100, local_us: 300 };
        assert_eq!((instant.utc_us(), instant.local_us(Some(-50))), (100, 50));
        assert_eq!(instant.local_us(None), 300);
        let written = TimeBound::AsWritten(100);
        assert_eq!((written.utc_us(), written.local_us(Some(50))), (100, 100));
    }
}
