//! The time between two samples, and whether one life of the server spans it.

use super::difference_error::DifferenceError;
use super::global_status;
use dbtime_model::counters::{CounterSample, IntervalSource};
use jiff::Timestamp;

/// Time from the first sample to the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CounterInterval {
    /// From zero on.
    pub(super) seconds: f64,
    /// What it was read from.
    pub(super) from: IntervalSource,
}

/// What is known of the server between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerLife {
    /// It was up all the time, as far as its uptime tells.
    Same,
    /// It was started anew, or these are two servers.
    Restarted,
    /// Nothing tells.
    Unknown,
}

/// How far an uptime may be off the clock: it has whole seconds, and follows the wall clock.
const UPTIME_SLACK_S: f64 = 2.0;
const UPTIME_SLACK_SHARE: f64 = 0.001;

/// Below this an interval in whole seconds is off by more than a percent.
const SHORT_S: f64 = 100.0;

/// The time between two samples by the best clock that both have.
///
/// Errors: [`DifferenceError::Swapped`] where a clock says that they are in the wrong order.
pub(super) fn between(
    before: &CounterSample,
    after: &CounterSample,
) -> Result<Option<CounterInterval>, DifferenceError> {
    let (first, second) = (&before.taken, &after.taken);
    let is_one_boot = first.boot.is_some() && first.boot == second.boot;
    let mono = first.mono_ns.zip(second.mono_ns).filter(|_| is_one_boot);
    let wall = |at: &Option<String>| at.as_ref()?.parse::<Timestamp>().ok();
    let walls = wall(&first.at).zip(wall(&second.at));
    let (seconds, from) = match (mono, walls, before.uptime_s.zip(after.uptime_s)) {
        (Some((first, second)), ..) => {
            let ns = i128::from(second) - i128::from(first);
            (ns as f64 / 1e9, IntervalSource::Clock)
        }
        (_, Some((first, second)), _) => {
            let seconds = second.duration_since(first).as_secs_f64();
            (seconds, IntervalSource::WallClock)
        }
        (_, _, Some((first, second))) if second >= first => {
            (second - first, IntervalSource::Uptime)
        }
        _ => return Ok(None),
    };
    if seconds < 0.0 {
        let shown = |at: &Option<String>| at.clone().unwrap_or_else(|| "a time".to_owned());
        return Err(DifferenceError::Swapped {
            earlier: shown(&second.at),
            later: shown(&first.at),
        });
    }
    Ok(Some(CounterInterval { seconds, from }).filter(|interval| interval.seconds.is_finite()))
}

/// Whether the server was up all the time.
pub(super) fn life(
    before: &CounterSample,
    after: &CounterSample,
    interval: Option<CounterInterval>,
) -> ServerLife {
    let Some((first, second)) = before.uptime_s.zip(after.uptime_s) else {
        return ServerLife::Unknown;
    };
    if second < first {
        return ServerLife::Restarted;
    }
    let passed = interval.filter(|interval| interval.from != IntervalSource::Uptime);
    let is_off = |passed: CounterInterval| {
        let slack = UPTIME_SLACK_S + UPTIME_SLACK_SHARE * passed.seconds;
        (second - first - passed.seconds).abs() > slack
    };
    if passed.is_some_and(is_off) { ServerLife::Restarted } else { ServerLife::Same }
}

/// What a reader must know of two samples as a whole.
pub(super) fn notes(
    before: &CounterSample,
    after: &CounterSample,
    interval: Option<CounterInterval>,
    life: ServerLife,
) -> Vec<String> {
    let (first, second) = (&before.source, &after.source);
    let mut notes = Vec::new();
    if life == ServerLife::Restarted {
        notes.push(restarted(before, after, interval));
    }
    let flushed = flushed_at(before).zip(flushed_at(after));
    if flushed.is_some_and(|(first, second)| second > first + 1.0) && life != ServerLife::Restarted
    {
        notes.push(
            "FLUSH STATUS set counters to zero between the samples: those that fell count from \
             there, and others may have lost what came before it"
                .to_owned(),
        );
    }
    let differs = |one: &Option<String>, other: &Option<String>| {
        let pair = one.as_ref().zip(other.as_ref()).filter(|(one, other)| one != other);
        pair.map(|(one, other)| format!("{one} and {other}"))
    };
    if let Some(both) = differs(&first.url, &second.url) {
        notes.push(format!("the samples come from two targets: {both}"));
    }
    if let Some(both) = differs(&first.version, &second.version) {
        notes.push(format!("the samples come from two versions: {both}"));
    }
    match interval {
        Some(CounterInterval { seconds, .. }) if seconds <= 0.0 => notes.push(
            "both samples were taken at the same time, as far as the clock tells: no rates"
                .to_owned(),
        ),
        Some(CounterInterval { seconds, from: IntervalSource::Uptime }) if seconds < SHORT_S => {
            notes.push(format!(
                "rates are good to {:.0} %: the interval is known in whole seconds of Uptime",
                100.0 / seconds
            ));
        }
        _ => {}
    }
    notes
}

fn restarted(
    before: &CounterSample,
    after: &CounterSample,
    interval: Option<CounterInterval>,
) -> String {
    let up = |sample: &CounterSample| sample.uptime_s.unwrap_or_default();
    let (first, second) = (up(before), up(after));
    if interval.is_some() && second >= first {
        let passed = interval.map_or(0.0, |interval| interval.seconds);
        return format!(
            "Uptime grew by {:.0} s in {passed:.0} s: the server was restarted between the samples, \
             or these are two servers",
            second - first
        );
    }
    let order = match interval {
        Some(_) => "",
        None => ", or the samples are in the wrong order",
    };
    format!(
        "Uptime went back from {first:.0} s to {second:.0} s: the server was restarted between the \
         samples{order}"
    )
}

/// When the server's counters were last set to zero by FLUSH STATUS, in seconds of its uptime.
fn flushed_at(sample: &CounterSample) -> Option<f64> {
    let since = sample.get(global_status::GROUP, "Uptime_since_flush_status")?.as_f64()?;
    Some(sample.uptime_s? - since)
}
