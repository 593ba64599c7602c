//! Numbers behind switches, within their limits, with pgbench's words for what is wrong.

use super::error::UsageError;

/// The most that a C `int` holds: pgbench's upper limit nearly everywhere.
pub(super) const MAX_INTEGER: i64 = i32::MAX as i64;

/// A whole number from `least` to `most`; `option` is both names of its switch.
pub(super) fn whole(text: &str, option: &str, least: i64, most: i64) -> Result<u32, UsageError> {
    let digits = text.trim();
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = format!("invalid value \"{text}\" for option {option}");
        return Err(UsageError::new(text));
    }
    let number = digits.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| UsageError::new(format!("{option} must be in range {least}..{most}")))
}

/// A number above zero, and not above `most`; `what` is how a message names it.
pub(super) fn real(text: &str, what: &str, most: f64) -> Result<f64, UsageError> {
    let number = text.trim().parse().ok().filter(|number: &f64| *number > 0.0 && *number <= most);
    number.ok_or_else(|| UsageError::new(format!("invalid {what}: \"{text}\"")))
}

/// How many tries a transaction has; 0: as many as it takes.
pub(super) fn tries(text: &str) -> Result<u32, UsageError> {
    let number = text.trim().parse().ok().filter(|number| i64::from(*number) <= MAX_INTEGER);
    number.ok_or_else(|| UsageError::new(format!("invalid number of maximum tries: \"{text}\"")))
}
