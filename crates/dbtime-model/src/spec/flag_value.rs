//! Values on a command line: whole numbers within bounds, times with a unit, pairs and switches.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// Reads a value in the notation of its kind.
pub(super) fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Reads whether a flag that has no value is given.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("`{text}` is neither true nor false"))
}

/// Reads `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Reads `NAME=VALUE`, or `NAME` alone, whose value is in the environment of dbtime.
pub(super) fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=').map_or(text, |(name, _)| name) {
        "" => Err("write NAME=VALUE, or NAME alone".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// A reader of whole numbers within these bounds; `example` is one of them, which is named where a
/// text is none.
pub fn whole<T>(
    bounds: impl RangeBounds<T> + Clone + Send + Sync + 'static,
    example: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| match text.parse::<T>() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        _ => Err(format!("it takes a whole number{}, such as {example}", span(&bounds))),
    }
}

/// The bounds in words. The largest number of a type is left out: it helps no reader.
fn span<T: Display>(bounds: &impl RangeBounds<T>) -> String {
    match (bounds.start_bound(), bounds.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!(" from {least} to {most}"),
        (Bound::Included(least), _) => format!(" from {least} up"),
        _ => String::new(),
    }
}

/// Reads what has times of transactions and statements in it, which need a unit: `5ms`,
/// `uniform:5ms..15ms`, `deadline:50ms`. People mean milliseconds by a bare number there, and how
/// long something goes on is in seconds. Zero needs no unit.
///
/// # Errors
/// Names the number that has none, or says why the text is no value.
pub fn with_unit<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    let mut parts = text.split(':').flat_map(|part| part.split("..")).map(str::trim);
    match parts.find(|part| lacks_unit(part)) {
        Some(number) => Err(format!("`{number}` has no unit: write {number}ms or {number}s")),
        None => text.parse().map_err(|error: T::Err| error.to_string()),
    }
}

fn lacks_unit(part: &str) -> bool {
    let is_plain = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain && part.parse::<f64>().is_ok_and(|number| number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::{Backlog, ThinkTime};
    use super::*;
    use crate::Nanos;

    #[test]
    fn a_number_is_within_its_bounds() {
        let read = whole::<u32>(2..=20, 3);
        assert_eq!([read("2"), read("20")], [Ok(2), Ok(20)]);
        let told = "it takes a whole number from 2 to 20, such as 3";
        for bad in ["1", "21", "-3", "3x", ""] {
            assert_eq!(read(bad), Err(told.to_owned()), "{bad}");
        }
        let told = "it takes a whole number from 1 up, such as 10";
        assert_eq!(whole::<u64>(1.., 10)("0"), Err(told.to_owned()));
        assert_eq!(whole::<u64>(0.., 42)("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn a_time_names_its_unit_wherever_it_stands() {
        assert_eq!(with_unit("5ms"), Ok(Nanos::from_millis(5)));
        assert_eq!(with_unit("0"), Ok(Nanos::ZERO));
        let error = with_unit::<Nanos>("5").expect_err("of which unit?");
        assert_eq!(error, "`5` has no unit: write 5ms or 5s");
        for think in ["2.5", "exp:10", "uniform:5ms..15"] {
            let error = with_unit::<ThinkTime>(think).expect_err(think);
            assert!(error.contains("has no unit"), "{error}");
        }
        assert!(with_unit::<ThinkTime>("uniform:5ms..15ms").is_ok());
        assert_eq!(with_unit("wait"), Ok(Backlog::Wait));
        assert!(with_unit::<Backlog>("deadline:50").is_err_and(|error| error.contains("50ms")));
        let error = with_unit::<Nanos>("5x").expect_err("no unit");
        assert!(error.contains("`x` is no unit"), "{error}");
    }
}
