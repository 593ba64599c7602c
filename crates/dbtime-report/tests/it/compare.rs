//! What is compared of hand-made runs and sweeps, and in which order it stands.

use crate::fixtures;
use dbtime_model::record::{
    FactorValue, PrimaryMetric, RunRecord, Validity, ValidityGrade, Warning, WarningKind,
};
use dbtime_report::compare::{
    self, GroupComparison, GroupOptions, PlacedRun, RunComparison, SweepComparison,
};
use dbtime_report::terminal::{self, PageStyle, TerminalOptions};
use dbtime_stats::VerdictRule;

#[test]
fn what_changed_most_comes_first() {
    let (a, mut b) = (fixtures::open(), fixtures::open());
    let last = b.record.operations.len() - 1;
    b.record.operations[last].latency_us.response.mean *= 50.0;
    b.record.statements[2].latency_us.mean += 5e6;
    b.record.budget_us.as_mut().expect("a budget").lock = Some(9e6);
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    assert_eq!(compared.operations[0].name, b.record.operations[last].name);
    let statement = &b.record.statements[2];
    assert_eq!(compared.statements[0].name, format!("{}: {}", statement.operation, statement.name));
    assert_eq!(compared.parts[0].name, "lock");
    assert_eq!(compared.parts.last().expect("a total").name, "total");
    assert!(compared.unlike.is_empty() && compared.verdict.is_none());
    let json = serde_json::to_value(&compared).expect("JSON");
    assert_eq!(json["parts"][0]["b"], 9e6);
    assert_eq!(json["verdict"], serde_json::Value::Null);
}

#[test]
fn a_noisy_side_is_called_so() {
    let (sound, mut noisy) = (fixtures::open(), fixtures::open());
    let text = "other processes used 80 % of the machine's CPU".to_owned();
    let kind = WarningKind::ForeignCpu;
    let warning = Warning { kind, text, remedy: "stop them".to_owned() };
    noisy.record.validity = Validity::from_warnings(vec![warning]);
    let compared = RunComparison::of([("a", &sound.record), ("b", &noisy.record)]);
    let said = "NOISY: other processes used 80 % of the machine";
    let (short, all) = (compare::short_runs_document(&compared), compare::runs_document(&compared));
    for text in [short.text(PageStyle::default()), all.text(PageStyle::default()), all.html()] {
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
    let json = serde_json::to_value(&compared).expect("JSON");
    assert_eq!(json["a"]["noisy"], serde_json::Value::Null);
    assert_eq!(json["b"]["grade"], "noisy");
    assert_eq!(json["b"]["noisy"], "other processes used 80 % of the machine's CPU");
    assert_eq!(json["b"]["invalid"], serde_json::Value::Null);
}

#[test]
fn noisy_runs_of_a_group_are_counted() {
    let sound = fixtures::open().record;
    let mut noisy = sound.clone();
    noisy.validity.warnings[0].kind = WarningKind::ForeignCpu;
    noisy.validity.grade = Some(ValidityGrade::Noisy);
    let placed = |record| PlacedRun { place: "r", record, excluded: None, unit: None };
    let [quiet, loud] = [&sound, &noisy].map(|record| placed(record.into()));
    let rule = VerdictRule::new(0.01);
    let options = GroupOptions { rule, primary: None, program: None, names: ["A", "B"] };
    let compared = GroupComparison::of(&[quiet, quiet], &[loud, quiet], options);
    let text = compare::groups_document(&compared).text(PageStyle::default());
    assert_eq!(text.matches(", 1 of them noisy").count(), 1, "{text}");
    assert!(compared.b.runs[0].noisy.is_some() && compared.a.runs[0].noisy.is_none());
    let alone = GroupComparison::of(&[quiet], &[loud], options);
    let text = compare::groups_document(&alone).text(PageStyle::default());
    assert!(text.contains("1 run, noisy") && !text.contains("1 of them"), "{text}");
}

#[test]
fn different_workloads_are_named_before_any_figure() {
    let (a, mut b) = (fixtures::open(), fixtures::closed());
    b.record.workload.name = "point-select".to_owned();
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    let text = compare::runs_document(&compared).text(PageStyle::default());
    let second = text.lines().nth(1).expect("a second line");
    assert!(second.contains("DIFFERENT WORKLOADS"), "{text}");
    let at =
        |expected: &str| text.find(expected).unwrap_or_else(|| panic!("no {expected} in {text}"));
    assert!(
        at("DIFFERENT TARGETS") < at("DIFFERENT LOADS") && at("DIFFERENT LOADS") < at("Figures")
    );
    let page = compare::runs_document(&compared).html();
    assert!(page.contains("DIFFERENT WORKLOADS") && page.contains("No verdict"));
}

#[test]
fn a_machine_that_is_not_as_it_was_stands_among_the_differences() {
    let (mut a, mut b) = (fixtures::open(), fixtures::open());
    let differing = |a: &RunRecord, b: &RunRecord| -> Vec<[String; 3]> {
        let compared = RunComparison::of([("a", a), ("b", b)]);
        compared.settings.into_iter().map(|pair| [pair.name, pair.a, pair.b]).collect()
    };
    assert_eq!(differing(&a.record, &b.record), Vec::<[String; 3]>::new());
    b.record.environment.findings = Some(["thp", "ports"].map(str::to_owned).into());
    let expected = |of_a: &str| ["findings of doctor", of_a, "thp, ports"].map(str::to_owned);
    assert_eq!(differing(&a.record, &b.record), [expected("–")], "unknown is not none");
    a.record.environment.findings = Some(Vec::new());
    assert_eq!(differing(&a.record, &b.record), [expected("none")]);
    a.record.environment.findings.clone_from(&b.record.environment.findings);
    assert!(differing(&a.record, &b.record).is_empty(), "both are alike");
}

#[test]
fn statements_of_one_name_with_other_texts_are_other_work() {
    let (a, mut b) = (fixtures::open(), fixtures::open());
    b.record.statements[1].fingerprint = format!("SELECT {}\u{1b}[31m", "long, ".repeat(50));
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    let [sentence] = &compared.unlike[..] else { panic!("one sentence: {:?}", compared.unlike) };
    assert!(sentence.starts_with("DIFFERENT STATEMENTS of one name. A: "), "{sentence}");
    assert!(sentence.contains("B: SELECT long, long") && sentence.len() < 200, "{sentence}");
    assert!(!sentence.contains('\u{1b}'));
}

#[test]
fn counters_are_compared_per_transaction() {
    let (a, mut b) = (fixtures::closed(), fixtures::closed());
    let counter =
        b.record.counters.as_mut().expect("counters").key_counters.last_mut().expect("some");
    counter.per_transaction = counter.per_transaction.map(|each| each * 40.0);
    let name = counter.name.clone();
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    assert_eq!(compared.counters[0].name, name);
    assert!(compared.counters[0].ratio.is_some_and(|ratio| (ratio - 40.0).abs() < 1e-6));
}

#[test]
fn a_counter_that_one_side_did_not_count_is_zero_there() {
    let (mut a, mut b) = (fixtures::closed().record, fixtures::closed().record);
    let of = |record: &mut RunRecord| record.counters.take().expect("counters");
    let (mut in_a, mut in_b) = (of(&mut a), of(&mut b));
    in_a.notes.clear();
    let gone = in_a.key_counters.remove(0);
    in_b.key_counters[1].per_transaction =
        in_b.key_counters[1].per_transaction.map(|each| each * 2.0);
    let grown = in_b.key_counters[1].name.clone();
    (a.counters, b.counters) = (Some(in_a), Some(in_b));
    let compared = |a: &RunRecord, b: &RunRecord| RunComparison::of([("a", a), ("b", b)]).counters;
    let first = &compared(&a, &b)[0];
    assert_eq!((&first.name, first.a, first.b), (&gone.name, Some(0.0), gone.per_transaction));
    assert!(first.difference.is_some());
    // What is not known is no zero, and stands behind what is.
    let stands_last = |a: &RunRecord| {
        let counters = compared(a, &b);
        let last = counters.last().expect("some");
        assert_eq!((&counters[0].name, &last.name, last.a), (&grown, &gone.name, None));
    };
    let mut other = a.clone();
    other.target.version.push('1');
    stands_last(&other);
    let mut reset = a.clone();
    reset.counters.as_mut().expect("counters").notes.push("reset".to_owned());
    stands_last(&reset);
    let none = RunRecord { counters: None, ..a };
    assert!(compared(&none, &b).iter().all(|pair| pair.a.is_none() && pair.b.is_some()));
}

#[test]
fn what_was_not_swept_is_as_given() {
    let run = |factors: Vec<FactorValue>| (factors, fixtures::open().record);
    let repeated = fixtures::sweep::sweep(2, vec![run(Vec::new()), run(Vec::new())]);
    let factor = FactorValue { name: "workers".to_owned(), value: "4".to_owned() };
    let swept = fixtures::sweep::sweep(1, vec![run(vec![factor])]);
    let compared = SweepComparison::of([("a", &repeated), ("b", &swept)]);
    assert_eq!(compared.only_a, ["as given"]);
    assert_eq!(compared.only_b, ["workers=4"]);
    let compared = SweepComparison::of([("a", &repeated), ("b", &repeated)]);
    assert_eq!(compared.combinations[0].repetitions, [2, 2]);
    let text = compare::sweeps_document(&compared).text(PageStyle::default());
    assert!(text.contains("as given") && !text.contains("only in"), "{text}");
}

/// The cells of the line of a table that begins so, behind that.
fn row(text: &str, begin: &str) -> Vec<String> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(begin));
    let rest = rest.unwrap_or_else(|| panic!("no line of {begin} in {text}"));
    let cells = rest.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(str::to_owned).collect()
}

#[test]
fn a_figure_of_a_verdict_is_the_one_that_the_report_prints() {
    let mut run = fixtures::open();
    run.record.validity.valid = true;
    // Not 1,005 µs, half way from 1.00 to 1.01 ms: a mean of logarithms may be rounded up.
    run.record.latency_us.response.p50 = 1010.0;
    let report = terminal::run_report(&run, &TerminalOptions::default());
    let printed = row(&report, "response  what a client waits  ");
    for (at, key) in ["mean", "p50", "p90", "p95", "p99", "p99.9", "max"].into_iter().enumerate() {
        let primary = PrimaryMetric::parse(key).expect(key);
        let record = (&run.record).into();
        let side = [PlacedRun { place: "r", record, excluded: None, unit: None }];
        let (rule, names) = (VerdictRule::new(0.01), ["A", "B"]);
        let options = GroupOptions { rule, primary: Some(primary), program: None, names };
        let compared = GroupComparison::of(&side, &side, options);
        let text = compare::groups_document(&compared).text(PageStyle::default());
        let compared = row(&text, &format!("{}  ", primary.name()));
        assert_eq!(compared[0], printed[at], "{text}\n{report}");
    }
}
