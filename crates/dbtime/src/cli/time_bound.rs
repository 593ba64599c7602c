//! The times of `--since` and `--until`.

use dbtime_model::Nanos;
use dbtime_observe::logs::TimeBound;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::fs;
use std::path::{Path, PathBuf};

/// The zone of the system's clock.
const SYSTEM_ZONE: &str = "/etc/localtime";

/// The folder of all zones, by their names.
const ZONES: &str = "/usr/share/zoneinfo";

/// A date, a date with a time, or a duration back from now.
pub(super) fn time_bound(text: &str) -> Result<TimeBound, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(instant(at));
    }
    if let Ok(civil) = text.parse::<DateTime>() {
        let at = civil.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
        return Ok(TimeBound::AsWritten(at.timestamp().as_microsecond()));
    }
    let ago = back_from_now(text).ok_or(
        "neither a time, such as 2026-11-30 or 2026-11-30T14:00:00+01:00, nor a duration back \
         from now, such as 1h or 7d",
    )?;
    Timestamp::now().checked_sub(ago).map(instant).map_err(|error| error.to_string())
}

/// A duration with a unit, also in days.
fn back_from_now(text: &str) -> Option<SignedDuration> {
    if let Some(days) = text.strip_suffix('d') {
        let hours = days.parse::<u32>().ok()?.checked_mul(24)?;
        return Some(SignedDuration::from_hours(hours.into()));
    }
    let is_unitless = text.bytes().all(|byte| byte.is_ascii_digit());
    let ago = text.parse::<Nanos>().ok().filter(|_| !is_unitless)?;
    Some(SignedDuration::from_nanos(ago.signed()))
}

fn instant(at: Timestamp) -> TimeBound {
    let zone = std::env::var("TZ").unwrap_or_default();
    instant_in(&zone_of(&zone), at)
}

/// An instant with the time of a clock in a zone.
fn instant_in(zone: &TimeZone, at: Timestamp) -> TimeBound {
    let utc_us = at.as_microsecond();
    let ahead_us = i64::from(zone.to_offset(at).seconds()) * 1_000_000;
    TimeBound::Instant { utc_us, local_us: utc_us.saturating_add(ahead_us) }
}

/// The zone that a value of TZ means: the system's where it is empty, UTC where it means none.
fn zone_of(value: &str) -> TimeZone {
    let name = value.strip_prefix(':').unwrap_or(value);
    let path = match name.is_empty() {
        true => PathBuf::from(SYSTEM_ZONE),
        false => Path::new(ZONES).join(name),
    };
    let of_file = fs::read(path).ok().and_then(|data| TimeZone::tzif("local", &data).ok());
    of_file.or_else(|| TimeZone::posix(name).ok()).unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_dates_or_durations_back_from_now() {
        for (text, us) in [
            ("1970-01-02", 86_400_000_000),
            ("1970-01-01 00:00:01", 1_000_000),
            ("1970-01-01T00:00:01.5", 1_500_000),
        ] {
            assert_eq!(time_bound(text), Ok(TimeBound::AsWritten(us)), "{text}");
        }
        for (text, us) in [("1970-01-01T01:00:00+01:00", 0), ("1970-01-01T00:00:01Z", 1_000_000)] {
            let bound = time_bound(text).expect("an instant");
            assert!(matches!(bound, TimeBound::Instant { utc_us, .. } if utc_us == us), "{text}");
        }
        let now = Timestamp::now().as_microsecond();
        let hour_ago = time_bound("1h").expect("a duration").utc_us();
        assert!((now - hour_ago).abs_diff(3_600_000_000) < 60_000_000, "{hour_ago}");
        let week_ago = time_bound("7d").expect("a duration").utc_us();
        assert!((now - week_ago).abs_diff(604_800_000_000) < 60_000_000, "{week_ago}");
        for bad in ["", "10", "yesterday", "2026-13-01", "-1h", "-1d", "d", "9999999999d"] {
            let error = time_bound(bad).expect_err("no time");
            assert!(error.contains("such as 1h"), "{bad}: {error}");
        }
    }

    #[test]
    fn an_instant_has_the_time_of_the_clock_here() {
        for (value, ahead_us) in [("EST5", -18_000_000_000), (":XYZ-2", 7_200_000_000), ("-", 0)] {
            let bound = instant_in(&zone_of(value), Timestamp::UNIX_EPOCH);
            assert_eq!(bound, TimeBound::Instant { utc_us: 0, local_us: ahead_us }, "{value}");
        }
    }
}
