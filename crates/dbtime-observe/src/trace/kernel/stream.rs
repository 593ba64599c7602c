//! How requests are handed on, as the kernel's side is told before it is loaded.

use super::kernel_features::KernelFeatures;
use crate::kernel_layout::capture::SettingsRecord;
use crate::kernel_layout::numbers::{DEPTH_COUNTS, DEPTH_EVERYTHING, DEPTH_SUMS};
use crate::kernel_layout::padded;
use serde::{Deserialize, Serialize};

/// How much is done for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaptureDepth {
    /// It is handed on, where that is wanted.
    Everything = DEPTH_EVERYTHING as isize,
    /// It is added up by its statement, and not handed on.
    Sums = DEPTH_SUMS as isize,
    /// It is counted. Texts are not read, and threads not followed.
    Counts = DEPTH_COUNTS as isize,
}

/// How requests are handed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureConfig {
    /// One by one.
    pub is_on: bool,
    /// Added up where they end.
    pub adds_up: bool,
    /// Whether clients by Unix sockets are followed, beside those of the servers' ports.
    pub follows_unix: bool,
    /// Whether servers that start later are told of: see
    /// [`Capture::started`](crate::trace::Capture::started).
    pub follows_new: bool,
    /// The buckets of the coarse distribution. Unit: microseconds; 0: powers of two of them.
    pub step: u32,
    /// Where they wait until they are taken. Unit: bytes. Shape: a power of two, and a multiple of
    /// the machine's pages.
    pub buffer: u32,
    /// Only this user's are added up.
    pub user: Option<String>,
    /// Only those in this database are.
    pub database: Option<String>,
    /// Whether texts keep their literals, which may be secrets.
    pub keeps_literals: bool,
    /// Requests whose text holds this are marked, however it is written.
    pub pattern: Option<String>,
    /// The process of the run that servers are watched beside: when answers came to its sockets,
    /// and how long its threads had no CPU to take them, is seen.
    pub driver: Option<u32>,
    /// Whether stacks are kept of threads that serve requests: where they wait, and samples.
    pub stacks: bool,
}

impl CaptureConfig {
    /// What the kernel's side is told; threads are followed where the kernel lets programs do that.
    pub(crate) fn settings(&self, follows_threads: bool, kernel: KernelFeatures) -> SettingsRecord {
        let name = |name: &Option<String>| padded(name.as_deref().unwrap_or_default());
        SettingsRecord {
            streams: self.is_on.into(),
            sums: self.adds_up.into(),
            follows_unix: self.follows_unix.into(),
            step: self.step,
            follows_new: self.follows_new.into(),
            filters_user: self.user.is_some().into(),
            filters_database: self.database.is_some().into(),
            follows_threads: follows_threads.into(),
            driver: self.driver.unwrap_or(0),
            stacks: self.stacks.into(),
            finds_threads: kernel.finds_threads.into(),
            preempts_programs: kernel.preempts_programs.into(),
            casts: kernel.casts.into(),
            user: name(&self.user),
            database: name(&self.database),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_settings_are_cut_as_the_kernels_side_cuts() {
        let stream = CaptureConfig {
            is_on: true,
            step: 500,
            database: Some("é".repeat(40)),
            ..CaptureConfig::default()
        };
        let settings = stream.settings(true, KernelFeatures::default());
        assert_eq!((settings.streams, settings.sums, settings.step), (1, 0, 500));
        let wants = (settings.filters_user, settings.filters_database, settings.follows_threads);
        assert_eq!((wants, settings.user), ((0, 1, 1), [0; 64]));
        assert_eq!(settings.database[62..], [0xc3, 0]);
    }
}
