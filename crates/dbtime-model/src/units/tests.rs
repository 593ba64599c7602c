//! Tests of units and how they are written.

use super::*;

#[test]
fn durations_are_seconds_or_have_a_unit() {
    assert_eq!("200us".parse(), Ok(Nanos(200_000)));
    assert_eq!("1.5ms".parse(), Ok(Nanos(1_500_000)));
    assert_eq!("24533566178.527333ms".parse(), Ok(Nanos(24_533_566_178_527_333)), "exact");
    assert_eq!("0.0000000004s".parse(), Ok(Nanos(0)));
    assert_eq!("0.0000000005s".parse(), Ok(Nanos(1)));
    assert_eq!("2m".parse(), Ok(Nanos::from_secs(120)));
    assert_eq!("0".parse(), Ok(Nanos::ZERO));
    assert_eq!("5".parse(), Ok(Nanos::from_secs(5)));
    assert_eq!("2.5".parse(), Ok(Nanos::from_millis(2500)));
    for ns in [0, 1, 1_500_000, 3_000_000_000, 10_000, 123_456_789] {
        assert_eq!(Nanos(ns).exact().parse(), Ok(Nanos(ns)));
    }
    let refused = [
        ("", "it has no number"),
        ("ms", "it has no number"),
        ("-1s", "it is negative"),
        ("1e3s", "`e3s` is no unit"),
        ("99999999999h", "it is too much"),
        ("1.2.3s", "it has no number"),
        ("1.0000000000000000000.s", "it has no number"),
        (".s", "it has no number"),
        ("1 fortnight", "`fortnight` is no unit"),
    ];
    for (bad, why) in refused {
        let error = bad.parse::<Nanos>().expect_err(bad).to_string();
        assert!(error.starts_with(&format!("`{bad}` is no duration: {why}; write")), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn the_quick_way_to_three_digits_is_no_other(value in 0.5f64..2000.0) {
        // Ends of ranges and values in the middle of two are the likeliest to differ.
        for value in [value, value.round(), (value * 200.0).round() / 200.0] {
            proptest::prop_assert_eq!(three_digits(value), any_three_digits(value));
        }
    }
}

#[test]
fn people_read_three_digits() {
    let shown = [0.0, 51.0, 999.6, 51_234.0, 999_600.0, 8.2e6, 3.25e9, -1500.0].map(human_ns);
    assert_eq!(
        shown,
        ["0 ns", "51 ns", "1.00 µs", "51.2 µs", "1.00 ms", "8.20 ms", "3.25 s", "-1.50 µs"]
    );
    assert_eq!(
        [0.051_234, 9.999, 512.3, 51_234.0].map(three_digits),
        ["0.0512", "10.0", "512", "51200"]
    );
}

#[test]
fn json_holds_microseconds_exact_to_the_nanosecond() {
    for ns in [0, 1, 1_500, 86_400_000_000_123] {
        let text = serde_json::to_string(&Nanos(ns)).expect("a number");
        assert_eq!(serde_json::from_str::<Nanos>(&text).expect("a number"), Nanos(ns), "{text}");
    }
    assert_eq!(serde_json::to_string(&MonoNanos(1_500)).expect("a number"), "1.5");
}

#[test]
fn what_was_given_keeps_its_digits() {
    assert_eq!(exact(12345.0), "12,345");
    assert_eq!(exact(0.07 * 100.0), "7");
    assert_eq!(exact(1234.5), "1,234.5");
    assert_eq!(exact(0.0), "0");
    assert_eq!(exact_ns(1_234_560.0), "1.23456 ms");
    assert_eq!(exact_ns(2e9), "2 s");
    assert_eq!(exact_ns(7.2e12), "7,200 s");
}

#[test]
fn a_noun_is_of_one_or_of_several() {
    assert_eq!([0, 1, 2500].map(|n| counted(n, "run")), ["0 runs", "1 run", "2,500 runs"]);
    assert_eq!([1, 2].map(|n| counted(n, "process")), ["1 process", "2 processes"]);
    assert_eq!([1, 3].map(|n| noun_for(n, "switch")), ["switch", "switches"]);
}

#[test]
fn a_percentile_is_the_share_that_it_is_written_as() {
    assert_ne!(99.9 / 100.0, 0.999, "which is why");
    for (percentile, share) in [(99.9, 0.999), (99.99, 0.9999), (50.0, 0.5), (0.0, 0.0)] {
        assert_eq!(percentile_share(percentile), share);
    }
    assert!(percentile_share(f64::NAN).is_nan());
    assert_eq!(plain_number("099.90"), Some(99.9));
    for text in ["", ".", "-1", "+1", "1e1", "inf", "NaN", " 1"] {
        assert_eq!(plain_number(text), None, "{text}");
    }
}

#[test]
fn rates_are_per_time() {
    assert_eq!(parse_rate("500/s"), Ok(500.0));
    assert_eq!(parse_rate("1.5k/s"), Ok(1500.0));
    assert_eq!(parse_rate("30/m"), Ok(0.5));
    assert_eq!(parse_rate("500"), Ok(500.0));
    let refused = [
        ("0/s", "it is zero"),
        ("-1/s", "it is negative"),
        ("inf/s", "it is too much"),
        ("NaN/s", "it has no number"),
        ("x/s", "it has no number"),
        ("", "it has no number"),
        ("5/fortnight", "`/fortnight` is no unit"),
    ];
    for (bad, why) in refused {
        let error = parse_rate(bad).expect_err(bad).to_string();
        assert!(error.starts_with(&format!("`{bad}` is no rate: {why}; write")), "{error}");
    }
}
