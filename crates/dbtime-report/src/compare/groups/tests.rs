//! Groups of runs whose verdict is known.

use super::group_figure::adjust;
use super::*;
use crate::compare::{groups_document, short_groups_document};
use crate::terminal::PageStyle;
use dbtime_model::record::{BudgetUs, PercentilePoint, Validity, Warning, WarningKind};

/// A run that started in that minute.
fn run(minute: usize, tps: f64, lock: f64) -> RunRecord {
    let mut record = RunRecord { throughput_tps: tps, ..RunRecord::default() };
    record.started_at = format!("2026-11-27T10:{minute:02}:00Z");
    record.validity.valid = true;
    (record.window.warmup_s, record.window.measure_s) = (5.0, 55.0);
    let response = &mut record.latency_us.response;
    (response.mean, response.p50, response.p99) = (8e6 / tps, 7e6 / tps, 20e6 / tps);
    let cpu = 8e6 / tps - lock;
    let budget =
        BudgetUs { cpu: Some(cpu), lock: Some(lock), total: 8e6 / tps, ..BudgetUs::default() };
    record.budget_us = Some(budget);
    record
}

/// So many pairs, of which the first is A in each second one; B has so many times the throughput.
fn groups(pairs: usize, ratio: f64, noise: f64) -> [Vec<RunRecord>; 2] {
    let each = |side: usize| {
        let run = |pair: usize| {
            let minute = 2 * pair + (side + pair) % 2;
            let wave = 1.0 + noise * ((minute * 7 % 5) as f64 - 2.0);
            let tps = if side == 0 { 1000.0 } else { 1000.0 * ratio };
            run(minute, tps * wave, 3000.0)
        };
        (0..pairs).map(run).collect()
    };
    [each(0), each(1)]
}

fn compared(sides: &[Vec<RunRecord>; 2]) -> GroupComparison {
    compared_by(sides, None)
}

fn compared_by([a, b]: &[Vec<RunRecord>; 2], primary: Option<PrimaryMetric>) -> GroupComparison {
    let placed = |side: &Vec<RunRecord>| {
        let run = |record: &'static RunRecord| PlacedRun {
            place: "r",
            record: record.into(),
            excluded: None,
            unit: None,
        };
        side.iter().map(|record| run(Box::leak(Box::new(record.clone())))).collect::<Vec<_>>()
    };
    let options =
        GroupOptions { rule: VerdictRule::new(0.01), primary, program: None, names: ["A", "B"] };
    GroupComparison::of(&placed(a), &placed(b), options)
}

fn sentence(compared: &GroupComparison) -> String {
    compared.verdict.to_string()
}

#[test]
fn alternating_runs_are_pairs_and_others_are_not() {
    let single = compared(&groups(1, 1.05, 0.001)).verdict_facts();
    let text = format!("{single:?}");
    assert!(text.contains("one run of each side") && !text.contains("alternated"), "{text}");
    let alternating = groups(6, 1.05, 0.001);
    assert!(compared(&alternating).paired);
    let [a, mut b] = alternating;
    b.iter_mut().enumerate().for_each(|(at, run)| {
        run.started_at = format!("2026-11-27T11:{at:02}:00Z");
    });
    let one_behind_the_other = compared(&[a, b]);
    assert!(!one_behind_the_other.paired);
    assert!(sentence(&one_behind_the_other).contains("6 runs a side, unpaired"));
}

#[test]
fn what_is_faster_is_said_with_its_size_and_its_interval() {
    let faster = compared(&groups(10, 1.05, 0.001));
    let text = sentence(&faster);
    assert!(text.starts_with("B faster than A: +"), "{text}");
    assert!(text.ends_with(", 10 pairs") && text.contains("(95 % CI +"), "{text}");
    assert_eq!(faster.verdict.outcome(), GroupOutcome::Good);
    let slower = compared(&groups(10, 0.95, 0.001));
    assert!(sentence(&slower).starts_with("B slower than A: −"), "{}", slower.verdict);
    assert_eq!(slower.verdict.outcome(), GroupOutcome::Worse);
    // A response is shorter where the throughput is higher.
    let mean = faster.metrics.iter().find(|one| one.name == "response mean").expect("a metric");
    assert!(mean.verdict.to_string().starts_with("B faster than A: −"), "{}", mean.verdict);
}

#[test]
fn what_is_the_same_or_undecided_is_said() {
    let same = compared(&groups(10, 1.0, 0.001));
    assert!(sentence(&same).starts_with("Same within 1 %: "), "{}", same.verdict);
    assert_eq!(same.verdict.outcome(), GroupOutcome::Good);
    let undecided = compared(&groups(4, 1.0, 0.05));
    let text = sentence(&undecided);
    assert!(text.starts_with("Undecided: "), "{text}");
    assert!(text.contains("; to settle 1 % takes more than 1,000 pairs"), "{text}");
    assert_eq!(undecided.verdict.outcome(), GroupOutcome::Undecided);
    let few = compared(&groups(2, 1.5, 0.001));
    assert!(sentence(&few).starts_with("No verdict: 2 valid runs of A and 2"), "{}", few.verdict);
    assert_eq!(few.verdict.outcome(), GroupOutcome::Undecided);
    let text = groups_document(&few).text(PageStyle::default());
    assert_eq!(text.matches("No verdict").count(), 1, "{text}");
}

/// HammerDB, issue 822: six identical runs.
const HAMMERDB: [f64; 6] = [298_998.0, 308_659.0, 474_245.0, 456_699.0, 283_805.0, 449_005.0];

#[test]
fn two_states_stand_beside_the_change() {
    let a: Vec<RunRecord> =
        HAMMERDB.iter().enumerate().map(|(at, tpm)| run(2 * at, *tpm, 1.0)).collect();
    let b: Vec<RunRecord> = (0..6).map(|at| run(2 * at + 1, 300_000.0 + at as f64, 1.0)).collect();
    let states = compared(&[a.clone(), b.clone()]);
    let [change, low, high] = states.metrics[0].change_pct.expect("always");
    assert!(low < -20.0 && change < -15.0 && high > 0.0, "{change} {low} {high}");
    assert!(sentence(&states).starts_with("Undecided: −18."), "{}", sentence(&states));
    let found = states.states().expect("two");
    assert_eq!(found.changes.iter().map(|one| one.a_runs).collect::<Vec<_>>(), [3, 3]);
    let wanted = "A 459,863 → B 300,003: −34.8 % in 3 of 6 pairs; A 296,977 → B 300,002: +1.0 % in \
                  3 of 6 pairs; nothing known tells these groups apart";
    assert_eq!(found.text, wanted);
    let text = groups_document(&states).text(PageStyle::default());
    assert!(text.contains("two states    A 459,863"), "{text}");
    // Not in turns: the values of a side, against all of the other.
    let late = b
        .into_iter()
        .map(|run| RunRecord { started_at: run.started_at.replace("T10", "T11"), ..run });
    let unpaired = compared(&[a, late.collect()]);
    let text = &unpaired.states().expect("two").text;
    let wanted = "A 296,977 (3 of 6) → B 300,002 (6 of 6): +1.0 %; A 459,863 (3 of 6) → B 300,002";
    assert!(text.starts_with(wanted), "{text}");
}

#[test]
fn what_differs_between_two_states_is_named() {
    let [mut a, b] = groups(12, 1.0, 0.0001);
    for (at, run) in a.iter_mut().enumerate() {
        let is_fast = at < 6;
        run.throughput_tps *= if is_fast { 1.3 } else { 1.0 };
        let value = if is_fast { "on" } else { "off" };
        run.target.settings.insert("cache".to_owned(), value.to_owned());
    }
    let text = |a: &[RunRecord]| {
        let states = compared(&[a.to_vec(), b.clone()]);
        states.states().map(|states| states.text.clone()).expect("two")
    };
    let known = text(&a);
    assert!(known.ends_with("; these groups differ in setting cache: on, off"), "{known}");
    a.iter_mut().for_each(|run| run.target.settings.clear());
    let known = text(&a);
    assert!(known.ends_with("; the first group ran before the second"), "{known}");
}

/// Half as fast in every block, on a machine that has two speeds.
#[test]
fn what_is_half_as_fast_in_every_block_is_worse() {
    let mut sides = groups(10, 0.5, 0.001);
    for side in &mut sides {
        side.iter_mut().skip(5).for_each(|run| run.throughput_tps *= 1.2);
    }
    let slower = compared(&sides);
    assert!(sentence(&slower).starts_with("B slower than A: −50"), "{}", slower.verdict);
    assert_eq!(slower.verdict.outcome(), GroupOutcome::Worse);
    assert!(slower.states().is_none());
}

#[test]
fn the_one_pair_that_is_far_off_is_named_beside_the_median() {
    let mut sides = groups(6, 1.0, 0.001);
    sides[1][3].throughput_tps = 150.0;
    let undecided = sentence(&compared(&sides));
    assert!(undecided.starts_with("Undecided: −2"), "{undecided}");
    let named = "6 pairs; without pair 4 (r, r), which alone is far off, ";
    assert!(undecided.contains(named), "{undecided}");
    assert!(undecided.contains("; by medians of all "), "{undecided}");
}

#[test]
fn a_verdict_by_medians_is_what_the_row_and_the_gate_are_about() {
    let mut sides = groups(20, 0.9, 0.001);
    sides[1][3].throughput_tps = 5000.0;
    let slower = compared(&sides);
    let told = " by medians, 20 pairs; not so by means: ";
    assert!(sentence(&slower).contains(told), "{}", slower.verdict);
    assert_eq!(slower.gate.outcome(), GroupOutcome::Worse, "{}", slower.gate);
    let [change, low, high] = slower.metrics[0].change_pct.expect("a change");
    assert!(-11.0 < low && low < change && change < high && high < -9.0, "{low} {change} {high}");
}

#[test]
fn runs_that_are_not_valid_are_shown_and_in_no_verdict() {
    let [a, mut b] = groups(10, 1.05, 0.001);
    b[3].validity.valid = false;
    b[3].throughput_tps = 10.0;
    let compared = compared(&[a, b]);
    let verdict = sentence(&compared);
    assert!(verdict.starts_with("B faster than A: +"), "{verdict}");
    assert!(verdict.ends_with("10 and 9 runs, unpaired"), "{verdict}");
    let with = compared.verdict_with_excluded.as_ref().expect("one was excluded").to_string();
    assert!(with.starts_with("Undecided: −"), "{with}");
    assert!(compared.b.runs[3].excluded.is_some());
    let document = groups_document(&compared);
    let text = document.text(PageStyle::default());
    assert!(text.contains("1 of them not valid"), "{text}");
    assert!(document.html().contains("class=\"hollow\""), "it is drawn apart");
}

/// Late by 40 % of its 99th percentile, and by nothing on average.
fn late(mut record: RunRecord) -> RunRecord {
    let set = &mut record.latency_us;
    set.without_lag = set.response;
    (set.without_lag.p99, set.lag.p999) = (0.6 * set.response.p99, set.response.p99);
    record.counts.completed = 1000;
    let kind = WarningKind::ClientLimited;
    let warning = Warning { kind, text: "the driver was late".to_owned(), ..Warning::default() };
    record.validity = Validity::from_warnings(vec![warning]);
    record
}

/// Ten pairs; of B the first eight are late at the 99th percentile.
fn late_groups() -> [Vec<RunRecord>; 2] {
    let [a, mut b] = groups(10, 1.05, 0.001);
    for run in &mut b[..8] {
        *run = late(run.clone());
    }
    [a, b]
}

#[test]
fn runs_that_are_late_at_a_percentile_count_for_the_throughput() {
    let compared = compared(&late_groups());
    assert!(sentence(&compared).ends_with(", 10 pairs"), "{}", compared.verdict);
    assert_eq!((&compared.verdict_with_excluded, &compared.exclusion_bias), (&None, &None));
    let p99 = compared.metrics.iter().find(|one| one.name == "response p99").expect("a metric");
    assert_eq!([p99.a.len(), p99.b.len()], [2, 2], "whole pairs are left out of it");
}

#[test]
fn exclusions_that_differ_by_more_than_chance_are_told_beside_the_verdict() {
    let compared = compared_by(&late_groups(), PrimaryMetric::named("p99"));
    let why = "not counted for p99: the driver's lag makes up to 40 % of it";
    assert_eq!(compared.b.runs[0].excluded.as_deref(), Some(why));
    let bias = "0 of 10 runs of A and 8 of 10 runs of B do not count, further apart than by \
                chance (Fisher's exact test at 5 %): the verdict may be biased";
    assert_eq!(compared.exclusion_bias.as_deref(), Some(bias));
    let facts = compared.reason_facts();
    assert!(facts[0].text.starts_with("with the runs that are not valid: B "), "{facts:?}");
    assert_eq!(facts[1].text, bias);
    let [mut a, mut b] = late_groups();
    a.iter_mut().skip(4).for_each(|run| *run = late(run.clone()));
    b.truncate(8);
    let alike = compared_by(&[a, b], PrimaryMetric::named("p99"));
    assert_eq!(alike.exclusion_bias, None, "6 of 10 and 8 of 8");
}

#[test]
fn what_became_of_others_is_no_flaw_of_a_run() {
    let [a, b] = groups(10, 1.05, 0.001);
    let placed = |side: &'static [RunRecord], excluded| {
        let place = |record: &'static RunRecord| PlacedRun {
            place: "r",
            record: record.into(),
            excluded,
            unit: None,
        };
        side.iter().map(place).collect::<Vec<_>>()
    };
    let [a, b]: [&'static [RunRecord]; 2] = [a.leak(), b.leak()];
    let rule = VerdictRule::new(0.01);
    let options = GroupOptions { rule, primary: None, program: None, names: ["A", "B"] };
    let bias = |excluded| {
        let b = placed(b, Some(excluded));
        GroupComparison::of(&placed(a, None), &b, options).exclusion_bias
    };
    assert_eq!(bias(GivenExclusion::OfOthers("its block was not finished")), None);
    assert!(bias(GivenExclusion::OfRun("it was late")).is_some_and(|text| text.contains("10 of")));
}

/// Parts of which a warning says that they are wrong are no answer to where the time went.
#[test]
fn wrong_parts_are_compared_with_nothing() {
    let [a, mut b] = groups(10, 1.05, 0.001);
    let warning = Warning { kind: WarningKind::BudgetError, ..Warning::default() };
    b[3].validity = Validity::from_warnings(vec![warning]);
    let compared = compared(&[a, b]);
    assert!(sentence(&compared).ends_with(", 10 pairs"), "{}", compared.verdict);
    assert!(compared.parts.is_empty() && compared.part_changes.is_empty());
}

#[test]
fn the_parts_add_up_to_the_difference() {
    let faster = compared(&groups(10, 1.05, 0.001));
    let line = faster.where_it_went.as_deref().expect("all have a budget");
    let (total, parts) = faster.parts.split_last().expect("a total");
    let sum: f64 = parts.iter().filter_map(|part| part.difference).sum();
    assert!((sum - total.difference.expect("both")).abs() < 1e-6);
    assert!(line.starts_with('−') && line.contains(" per transaction: cpu −"), "{line}");
    let [a, mut b] = groups(10, 1.05, 0.001);
    b[0].budget_us = None;
    assert_eq!(compared(&[a, b]).where_it_went, None);
}

/// The parts of a response do not explain the throughput of clients that pause besides.
#[test]
fn beside_a_throughput_of_clients_that_think_the_parts_are_said_to_be_of_the_response() {
    let [mut a, mut b] = groups(10, 1.05, 0.001);
    a.iter_mut().chain(&mut b).for_each(|run| run.load.think_us = Some(1000.0));
    let sides = [a, b];
    let went = |primary: &str| {
        let compared = compared_by(&sides, PrimaryMetric::named(primary));
        compared.where_it_went.expect("all have a budget")
    };
    let of_response = " per transaction of the response, without the thinking: cpu −";
    assert!(went("throughput").contains(of_response), "{}", went("throughput"));
    assert!(went("mean").contains(" per transaction: cpu −"), "{}", went("mean"));
}

#[test]
fn without_the_primary_metric_there_is_no_other_verdict() {
    let none = compared_by(&groups(10, 1.05, 0.001), PrimaryMetric::named("server-cpu"));
    let missing = "Invalid: server CPU per transaction was not measured in any run of A and any \
                   run of B; it is read of a server's process, on this machine and with rights to \
                   it, while transactions end; SQLite and null have none";
    assert_eq!(sentence(&none), missing);
    assert_eq!((none.verdict.outcome(), none.metrics.len()), (GroupOutcome::Undecided, 0));
}

/// As on a loud machine: runs of both sides count, but none in the same block.
#[test]
fn where_all_runs_have_the_metric_it_is_the_blocks_that_are_lacking() {
    let primary = PrimaryMetric::named("throughput").expect("a metric");
    let record: &RunRecord = &run(0, 1000.0, 3000.0);
    let place = PlacedRun { place: "r", record: record.into(), excluded: None, unit: None };
    let sides = [vec![place], vec![place]];
    let metric = &primary_first(primary)[0];
    let why = InvalidGroups::of((metric, primary), [&sides, &sides], ["A", "B"]).to_string();
    assert!(why.starts_with("no run of A and no run of B counts, for each of its blocks"), "{why}");
}

#[test]
fn what_some_runs_lack_is_told_from_what_is_zero() {
    let [mut a, mut b] = groups(10, 1.05, 0.001);
    a.iter_mut().chain(&mut b).for_each(|run| run.counts.offered = 9);
    b[0].counts.offered = 0;
    let errors = PrimaryMetric::named("errors");
    let lacking = sentence(&compared_by(&[a.clone(), b.clone()], errors));
    let why = "Invalid: share of failed transactions was not measured in 1 of 10 runs of B; ";
    assert!(lacking.starts_with(why), "{lacking}");
    b[0].counts.offered = 9;
    let zero = compared_by(&[a.clone(), b.clone()], errors);
    assert_eq!(sentence(&zero), "Equal (0 in all runs), 10 pairs");
    assert_eq!(zero.verdict.outcome(), GroupOutcome::Good);
    b.iter_mut().for_each(|run| run.counts.failed = 3);
    let some = compared_by(&[a, b], errors);
    assert!(sentence(&some).starts_with("B worse than A: +33"), "{}", sentence(&some));
    assert!(sentence(&some).ends_with(", 10 pairs, not all above 0"), "{}", sentence(&some));
    assert_eq!(some.verdict.outcome(), GroupOutcome::Worse);
    assert_eq!(some.metrics[0].change_pct, None);
    assert!(some.metrics[0].p.is_some_and(|p| p < 1e-6), "{:?}", some.metrics[0].p);
}

#[test]
fn a_verdict_can_be_on_any_percentile_and_less_of_it_is_faster() {
    let mut sides = groups(10, 1.05, 0.001);
    for run in sides.iter_mut().flatten() {
        run.latency_us.response.p95 = 15e6 / run.throughput_tps;
        let point = |percentile: f64, response_us: f64| PercentilePoint {
            percentile,
            response_us,
            ..PercentilePoint::default()
        };
        let at = |share: f64| share * 1e6 / run.throughput_tps;
        run.percentiles = vec![point(72.0, at(8.0)), point(81.0, at(11.0))];
    }
    for (key, name) in [("p95", "response p95"), ("p75", "response p75 (interpolated)")] {
        let faster = compared_by(&sides, PrimaryMetric::named(key));
        assert!(sentence(&faster).starts_with("B faster than A: −"), "{}", sentence(&faster));
        assert_eq!((faster.verdict.outcome(), faster.metrics.len()), (GroupOutcome::Good, 5));
        assert_eq!(faster.metrics[0].name, name);
    }
}

#[test]
fn what_all_runs_of_a_side_have_otherwise_is_named() {
    let [a, mut b] = groups(5, 1.05, 0.001);
    let mut set = |at: usize, name: &str, value: &str| {
        b[at].target.settings.insert(name.to_owned(), value.to_owned());
    };
    (0..5).for_each(|at| set(at, "flush", "2"));
    set(2, "port", "7");
    let mut a = a;
    a.iter_mut().for_each(|run| {
        run.target.settings.insert("flush".to_owned(), "1".to_owned());
        run.target.settings.insert("port".to_owned(), "1".to_owned());
    });
    let settings = compared(&[a, b]).settings;
    let names: Vec<&str> = settings.iter().map(|pair| pair.name.as_str()).collect();
    assert_eq!(names, ["setting flush"]);
    assert_eq!((settings[0].a.as_str(), settings[0].b.as_str()), ("1", "2"));
}

#[test]
fn one_metric_of_several_has_to_be_clearer() {
    let mut figures = compared(&groups(10, 1.05, 0.001)).metrics;
    figures.iter_mut().for_each(|figure| figure.p = Some(0.02));
    adjust(&mut figures);
    assert!(matches!(figures[0].verdict, Verdict::Different(_)), "{}", figures[0].verdict);
    let further = figures[1].verdict.to_string();
    assert!(further.starts_with("Undecided: one of 3 further"), "{further}");
    assert_eq!(figures[1].verdict.outcome(), GroupOutcome::Undecided);
    // What does not differ alone does not differ among several either, whatever its probability.
    let mut figures = compared(&groups(10, 1.0, 0.001)).metrics;
    let same: Vec<Verdict> = figures.iter().map(|figure| figure.verdict.clone()).collect();
    figures.iter_mut().for_each(|figure| figure.p = Some(0.02));
    adjust(&mut figures);
    assert!(figures.iter().map(|figure| &figure.verdict).eq(&same), "{figures:?}");
}

#[test]
fn json_has_sentences_and_what_they_come_to() {
    let [a, mut b] = groups(10, 0.95, 0.001);
    b[3].validity.valid = false;
    let compared = compared(&[a, b]);
    let json = serde_json::to_string(&compared).expect("JSON");
    let verdict = &compared.verdict;
    let with = compared.verdict_with_excluded.as_ref().expect("one was excluded");
    let (begin, end) = (r#"{"schema":1,"kind":"group_comparison""#, r#""paired":false"#);
    let fields = format!(r#""verdict":"{verdict}","outcome":"worse""#);
    let comparison = format!(r#"{begin},{fields},"verdict_with_excluded":"{with}",{end}"#);
    assert!(json.starts_with(&comparison), "{json}");
    let metric = format!(r#","text":"{verdict}","outcome":"worse","change_pct":["#);
    assert_eq!(json.matches(&metric).count(), 1, "{json}");
}

#[test]
fn text_and_page_have_the_verdict_first() {
    let compared = compared(&groups(10, 1.05, 0.001));
    let document = groups_document(&compared);
    let text = document.text(PageStyle::default());
    let second = text.lines().nth(1).expect("two lines");
    assert!(second.trim_start().starts_with("verdict") && second.contains("B faster"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let page = document.html();
    assert!(
        roxmltree::Document::parse_with_options(
            &page,
            roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() }
        )
        .is_ok()
    );
    assert!(page.contains(&sentence(&compared)));
    assert!(page.find("forest-title") < page.find("sequence-title"), "changes first");
    let rows = compared.metrics.len() + compared.percentiles.len() + compared.part_changes.len();
    assert_eq!(page.matches("class=\"hit\"").count(), rows);
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|at| at.split('"').next()).collect();
    let once: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), once.len(), "each id is there once: {ids:?}");
}

#[test]
fn one_run_is_its_own_mean_to_the_last_digit() {
    for tenths in 1..1000 {
        let value = f64::from(tenths) / 10.0;
        assert_eq!(geometric_mean(&[value]), value);
        assert_eq!(geometric_mean(&[value; 3]), value);
    }
    assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-9);
    assert_eq!(geometric_mean(&[0.0, 8.0]), 0.0);
    assert_eq!(geometric_mean(&[8.0, 0.0]), 0.0);
}

/// Two groups of runs on both sides, and B half as fast in every pair.
#[test]
fn a_gate_fails_by_its_bound_whatever_the_verdict_is() {
    let tps = |at: usize| if at.is_multiple_of(2) { 1000.0 } else { 1600.0 } + at as f64;
    let side = |side: usize, share: f64| -> Vec<RunRecord> {
        (0..8).map(|at| run(2 * at + side, share * tps(at), 1.0)).collect()
    };
    let slower = compared(&[side(0, 1.0), side(1, 0.5)]);
    assert_eq!(slower.gate.outcome(), GroupOutcome::Worse, "{}", slower.gate);
    let faster = compared(&[side(0, 0.5), side(1, 1.0)]);
    assert_eq!(faster.gate.outcome(), GroupOutcome::Good, "{}", faster.gate);
}

#[test]
fn which_way_is_worse_is_known_of_each_metric() {
    let slower = compared(&groups(10, 0.95, 0.001));
    let gate = |name: &str| {
        let figure = slower.metrics.iter().find(|one| one.name == name).expect(name);
        figure.gate.to_string()
    };
    let throughput = gate("throughput per second");
    assert!(throughput.starts_with("fails: with 95 % confidence the change is below −4."));
    let mean = gate("response mean");
    assert!(mean.starts_with("fails: with 95 % confidence the change is above +"), "{mean}");
    assert!(mean.ends_with(" %, so B is worse by 1 % or more"), "{mean}");
}

#[test]
fn only_a_gated_report_says_how_the_gate_comes_out() {
    let slower = compared(&groups(10, 0.95, 0.001));
    let line = format!("gate: {}", slower.gate);
    let markdown = |compared: &GroupComparison| groups_document(compared).markdown();
    assert!(!markdown(&slower).contains(&line), "{}", markdown(&slower));
    let gated = slower.gated();
    assert!(markdown(&gated).contains(&line), "{}", markdown(&gated));
    let json = serde_json::to_value(&gated).expect("JSON");
    let wanted = serde_json::json!({ "text": gated.gate.to_string(), "outcome": "worse" });
    assert_eq!((&json["gate"], &json["metrics"][0]["gate"]), (&wanted, &wanted));
}

#[test]
fn too_few_runs_leave_a_gate_undecided() {
    let few = compared(&groups(2, 0.5, 0.001));
    assert_eq!(few.gate.outcome(), GroupOutcome::Undecided, "{}", few.gate);
    let none = compared_by(&groups(10, 0.5, 0.001), PrimaryMetric::named("server-cpu"));
    assert_eq!(none.gate.outcome(), GroupOutcome::Undecided, "{}", none.gate);
}

#[test]
fn without_a_verdict_the_next_step_names_the_commands_that_give_one() {
    let single = compared(&groups(1, 1.05, 0.001));
    let clear = compared(&groups(10, 1.05, 0.001));
    for document in [groups_document, short_groups_document] {
        let text = document(&single).text(PageStyle::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for command in ["`dbtime study ab`", "`dbtime compare A1 A2 A3 -- B1 B2 B3`"] {
            assert_eq!(text.matches(command).count(), 1, "{command}: {text}");
        }
        let text = document(&clear).text(PageStyle::default());
        assert!(!text.contains("study ab"), "{text}");
    }
}
