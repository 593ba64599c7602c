//! One clock for all logs of a digest: times that name no zone are those of a server's clock, and
//! may be hours from the times of another log that name one.

use super::open_log::OpenLog;

/// Microseconds of a minute.
const MINUTE_US: i64 = 60_000_000;

/// Puts the logs whose times name no zone in UTC, where they show how and another log is in UTC;
/// notes it, and where they do not show it.
pub(super) fn put_on_one_clock(logs: &mut [OpenLog]) {
    let is_local = |log: &OpenLog| log.format.as_ref().map(|format| format.is_local_time);
    if !logs.iter().any(|log| is_local(log) == Some(false)) {
        return;
    }
    for log in logs.iter_mut().filter(|log| is_local(log) == Some(true)) {
        let Some(format) = &mut log.format else { continue };
        let Some(ahead_us) = format.ahead_us() else {
            let note = "Its times name no zone, and are taken for UTC beside those of other logs.";
            log.notes.push(note.to_owned());
            continue;
        };
        format.put_in_utc();
        log.begin_us = log.begin_us.saturating_sub(ahead_us);
        log.notes.extend(clock_note(ahead_us));
    }
}

/// That the times of a log are others than those in it.
fn clock_note(ahead_us: i64) -> Option<String> {
    let minutes = ahead_us.unsigned_abs() / MINUTE_US.unsigned_abs();
    let (hours, rest) = (minutes / 60, minutes % 60);
    let side = if ahead_us > 0 { "ahead of" } else { "behind" };
    let note = format!(
        "Its clock is {hours}:{rest:02} h {side} UTC, as SET timestamp shows; its times are given \
         in UTC, as those of the other logs."
    );
    (ahead_us != 0).then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_away_from_utc_are_noted() {
        assert_eq!(clock_note(0), None);
        let note = clock_note(7_200_000_000).expect("another clock");
        assert!(note.contains("2:00 h ahead of UTC"), "{note}");
        let note = clock_note(-12_600_000_000).expect("another clock");
        assert!(note.contains("3:30 h behind UTC"), "{note}");
    }
}
