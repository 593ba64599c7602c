//! Times of transactions and statements on the command line, which need a unit: people mean
//! milliseconds by a bare number there, and how long something goes on is in seconds.

use std::fmt::Display;
use std::str::FromStr;

/// Reads what has such times in it: `5ms`, `uniform:5ms..15ms`, `deadline:50ms`. Zero needs no
/// unit.
pub(super) fn with_unit<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
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
    use super::*;
    use dbtime_load::queue::Backlog;
    use dbtime_load::think::ThinkTime;
    use dbtime_model::Nanos;

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
