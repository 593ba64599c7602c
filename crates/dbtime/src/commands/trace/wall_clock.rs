//! The time of day, where this machine is.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Knows the time zone, so that no file has to be read later.
#[derive(Clone)]
pub(in crate::commands) struct WallClock(TimeZone);

impl WallClock {
    pub(in crate::commands) fn new() -> Self {
        Self(TimeZone::system())
    }

    pub(in crate::commands) fn time(&self) -> String {
        Timestamp::now().to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}
