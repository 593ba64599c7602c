//! What is true of all advice. Each rule, on a run that shows it and on one that must not: `rules`.

mod holders;
mod planted_shares;
mod plants;
mod rules;

use super::{BudgetAdvice, RULES, RunAdvice};
use dbtime_model::Part;
use dbtime_model::record::{
    BudgetBucket, BudgetUs, CountersInfo, CountsInfo, KeyCounterDelta, LoadInfo, OperationSummary,
    RunRecord, StatementSummary, TargetInfo, Validity, Warning, WarningKind,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Parts of a mean response of this length; what they leave is `cpu`, but where that is given.
fn budget(total: f64, parts: &[(Part, f64)]) -> BudgetUs {
    let get = |part: Part| parts.iter().find(|(other, _)| *other == part).map(|(_, us)| *us);
    let rest = total - parts.iter().map(|(_, us)| us).sum::<f64>();
    let mut json = serde_json::Map::new();
    for part in Part::ALL {
        let us = get(part).or((part == Part::Unexplained).then_some(0.0));
        json.insert(part.name().to_owned(), us.into());
    }
    if get(Part::Cpu).is_none() {
        json.insert("cpu".to_owned(), rest.into());
    }
    json.insert("total".to_owned(), total.into());
    serde_json::from_value(json.into()).expect("a budget")
}

/// A run of a thousand transactions of two statements, the second of which has all of `parts`.
fn run(engine: &str, version: &str, total: f64, parts: &[(Part, f64)]) -> RunRecord {
    let nothing: Vec<_> = parts.iter().map(|(part, _)| (*part, 0.0)).collect();
    let statement = |name: &str, budget| StatementSummary {
        operation: "tpcb".to_owned(),
        name: name.to_owned(),
        count: 1000,
        rows: 1000,
        budget_us: Some(budget),
        ..StatementSummary::default()
    };
    RunRecord {
        budget_us: Some(budget(total, parts)),
        counts: CountsInfo { offered: 1000, completed: 1000, ..CountsInfo::default() },
        statements: vec![
            statement("begin", budget(0.0, &nothing)),
            statement("commit", budget(total, parts)),
        ],
        target: TargetInfo {
            engine: engine.to_owned(),
            version: version.to_owned(),
            ..TargetInfo::default()
        },
        load: LoadInfo { connections: 8, ..LoadInfo::default() },
        validity: Validity::from_warnings(Vec::new()),
        ..RunRecord::default()
    }
}

fn mariadb(parts: &[(Part, f64)]) -> RunRecord {
    run("mysql", "MariaDB 10.11.19", 1000.0, parts)
}

fn postgres(parts: &[(Part, f64)]) -> RunRecord {
    run("postgres", "PostgreSQL 15.18", 1000.0, parts)
}

fn sqlite(parts: &[(Part, f64)]) -> RunRecord {
    run("sqlite", "3.50.4", 1000.0, parts)
}

fn set(mut record: RunRecord, settings: &[(&str, &str)]) -> RunRecord {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    record.target.settings.extend(settings);
    record
}

fn counting(mut record: RunRecord, counters: &[(&str, f64)]) -> RunRecord {
    let counter = |(name, each): &(&str, f64)| KeyCounterDelta {
        name: (*name).to_owned(),
        per_transaction: Some(*each),
        ..KeyCounterDelta::default()
    };
    let key_counters = counters.iter().map(counter).collect();
    record.counters = Some(CountersInfo { key_counters, ..CountersInfo::default() });
    record
}

fn find(record: &RunRecord, rule: &str) -> Option<BudgetAdvice> {
    RunAdvice::of(record).advice.into_iter().find(|advice| advice.rule == rule)
}

/// Everything that a rule says of a run, which it must apply to.
fn said(record: &RunRecord, rule: &str) -> String {
    let advice = find(record, rule).unwrap_or_else(|| panic!("{rule}: {record:#?}"));
    let steps = advice.steps.iter().map(super::step);
    advice.figures.iter().cloned().chain(steps).collect::<Vec<_>>().join("\n")
}

/// The rule says all of the first, and nothing of the second.
fn says(record: &RunRecord, rule: &str, these: &[&str], not_these: &[&str]) {
    let said = said(record, rule);
    these.iter().for_each(|text| assert!(said.contains(text), "no {text}: {said}"));
    not_these.iter().for_each(|text| assert!(!said.contains(text), "{text}: {said}"));
}

#[test]
fn every_rule_applies_to_its_parts_and_only_where_they_are_large() {
    let mut seen = BTreeSet::new();
    // What has no claims of its own has its parts in every run.
    for rule in RULES.iter().filter(|rule| rule.claims.is_none()) {
        for part in rule.parts {
            assert!(seen.insert(part.name()), "{} has two rules", part.name());
            for target in [mariadb, postgres, sqlite] {
                let large = target(&[(*part, 300.0), (Part::Unexplained, 0.0)]);
                let advice = find(&large, rule.name).expect(rule.name);
                assert_eq!(advice.parts, [*part]);
                assert_eq!((advice.mean.at_most_us, advice.mean.of_us), (300.0, 1000.0));
                assert!((advice.mean.share_pct - 30.0).abs() < 1e-9);
                assert!(!advice.steps.is_empty(), "{}: nothing to do", rule.name);
                assert!(!advice.cause.is_empty(), "{}: no cause", rule.name);
                let small = target(&[(*part, 99.0), (Part::Cpu, 1.0)]);
                assert_eq!(find(&small, rule.name), None);
                let absent = target(&[(Part::Unexplained, 1000.0), (Part::Cpu, 0.0)]);
                assert_eq!(find(&absent, rule.name), None);
            }
        }
    }
    let without: Vec<_> =
        Part::ALL.into_iter().filter(|part| !seen.contains(part.name())).collect();
    assert_eq!(without, [Part::Unexplained]);
}

#[test]
fn what_only_the_slowest_have_is_found_too() {
    let mut record = mariadb(&[(Part::Lock, 20.0)]);
    let bucket = |below_us, count, budget_us| BudgetBucket { below_us, count, budget_us };
    record.operations = vec![OperationSummary {
        name: "tpcb".to_owned(),
        count: 1000,
        budget_us: record.budget_us,
        budget_buckets: vec![
            bucket(1024.0, 990, budget(990.0, &[(Part::Lock, 1.0)])),
            bucket(8192.0, 10, budget(5000.0, &[(Part::Lock, 2000.0)])),
        ],
        ..OperationSummary::default()
    }];
    let all = RunAdvice::of(&record);
    let advice = find(&record, "lock_waits").expect("two fifths of the slowest");
    let slowest = advice.slowest.expect("two buckets");
    assert_eq!((slowest.at_most_us, slowest.of_us, slowest.share_pct), (2000.0, 5000.0, 40.0));
    assert_eq!(advice.mean.at_most_us, 20.0);
    let text = super::text::bounds(&advice, &all);
    let shown = "lock is 2.0 % of the mean: at most 20.0 µs of 1.00 ms; 40 % of the slowest \
                 1.0 %: at most 2.00 ms of 5.00 ms";
    assert_eq!(text, shown);
    // Without the slow ones there is none.
    record.operations[0].budget_buckets.pop();
    assert_eq!(find(&record, "lock_waits"), None);
}

#[test]
fn what_can_win_most_comes_first_and_a_report_has_the_largest() {
    let parts =
        [Part::Sync, Part::Lock, Part::IoRead, Part::Queue, Part::Net, Part::Wire, Part::Cpu];
    let shares = [130.0, 150.0, 170.0, 110.0, 120.0, 160.0, 160.0];
    let record = mariadb(&parts.into_iter().zip(shares).collect::<Vec<_>>());
    let all = RunAdvice::of(&record);
    let rules: Vec<_> = all.advice.iter().map(|advice| advice.rule).collect();
    let order = "file_reads round_trips server_cpu lock_waits log_sync network pool_queue";
    assert_eq!(rules.join(" "), order);
    let largest: Vec<_> = all.largest().iter().map(|advice| advice.rule).collect();
    assert_eq!(largest.join(" "), "file_reads round_trips server_cpu lock_waits log_sync");
}

#[test]
fn the_place_is_the_statement_with_most_of_it() {
    let record = mariadb(&[(Part::Sync, 600.0)]);
    says(&record, "log_sync", &["100 % of it is in tpcb: commit, 600 µs each"], &[]);
    // What is between statements is known by operation alone, and there is only one.
    let mut record = mariadb(&[(Part::Client, 600.0)]);
    record.statements.iter_mut().for_each(|statement| statement.budget_us = None);
    says(&record, "driver_delay", &[], &["of it is in"]);
}

#[test]
fn without_figures_there_is_no_advice_but_a_reason() {
    let none = |record: &RunRecord| {
        let all = RunAdvice::of(record);
        assert_eq!(all.advice, []);
        all.nothing.expect("a reason")
    };
    assert!(none(&RunRecord::default()).contains("--no-budget"));
    let empty = RunRecord { budget_us: Some(BudgetUs::default()), ..RunRecord::default() };
    assert!(none(&empty).contains("no transaction was measured"));
    let odd = run("sqlite", "", 1000.0, &[(Part::Cpu, 50.0), (Part::Unexplained, 950.0)]);
    assert!(none(&odd).contains("the largest is unexplained, 950 µs of 1.00 ms"));
}

#[test]
fn advice_on_an_invalid_run_says_so() {
    let mut record = mariadb(&[(Part::Sync, 600.0)]);
    let all = RunAdvice::of(&record);
    assert!(all.valid && all.doubt.is_none());
    record.validity = Validity::from_warnings(vec![Warning {
        kind: WarningKind::ClientLimited,
        text: "the driver was late".to_owned(),
        ..Warning::default()
    }]);
    let all = RunAdvice::of(&record);
    assert!(!all.valid && !all.advice.is_empty());
    assert_eq!(all.doubt.as_deref(), Some("client-limited: the driver was late"));
}

proptest! {
    /// Whatever the parts are, no advice promises more than the response, nor all together.
    #[test]
    fn no_more_than_the_response_can_be_won(
        amounts in prop::collection::vec(-50.0..500.0f64, Part::ALL.len()),
    ) {
        let parts: Vec<_> = Part::ALL.into_iter().zip(amounts).filter(|(part, _)| {
            *part != Part::Unexplained
        }).collect();
        let total: f64 = parts.iter().map(|(_, us)| us.max(0.0)).sum();
        let all = RunAdvice::of(&run("mysql", "8.4", total, &parts));
        for advice in &all.advice {
            prop_assert!(advice.mean.at_most_us <= advice.mean.of_us);
            for most in advice.steps.iter().filter_map(|step| step.at_most_us) {
                prop_assert!(most <= advice.mean.at_most_us + 1e-9);
            }
        }
        let sum: f64 = all.advice.iter().map(|advice| advice.mean.at_most_us).sum();
        prop_assert!(sum <= total * 1.000_001);
    }
}
