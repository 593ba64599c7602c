//! Tests of what all values of a written form have in common.

use super::*;
use crate::Nanos;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Holds a value to its text, on a command line and in JSON.
fn is_its_text<T>(value: &T) -> Result<(), TestCaseError>
where
    T: FromStr + Display + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = value.to_string();
    let read = text.parse::<T>().ok();
    prop_assert_eq!(read.as_ref(), Some(value));
    let json = serde_json::to_string(value).expect("it can be written");
    let quoted = serde_json::to_string(&text).expect("so can a text");
    prop_assert_eq!(&json, &quoted);
    let read = serde_json::from_str::<T>(&json).ok();
    prop_assert_eq!(read.as_ref(), Some(value));
    Ok(())
}

fn durations() -> impl Strategy<Value = Nanos> {
    (0..9_000_000_000_000_000_000u64).prop_map(Nanos)
}

fn tps() -> impl Strategy<Value = f64> {
    0.001..20e6f64
}

fn rates() -> impl Strategy<Value = Rate> {
    let steps = proptest::collection::vec((1..100_000u64, tps()), 0..4);
    let steps = (tps(), steps).prop_map(|(first, later)| {
        let mut all = vec![(Nanos::ZERO, first)];
        for (after_ms, rate) in later {
            let (last, _) = all[all.len() - 1];
            all.push((last + Nanos::from_millis(after_ms), rate));
        }
        Rate::Steps(all)
    });
    let ramps = (tps(), tps()).prop_map(|(from, to)| Rate::Ramp(from, to));
    prop_oneof![tps().prop_map(Rate::Constant), steps, ramps]
}

fn rate_choices() -> impl Strategy<Value = RateChoice> {
    let shares = (0.001..10_000.0f64).prop_map(RateChoice::Auto);
    prop_oneof![rates().prop_map(RateChoice::Given), shares]
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop_oneof![
        Just(Arrivals::default()),
        Just(Arrivals::Poisson),
        Just(Arrivals::Uniform),
        (1..=u64::MAX).prop_map(Arrivals::Burst),
        Just(Arrivals::AtOnce),
    ]
}

fn think_times() -> impl Strategy<Value = ThinkTime> {
    let uniform = (durations(), durations());
    let uniform = uniform.prop_map(|(a, b)| ThinkTime::Uniform(a.min(b), a.max(b)));
    prop_oneof![
        durations().prop_map(ThinkTime::Fixed),
        uniform,
        durations().prop_map(ThinkTime::Exponential),
    ]
}

fn backlogs() -> impl Strategy<Value = Backlog> {
    prop_oneof![Just(Backlog::Wait), Just(Backlog::Drop), durations().prop_map(Backlog::Deadline)]
}

fn budget_choices() -> impl Strategy<Value = BudgetChoice> {
    let every = (1..=u32::MAX).prop_map(BudgetChoice::Every);
    prop_oneof![Just(BudgetChoice::Auto), every, Just(BudgetChoice::Off)]
}

fn limits() -> impl Strategy<Value = WorkloadLimit> {
    let texts = prop_oneof![
        (1..100u32, durations()).prop_map(|(p, most)| format!("p{p} <= {}", most.exact())),
        durations().prop_map(|most| format!("avg≤{}", most.exact())),
        (0..=100u32, 0..9u32).prop_map(|(share, off)| format!("share {share}% ± {off}")),
        (0..=100u32).prop_map(|most| format!("errors <= {most}%")),
        tps().prop_map(|least| format!("throughput>={least}/s")),
    ];
    texts.prop_map(|text| text.parse::<WorkloadLimit>().expect("a limit"))
}

#[test]
fn values_without_a_number_are_their_texts() {
    for protocol in [StatementProtocol::Text, StatementProtocol::Prepared] {
        is_its_text(&protocol).expect("one of two");
    }
    for policy in [ReconnectPolicy::WhenLost, ReconnectPolicy::EveryTransaction] {
        is_its_text(&policy).expect("one of two");
    }
    for text in ["", "Text", "prepared "] {
        let error = text.parse::<StatementProtocol>().expect_err(text).to_string();
        assert_eq!(error, format!("`{text}` is no protocol: write text or prepared"));
        assert!(text.parse::<ReconnectPolicy>().is_err(), "{text}");
    }
}

#[test]
fn a_refusal_names_what_would_be_a_value() {
    for (error, remedy) in [
        ("x".parse::<Arrivals>().map_err(|e| e.to_string()).err(), "write steady, poisson"),
        ("x".parse::<Backlog>().map_err(|e| e.to_string()).err(), "write wait, drop"),
        ("0".parse::<BudgetChoice>().map_err(|e| e.to_string()).err(), "write auto, off"),
        ("x".parse::<CpuList>().map_err(|e| e.to_string()).err(), "such as 0,2-3"),
        ("x".parse::<ReconnectPolicy>().map_err(|e| e.to_string()).err(), "write lost or"),
    ] {
        assert!(error.as_ref().is_some_and(|error| error.contains(remedy)), "{error:?}");
    }
    let error = serde_json::from_str::<Backlog>("\"panic\"").expect_err("no policy").to_string();
    assert!(error.starts_with("`panic` is no backlog policy: write wait"), "{error}");
    assert!(serde_json::from_str::<BudgetChoice>("16").is_err(), "a number is no text");
}

proptest! {
    #[test]
    fn values_are_their_texts(
        rate in rate_choices(), arrivals in arrivals(), think in think_times(),
        backlog in backlogs(), budget in budget_choices(), limit in limits(),
    ) {
        is_its_text(&rate)?;
        is_its_text(&arrivals)?;
        is_its_text(&think)?;
        is_its_text(&backlog)?;
        is_its_text(&budget)?;
        is_its_text(&limit)?;
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "[a-z0-9:./,%<=-]{0,30}|.*") {
        let _ = (text.parse::<RateChoice>(), text.parse::<Arrivals>(), text.parse::<ThinkTime>());
        let _ = (text.parse::<Backlog>(), text.parse::<BudgetChoice>());
        let _ = (text.parse::<WorkloadLimit>(), text.parse::<ReconnectPolicy>());
    }
}
