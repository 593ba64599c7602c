//! The report of a typed record: its answer, its plans, what values reach it, hostile texts.

use super::*;
use crate::format::width;
use crate::terminal::{PageStyle, SCREEN_LINES};
use dbtime_model::Part;
use dbtime_model::query::{
    AdviceTrial, ExecutionCounter, ExecutionPart, ExecutionTimes, FirstExecution, FormComparison,
    FormVerdict, KeySource, KeySummary, PlanChange, PlanNode, PlanOperation, PlanTournament,
    QueryAdvice, QueryExpectation, QueryForm, QueryRecord, QueryTarget, RatioInterval, RowsCheck,
    RowsDecile, RowsDifference, RowsOutcome, StatementPlan, TournamentEntry,
};

fn interval(ratio: f64, low: f64, high: f64) -> RatioInterval {
    RatioInterval { ratio, low, high, level: 0.95 }
}

fn times(mean_us: f64) -> ExecutionTimes {
    ExecutionTimes {
        count: 400,
        mean_us,
        min_us: mean_us / 2.0,
        p50_us: mean_us,
        p90_us: mean_us * 2.0,
        p99_us: mean_us * 3.0,
        max_us: mean_us * 4.0,
        rows: 12.5,
        bytes: 800.0,
    }
}

fn step(operation: PlanOperation, relation: &str, children: Vec<PlanNode>) -> PlanNode {
    PlanNode {
        operation,
        relation: Some(relation.to_owned()).filter(|name| !name.is_empty()),
        estimated_rows: Some(10.0),
        actual_rows: Some(12.0),
        loops: Some(1.0),
        time_us: Some(100.0),
        children,
        ..PlanNode::default()
    }
}

fn plan() -> StatementPlan {
    let scan = PlanNode {
        actual_rows: Some(480.0),
        time_us: Some(900.0),
        condition: Some("eventdate >= ?".to_owned()),
        ..step(PlanOperation::TableScan, "events", Vec::new())
    };
    let lookup = PlanNode {
        index: Some("by_user".to_owned()),
        time_us: Some(50.0),
        loops: Some(480.0),
        ..step(PlanOperation::IndexLookup, "users", Vec::new())
    };
    let join = step(PlanOperation::NestedLoop, "", vec![scan, lookup]);
    let root = PlanNode {
        time_us: Some(1000.0),
        ..step(PlanOperation::Sort, "", vec![PlanNode { time_us: Some(970.0), ..join }])
    };
    let plan = StatementPlan { source: "EXPLAIN ANALYZE".to_owned(), root, ..Default::default() };
    plan.with_shape()
}

fn form(name: &str, mean_us: f64) -> QueryForm {
    let part = |part, mean_us| ExecutionPart { part, mean_us };
    let counter = |name: &str, value| ExecutionCounter {
        name: name.to_owned(),
        source: "SHOW SESSION STATUS".to_owned(),
        value,
    };
    QueryForm {
        name: name.to_owned(),
        source: format!("{name}.sql"),
        sql: "SELECT * FROM events WHERE eventdate >= ?".to_owned(),
        first: Some(FirstExecution { prepare_us: Some(80.0), execute_us: mean_us * 9.0 }),
        times: Some(times(mean_us)),
        parts: vec![part(Part::Cpu, mean_us * 0.7), part(Part::Unexplained, mean_us * 0.3)],
        counters: vec![counter("Handler_read_next", mean_us), counter("Sort_rows", 7.0)],
        plan: Some(plan()),
        ..QueryForm::default()
    }
}

fn comparison() -> FormComparison {
    FormComparison {
        pairs: 400,
        ratio: interval(0.083, 0.079, 0.088),
        median_ratio: 0.08,
        unpaired: Some(interval(0.09, 0.05, 0.16)),
        faster_share: 0.98,
        verdict: FormVerdict::Faster,
        margin: 0.02,
        batches: 20,
        batch_pairs: 20,
        lives: 1,
        ..FormComparison::default()
    }
}

fn record() -> QueryRecord {
    QueryRecord {
        target: QueryTarget {
            url: "mysql://app@db1/shop".to_owned(),
            version: "MariaDB 10.11.19".to_owned(),
            ..QueryTarget::default()
        },
        keys: KeySummary {
            sources: vec![KeySource {
                parameter: "id".to_owned(),
                source: "words of ids.txt, at random".to_owned(),
                values: Some(1000),
            }],
            seed: 7,
            drawn: 800,
        },
        forms: vec![form("A", 1000.0), form("B", 83.0)],
        comparison: Some(comparison()),
        rows: Some(RowsCheck { keys: 206, edge_keys: 6, rows: 4711, ..same_rows() }),
        ..QueryRecord::default()
    }
}

fn same_rows() -> RowsCheck {
    RowsCheck { outcome: RowsOutcome::Identical, ..RowsCheck::default() }
}

fn differing() -> RowsCheck {
    let row = |value: &str| vec![vec![Some(value.to_owned()), None]];
    RowsCheck {
        outcome: RowsOutcome::Different,
        keys: 206,
        differing_keys: 3,
        difference: Some(RowsDifference {
            outcome: RowsOutcome::Different,
            key: vec![Some("secret-key".to_owned())],
            rows_a: 2,
            rows_b: 1,
            columns: vec!["name".to_owned(), "born".to_owned()],
            only_in_a: row("secret-row"),
            only_in_b: row("other-row"),
        }),
        ..RowsCheck::default()
    }
}

fn shown(record: &QueryRecord, details: bool) -> String {
    let options = QueryReportOptions { details, ..QueryReportOptions::default() };
    query_document(record, options).text(PageStyle::default())
}

/// The text with its lines as one, for what may be broken.
fn unbroken(record: &QueryRecord, details: bool) -> String {
    crate::format::one_line(&shown(record, details))
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_answer_is_the_ratio_with_its_interval_its_keys_and_the_rows() {
    let text = unbroken(&record(), false);
    let answer = "B takes 0.083 of A's time (95 % CI 0.079 .. 0.088): 12.0 times faster, faster \
                  for 98 % of 400 keys, in this server life; same rows for 206 keys";
    assert!(text.starts_with(answer), "{text}");
}

#[test]
fn every_verdict_has_its_sentence() {
    for (verdict, ratio, said) in [
        (FormVerdict::Slower, 3.2, "B takes 3.20 times A's time"),
        (FormVerdict::Same, 1.0, "B takes as long as A, within 2.0 %: 1.00 of A's time"),
        (FormVerdict::Undecided, 0.98, "Undecided whether B is faster: it takes 0.98 of A's time"),
    ] {
        let ratio = interval(ratio, ratio - 0.01, ratio + 0.01);
        let comparison = Some(FormComparison { verdict, ratio, ..comparison() });
        let text = unbroken(&QueryRecord { comparison, ..record() }, false);
        assert!(text.starts_with(said), "{text}");
    }
    let mut sqlite = record();
    sqlite.target.version = "SQLite 3.50.4".to_owned();
    assert!(!unbroken(&sqlite, false).contains("server life"));
}

#[test]
fn rows_that_differ_come_first_and_their_values_only_where_they_may() {
    let record = QueryRecord { rows: Some(differing()), ..record() };
    let text = unbroken(&record, true);
    assert!(text.starts_with("B returns other rows for 3 of 206 keys; B takes"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    let verdict = FormVerdict::Undecided;
    let comparison = Some(FormComparison { verdict, ..comparison() });
    let undecided = unbroken(&QueryRecord { comparison, ..record.clone() }, true);
    assert!(undecided.contains("of 206 keys; undecided whether B is faster"), "{undecided}");
    has(&text, &["A returns 2 rows, B 1 row", "--raw-sql adds the rows"]);
    let options = QueryReportOptions { details: false, shows_values: true };
    let text = query_document(&record, options).text(PageStyle::default());
    has(&text, &["key secret-key", "secret-row", "other-row", "NULL", "born"]);
}

#[test]
fn of_what_was_not_executed_there_is_the_plan_and_nothing_else() {
    let (name, sql) = ("A".to_owned(), "SELECT ?".to_owned());
    let planned = QueryForm { name, sql, plan: Some(plan()), ..QueryForm::default() };
    let notes = vec!["any values".to_owned()];
    let (keys, forms) = (KeySummary::default(), vec![planned]);
    let one = QueryRecord { keys, forms, notes, comparison: None, rows: None, ..record() };
    for details in [false, true] {
        let text = unbroken(&one, details);
        assert!(text.starts_with("What the optimiser expects: nothing was executed"), "{text}");
        has(&text, &["SELECT ?", "any values", "Plan of A", "table scan"]);
        for absent in ["Executions", "was not executed", "no parameters", "--tournament"] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
    }
}

#[test]
fn one_form_says_what_it_takes_and_where_that_goes() {
    let one =
        QueryRecord { forms: vec![form("A", 1000.0)], comparison: None, rows: None, ..record() };
    let text = unbroken(&one, false);
    assert!(text.starts_with("An execution takes 1.00 ms: 70 % cpu, 30 % unexplained"), "{text}");
    has(&text, &["Where the time goes", "Handler_read_next"]);
    let partly = QueryForm {
        failed: 2,
        failure: Some("no such table: events".to_owned()),
        ..form("A", 1.0)
    };
    let text = unbroken(&QueryRecord { forms: vec![partly], ..one.clone() }, false);
    assert!(text.contains("; 2 failed)"), "{text}");
    assert!(text.contains("A failed in 2 executions: no such table: events"), "{text}");
    let failed = QueryForm {
        times: None,
        failed: 2,
        failure: Some("no such table: events".to_owned()),
        ..form("A", 1.0)
    };
    let text = unbroken(&QueryRecord { forms: vec![failed], ..one.clone() }, false);
    assert!(text.starts_with("A failed: no such table: events"), "{text}");
    assert!(!text.contains("was lost"), "{text}");
    let cut = QueryRecord { is_cut: true, ..record() };
    has(&shown(&cut, false), &["The connection was lost: all figures are from before that"]);
    let mut some = record();
    some.forms[1].failure = Some("division by zero".to_owned());
    some.forms[1].failed = 1135;
    has(&unbroken(&some, false), &["B failed in 1,135 executions: division by zero"]);
}

#[test]
fn parts_are_shares_of_what_was_watched_and_one_number_is_none() {
    let text_of = |form: QueryForm| {
        let one = QueryRecord { forms: vec![form], comparison: None, rows: None, ..record() };
        unbroken(&one, true)
    };
    let part = |part, mean_us| ExecutionPart { part, mean_us };
    let watched = QueryForm {
        parts: vec![part(Part::Wire, -100.0), part(Part::Cpu, 1500.0), part(Part::Lock, 600.0)],
        watched_mean_us: Some(2000.0),
        ..form("A", 1000.0)
    };
    let text = text_of(watched);
    assert!(text.starts_with("An execution takes 1.00 ms: 75 % cpu, 30 % lock"), "{text}");
    has(&text, &["Where the time goes"]);
    let whole = vec![part(Part::ServerAndWire, 1000.0)];
    let text = text_of(QueryForm { parts: whole, ..form("A", 1000.0) });
    assert!(text.starts_with("An execution takes 1.00 ms (p50"), "{text}");
    assert!(!text.contains("Where the time goes"), "{text}");
}

#[test]
fn counters_that_are_the_same_are_in_the_details_alone() {
    let short = shown(&record(), false);
    assert!(short.contains("Handler_read_next") && !short.contains("Sort_rows"), "{short}");
    has(&shown(&record(), true), &["Handler_read_next", "Sort_rows"]);
}

#[test]
fn a_plan_is_a_tree_with_its_estimates_and_its_time() {
    let text = shown(&record(), true);
    has(
        &text,
        &[
            "Plan of A",
            "└─ nested loop",
            "   ├─ table scan on events",
            "   └─ index lookup on users by by_user",
            "48× more",
            "if eventdate >= ?",
            "Own time",
            "900 µs",
            "█",
        ],
    );
    let flat = StatementPlan { root: PlanNode::default(), ..plan() };
    let mut bare = record();
    bare.forms[0].plan = Some(flat);
    bare.forms.truncate(1);
    assert!(!shown(&bare, true).contains("Own time"), "nothing was timed");
}

#[test]
fn what_inflates_times_makes_shares_of_them_and_a_changed_plan_is_said() {
    let mut record = record();
    let since = PlanChange { since: "monday.json".to_owned(), ..PlanChange::default() };
    record.forms[0].plan =
        Some(StatementPlan { inflation: Some(2.4), change: Some(since), ..plan() });
    record.forms.truncate(1);
    let text = unbroken(&record, false);
    has(&text, &["changed since monday.json", "2.40 times as long", "shown as shares"]);
    assert!(!text.contains("900 µs"), "{text}");
}

#[test]
fn deciles_are_shown_where_b_is_faster_for_some_rows_and_slower_for_others() {
    let decile = |rows, ratio| RowsDecile {
        rows_from: rows,
        rows_to: rows + 1,
        pairs: 40,
        ratio,
        faster_share: if ratio < 1.0 { 0.9 } else { 0.1 },
    };
    let with = |deciles: Vec<RowsDecile>| QueryRecord {
        comparison: Some(FormComparison { deciles, ..comparison() }),
        ..record()
    };
    let heading = "By the number of rows";
    let mixed = with(vec![decile(0, 0.1), decile(900, 50.0)]);
    has(&shown(&mixed, false), &[heading, "900 .. 901", "50.0"]);
    let alike = with(vec![decile(0, 0.1), decile(900, 0.2)]);
    assert!(!shown(&alike, false).contains(heading));
    has(&shown(&alike, true), &[heading]);
    // Of few pairs any ratio may come.
    let few = |rows, ratio| RowsDecile { pairs: 8, ..decile(rows, ratio) };
    assert!(!shown(&with(vec![few(0, 0.5), few(900, 2.0)]), false).contains(heading));
}

#[test]
fn a_tournament_says_how_much_the_choice_costs_and_what_misled_it() {
    let entry = |switch: &str, ratio: Option<RatioInterval>| TournamentEntry {
        switch: switch.to_owned(),
        plan: Some(plan()),
        ratio,
        mean_us: 100.0,
        rows: RowsOutcome::Identical,
        ..TournamentEntry::default()
    };
    let tried = PlanTournament {
        entries: vec![
            entry("", None),
            entry("SET LOCAL enable_nestloop = off", Some(interval(0.159, 0.15, 0.17))),
            entry("SET LOCAL enable_sort = off", Some(interval(1.1, 1.0, 1.2))),
        ],
        best: Some(1),
        misled_by: Some("table scan on events: 10 rows expected, 480 came".to_owned()),
        left_out: vec!["enable_hashjoin: the same plan".to_owned()],
    };
    let with = |tried: PlanTournament| QueryRecord { tournament: Some(tried), ..record() };
    let text = unbroken(&with(tried.clone()), true);
    has(
        &text,
        &[
            "The optimiser's choice is 6.29 times slower than the best of 2 other plans",
            "Misled by: table scan on events",
            "0.15 .. 0.17",
            "enable_hashjoin: the same plan",
        ],
    );
    // An index that a file has made up.
    let none = unbroken(&with(PlanTournament { best: Some(99), ..tried }), false);
    has(&none, &["None of 2 other plans is shown to be faster"]);
    let chance = TournamentEntry {
        confirmation: Some(interval(1.01, 0.97, 1.05)),
        ..entry("SET c = d", Some(interval(0.91, 0.84, 0.99)))
    };
    let entries = vec![entry("", None), chance];
    let lost = PlanTournament { entries, ..PlanTournament::default() };
    let again = "SET c = d was at first, and took 1.01 of its time when measured again (95 % CI";
    has(&unbroken(&with(lost), false), &[again]);
    let choice = TournamentEntry { mean_us: 0.0, ..entry("", None) };
    let alone = PlanTournament { entries: vec![choice], ..PlanTournament::default() };
    let alone = unbroken(&with(alone), true);
    has(&alone, &["No switch or hint leads to another plan"]);
    let pair = vec![entry("", None), entry("SET a = b", Some(interval(1.1, 1.0, 1.2)))];
    let pair = PlanTournament { entries: pair, ..PlanTournament::default() };
    has(&unbroken(&with(pair), true), &["The one other plan is not shown to be faster"]);
    assert!(!alone.contains("0 other plans"), "{alone}");
}

#[test]
fn keys_that_all_have_no_rows_stand_in_the_answer() {
    let with = |empty_keys| {
        let rows = RowsCheck { keys: 206, empty_keys, ..same_rows() };
        unbroken(&QueryRecord { rows: Some(rows), ..record() }, false)
    };
    has(&with(206), &["same rows for 206 keys, all without rows target"]);
    has(&with(205), &["same rows for 206 keys target"]);
}

#[test]
fn hidden_literals_of_a_proposal_are_pointed_out() {
    let proposal = vec!["SELECT a FROM t WHERE day < date(:day, ?)".to_owned()];
    let advice = QueryAdvice { proposal, ..QueryAdvice::default() };
    let with = QueryRecord { advice: vec![advice], ..record() };
    let hint = "--raw-sql shows literals";
    has(&unbroken(&with, false), &[hint]);
    assert!(!unbroken(&record(), false).contains(hint));
}

#[test]
fn tried_advice_has_its_trial_and_untried_advice_a_heading_of_its_own() {
    let tried = QueryAdvice {
        rule: "missing-index".to_owned(),
        finding: "all of events is read for 12 rows".to_owned(),
        evidence: vec!["table scan on events".to_owned()],
        proposal: vec!["CREATE INDEX by_date ON events (eventdate)".to_owned()],
        trial: Some(AdviceTrial {
            place: "on a copy of shop.db".to_owned(),
            ratio: interval(0.12, 0.11, 0.13),
            pairs: 200,
            rows: RowsOutcome::Identical,
            rows_keys: 206,
            bytes: Some(4_300_000),
            build_s: Some(0.3),
            write_ratio: Some(interval(1.04, 1.02, 1.06)),
        }),
        ..QueryAdvice::default()
    };
    let untried = QueryAdvice { trial: None, rule: "or-union".to_owned(), ..tried.clone() };
    let text = unbroken(&QueryRecord { advice: vec![tried, untried], ..record() }, true);
    has(
        &text,
        &[
            "found all of events is read for 12 rows (missing-index)",
            "tried on a copy of shop.db: 0.12 of the time (95 % CI 0.11 .. 0.13), same rows for",
            "size 4.10 MiB, built in 300 ms, inserts take 1.04 times as long (95 % CI 1.02",
            "do CREATE INDEX by_date ON events (eventdate)",
            "Untried: nothing shows that any of this helps",
        ],
    );
    let places = ["missing-index", "Untried:", "or-union"].map(|part| text.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn an_expectation_that_is_not_met_stands_before_all_figures() {
    let expected = |is_met| QueryExpectation {
        flag: "--expect-faster".to_owned(),
        is_met,
        reason: "B is slower".to_owned(),
    };
    for (is_met, said) in [
        (Some(true), "--expect-faster: met"),
        (Some(false), "--expect-faster is not met: B is slower"),
        (None, "--expect-faster is undecided"),
    ] {
        let record = QueryRecord { expectations: vec![expected(is_met)], ..record() };
        let text = shown(&record, false);
        let at = text.find(said).unwrap_or_else(|| panic!("no `{said}` in {text}"));
        assert!(at < text.find("Executions").expect("a table"), "{text}");
    }
}

/// A record in which every text is hostile and no number is one.
fn hostile() -> QueryRecord {
    let text = || "\u{1b}]0;x\u{7}<script>alert(1)</script>\n| `".repeat(40);
    let nan = f64::NAN;
    let mut deep = PlanNode { label: text(), ..PlanNode::default() };
    for _ in 0..100 {
        deep = PlanNode {
            operation: PlanOperation::TableScan,
            relation: Some(text()),
            alias: Some(text()),
            condition: Some(text()),
            estimated_rows: Some(nan),
            actual_rows: Some(f64::INFINITY),
            time_us: Some(f64::MAX),
            memory_bytes: Some(-1.0),
            loops: Some(nan),
            notes: vec![text()],
            children: vec![deep],
            ..PlanNode::default()
        };
    }
    let mut form = form("A", nan);
    form.sql = text();
    form.failure = Some(text());
    form.failed = u64::MAX;
    form.plan =
        Some(StatementPlan { root: deep, inflation: Some(nan), notes: vec![text()], ..plan() });
    let mut rows = differing();
    if let Some(difference) = &mut rows.difference {
        difference.only_in_a = vec![Vec::new(), vec![Some(text()); 30]];
        difference.columns = vec![text(); 20];
    }
    QueryRecord {
        forms: vec![form.clone(), form.clone(), form],
        rows: Some(rows),
        comparison: Some(FormComparison {
            ratio: interval(nan, f64::NEG_INFINITY, f64::MAX),
            faster_share: nan,
            pairs: u64::MAX,
            deciles: vec![RowsDecile::default(), RowsDecile { ratio: nan, ..Default::default() }],
            ..comparison()
        }),
        notes: vec![text()],
        ..record()
    }
}

#[test]
fn hostile_records_drive_no_terminal_are_no_markup_and_keep_to_the_width() {
    for record in [hostile(), QueryRecord::default(), record()] {
        for details in [false, true] {
            let document =
                query_document(&record, QueryReportOptions { details, shows_values: true });
            for columns in [72, 100] {
                let text = document.text(PageStyle::default().within(columns));
                assert!(!text.contains('\u{1b}'), "{text}");
                let widest = text.lines().max_by_key(|line| width(line)).unwrap_or_default();
                assert!(width(widest) <= columns, "{widest}");
            }
            assert!(!document.html().contains("<script>alert"));
            assert!(!document.markdown().contains('\u{1b}'));
        }
    }
    let lines = shown(&record(), false).lines().count();
    assert!(lines <= SCREEN_LINES, "{lines}");
}

#[test]
fn a_page_has_the_parts_as_bars() {
    let options = QueryReportOptions { details: true, ..QueryReportOptions::default() };
    let page = query_document(&record(), options).html();
    has(
        &page,
        &["<svg class=\"bar\"", "Parts of A", "p-cpu", "└─ nested loop", "<pre class=\"drawn\""],
    );
}
