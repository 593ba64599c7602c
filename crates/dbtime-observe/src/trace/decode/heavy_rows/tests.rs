//! Rows beside a count that has room for all.

use super::*;
use dbtime_model::Part;
use dbtime_model::traced_totals::TracedTotals;
use dbtime_sql::LexicalRules;
use proptest::prelude::*;

/// Texts as they were sent.
fn raw_texts() -> LiteralFilter {
    LiteralFilter::new(true, None)
}

fn key(shape: u64) -> RowKey {
    RowKey { shape, was_preempted: shape % 2 == 1, cache: QueryCache::NotAsked }
}

fn totals(count: u64, response: u64) -> TraceTotals {
    TraceTotals { count, response: Nanos(response), ..TraceTotals::default() }
}

fn weight_of(totals: &[&StatementTotals]) -> StatementWeight {
    let of = |row: &&StatementTotals| (row.totals.count, row.totals.response);
    let sum = |sum: StatementWeight, (calls, time)| sum.plus(StatementWeight { calls, time });
    totals.iter().map(of).fold(StatementWeight::default(), sum)
}

/// Whether all that was added is there, and nothing lacks more than is said.
fn check(rows: &HeavyRows, exact: &HashMap<u64, StatementWeight>) {
    let shown = rows.statements(&mut raw_texts());
    let all = exact.values().fold(StatementWeight::default(), |sum, weight| sum.plus(*weight));
    assert_eq!(weight_of(&shown.iter().collect::<Vec<_>>()), all);
    let replaced = rows.replaced().unwrap_or_default();
    for (shape, exact) in exact {
        let own: Vec<&StatementTotals> =
            shown.iter().filter(|row| row.row.statement == *shape).collect();
        let own = weight_of(&own);
        assert!(own.calls <= exact.calls && own.time <= exact.time);
        assert!(exact.calls <= own.calls + replaced.most_calls, "{shape}: {own:?}");
        // Without a row nothing is heavier than what is said.
        assert!(exact.time <= own.time + replaced.most_time, "{shape}: {own:?}");
    }
}

proptest! {
    #[test]
    fn sums_are_whole_and_what_is_heavy_has_a_row(
        added in prop::collection::vec((SHAPES..60, 1u64..5, 1u64..100), 0..400),
        at_once in 1usize..50,
    ) {
        let mut rows = HeavyRows::with_room((16, 16));
        let mut exact = HashMap::<u64, StatementWeight>::new();
        for some in added.chunks(at_once) {
            for (shape, calls, time) in some.iter().copied() {
                rows.add(key(shape), &totals(calls, time));
                let weight = exact.entry(shape).or_default();
                *weight = weight.plus(StatementWeight { calls, time: Nanos(time) });
            }
            check(&rows, &exact);
            rows.settle();
            prop_assert!(rows.rows.len() <= 17);
            check(&rows, &exact);
        }
    }

    #[test]
    fn what_has_come_between_two_readings_is_no_more_than_came(
        added in prop::collection::vec((SHAPES..40, 1u64..5, 1u64..100), 1..400),
        at_once in 1usize..80,
    ) {
        let mut rows = HeavyRows::with_room((12, 12));
        let mut before = TracedTotals::default();
        for some in added.chunks(at_once) {
            let mut came = HashMap::<u64, StatementWeight>::new();
            let mut all = StatementWeight::default();
            for (index, (shape, calls, time)) in some.iter().copied().enumerate() {
                rows.add(key(shape), &totals(calls, time));
                let weight = StatementWeight { calls, time: Nanos(time) };
                let own = came.entry(shape).or_default();
                (*own, all) = (own.plus(weight), all.plus(weight));
                if index % 7 == 6 {
                    rows.settle();
                }
            }
            let statements = rows.statements(&mut raw_texts());
            let now = TracedTotals { statements, ..TracedTotals::default() };
            let since = now.since(&before).statements;
            prop_assert_eq!(weight_of(&since.iter().collect::<Vec<_>>()), all);
            for row in since.iter().filter(|row| row.row.statement != SHAPE_OTHER) {
                let came = came.get(&row.row.statement).copied().unwrap_or_default();
                prop_assert!(row.totals.count <= came.calls, "{:?}", row);
                prop_assert!(row.totals.response <= came.time, "{:?}", row);
            }
            before = now;
        }
    }

    #[test]
    fn waits_for_files_are_whole_too(
        added in prop::collection::vec((SHAPES..12, 0u8..40, 4usize..7, 1u64..100), 0..300),
    ) {
        let mut rows = HeavyRows::with_room((6, 16));
        let mut exact = [Nanos::ZERO; 7];
        for (index, (shape, name, part, length)) in added.into_iter().enumerate() {
            let mut file = FileRow { part: part as u32, ..FileRow::default() };
            file.name[0] = b'a' + name;
            rows.add(key(shape), &totals(1, length));
            rows.add_file(shape, file, TallyRow { count: 1, length });
            exact[part] += Nanos(length);
            if index % 7 == 0 {
                rows.settle();
                let named = rows.rows.values().flat_map(|row| row.files.keys());
                prop_assert!(named.filter(|file| sum_layout::is_named(file)).count() <= 16);
            }
        }
        for (index, part) in [(4, Part::IoRead), (5, Part::IoWrite), (6, Part::Sync)] {
            let shown = rows.statements(&mut raw_texts());
            let files = shown.iter().flat_map(|row| &row.totals.files);
            let of_part = files.filter(|file| file.part == part);
            let length = of_part.map(|file| file.length).sum();
            prop_assert_eq!(exact[index], length);
        }
    }
}

#[test]
fn what_comes_steadily_among_what_comes_once_gets_a_row_and_lacks_little() {
    const NEWCOMER: u64 = 7;
    let mut rows = HeavyRows::with_room((512, 512));
    let once = |rows: &mut HeavyRows, number: u64| {
        let shape = (number + 10).wrapping_mul(0x100_0000_01b3);
        rows.add(key(shape), &totals(1, 100_000 + number % 1000));
    };
    for number in 0..200_000 {
        once(&mut rows, number);
        if number > 100_000 && number % 50 == 0 {
            rows.add(key(NEWCOMER), &totals(1, 100_000));
        }
        if number % 400 == 0 {
            rows.settle();
        }
    }
    let shown = rows.statements(&mut raw_texts());
    let own = shown.iter().find(|row| row.row.statement == NEWCOMER).expect("a row");
    let most = rows.replaced().expect("most were").most_calls;
    assert!(most < 40 && own.totals.count + most >= 1999, "{most} {}", own.totals.count);
    assert_eq!(rows.count(), 200_000 + 1999);
}

#[test]
fn what_the_kernel_had_no_room_for_may_be_anyones() {
    let mut rows = HeavyRows::default();
    rows.add(key(SHAPES), &totals(1, 10));
    assert_eq!(rows.replaced(), None);
    rows.add(key(SHAPE_OTHER), &totals(5, 70));
    let (most_calls, most_time) = (5, Nanos(70));
    assert_eq!(rows.replaced(), Some(ReplacedStatements { rows: 0, most_calls, most_time }));
}

#[test]
fn a_row_that_a_statement_gets_again_is_another_and_has_a_text_to_be_found() {
    let mut rows = HeavyRows::with_room((8, 8));
    let number = |rows: &HeavyRows| {
        let all = rows.statements(&mut raw_texts());
        all.iter().find(|row| row.row.statement == 100).map(|row| row.row)
    };
    rows.add(key(100), &totals(1, 1));
    let rules = LexicalRules::of_protocol(None);
    rows.name_new(100, RawSql::new(b"SELECT 1", rules));
    rows.name_new(100, RawSql::new(b"SELECT 2", rules));
    let first = number(&rows).expect("a row");
    (200..210).for_each(|shape| rows.add(key(shape), &totals(1, 50)));
    rows.settle();
    assert_eq!(number(&rows), None);
    rows.add(key(100), &totals(1, 1));
    assert_eq!(rows.without_text().len(), 8);
    assert!(number(&rows).expect("a row").since > first.since);
    let (calls, time) = (1, Nanos(1));
    assert_eq!(rows.rows[&100].lacks, StatementWeight { calls, time });
}
