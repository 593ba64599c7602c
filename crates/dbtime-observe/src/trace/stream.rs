//! How requests are handed on, as the kernel's side is told before it is loaded.

use super::logins::NAME;
use serde::{Deserialize, Serialize};

/// How much is done for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// It is handed on, where that is wanted.
    Everything,
    /// It is added up by its statement, and not handed on.
    Sums,
    /// It is counted. Texts are not read, and threads not followed.
    Counts,
}

/// How requests are handed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// One by one.
    pub is_on: bool,
    /// Added up where they end.
    pub adds_up: bool,
    /// Whether clients by Unix sockets are followed, beside those of the servers' ports.
    pub follows_unix: bool,
    /// Whether servers that start later are told of: see
    /// [`Capture::started`](super::Capture::started).
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
}

impl Stream {
    /// `struct settings`; threads are followed where the kernel lets programs do that.
    pub(super) fn settings(&self, follows_threads: bool) -> Vec<u8> {
        let [streams, sums, unix, new] =
            [self.is_on, self.adds_up, self.follows_unix, self.follows_new].map(u32::from);
        let [user, database] = [&self.user, &self.database];
        let wants = [user, database].map(|name| u32::from(name.is_some()));
        let threads = u32::from(follows_threads);
        let numbers = [streams, sums, unix, self.step, new, wants[0], wants[1], threads];
        let mut settings = numbers.map(u32::to_ne_bytes).concat();
        for name in [user, database] {
            settings.extend_from_slice(&padded(name.as_deref().unwrap_or_default()));
        }
        settings
    }
}

/// A name as the kernel's side has it: what is longer than the room is cut.
fn padded(name: &str) -> [u8; NAME] {
    let mut padded = [0; NAME];
    let kept = name.len().min(NAME - 1);
    padded[..kept].copy_from_slice(&name.as_bytes()[..kept]);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_and_two_names() {
        let stream =
            Stream { is_on: true, step: 500, database: Some("é".repeat(40)), ..Stream::default() };
        let settings = stream.settings(true);
        assert_eq!(settings.len(), 32 + 2 * NAME);
        assert_eq!(settings[12..16], 500u32.to_ne_bytes());
        assert_eq!((settings[20], settings[24], settings[28]), (0, 1, 1));
        assert_eq!(settings[32..32 + NAME], [0; NAME]);
        assert_eq!(settings[32 + NAME..][62..], [0xc3, 0], "cut as the kernel's side cuts");
    }
}
