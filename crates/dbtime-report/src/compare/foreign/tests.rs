//! Files of other tools whose comparison is known, and texts that nobody wrote.

use super::*;
use crate::compare::{GroupOutcome, foreign_junit};
use crate::terminal::{PageStyle, SCREEN_LINES};
use dbtime_stats::VerdictRule;
use proptest::prelude::*;
use std::fmt::Write as _;

/// Lines of `go test -bench` for a name: so many values about a mean, whose noise has a pattern.
fn lines(name: &str, mean: f64, unit: &str, count: u32) -> String {
    let value = |at: u32| mean * (1.0 + 0.001 * f64::from(at * 7 % 5));
    (0..count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "Benchmark{name}-8 1000 {} {unit}", value(at));
        text
    })
}

fn placed(text: &str) -> Vec<(String, ForeignFile)> {
    let file = ForeignFile::read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    vec![("a.txt".to_owned(), file)]
}

fn compared(a: &str, b: &str) -> ForeignComparison {
    ForeignComparison::of(&placed(a), &placed(b), VerdictRule::new(0.01)).expect("names of both")
}

fn row<'a>(compared: &'a ForeignComparison, name: &str, unit: &str) -> &'a ForeignRow {
    let is_it = |row: &&ForeignRow| (row.name.as_str(), row.unit.as_str()) == (name, unit);
    compared.rows.iter().find(is_it).expect("a row")
}

#[test]
fn each_name_has_its_verdict_the_worst_first() {
    let a = lines("Slow", 100.0, "ns/op", 10)
        + &lines("Fast", 100.0, "ns/op", 10)
        + &lines("Same", 100.0, "ns/op", 10)
        + &lines("Rate", 100.0, "MB/s", 10);
    let b = lines("Slow", 110.0, "ns/op", 10)
        + &lines("Fast", 90.0, "ns/op", 10)
        + &lines("Same", 100.0, "ns/op", 10)
        + &lines("Rate", 110.0, "MB/s", 10);
    let compared = compared(&a, &b);
    let names: Vec<_> = compared.rows.iter().map(|row| (&*row.name, row.word)).collect();
    let wanted =
        [("Slow-8", "slower"), ("Same-8", "same"), ("Rate-8", "faster"), ("Fast-8", "faster")];
    assert_eq!(names, wanted);
    let slow = row(&compared, "Slow-8", "ns/op");
    assert!(slow.verdict.starts_with("B slower than A: +10.0 % (95 % CI +"), "{}", slow.verdict);
    assert!(slow.verdict.ends_with(", 10 runs a side, unpaired"), "{}", slow.verdict);
    assert_eq!(compared.verdict, "1 of 4 worse, 2 better, 1 the same, 0 undecided");
    assert_eq!(compared.outcome, GroupOutcome::Worse);
    let [mean] = &compared.means[..] else { panic!("{:?}", compared.means) };
    assert_eq!((mean.unit.as_str(), mean.names), ("ns/op", 3));
    let [low, high] = mean.interval_pct.expect("all have an interval");
    assert!(low < mean.change_pct && mean.change_pct < high && high - low < 1.0, "{mean:?}");
}

#[test]
fn undecided_names_say_how_much_more_it_takes() {
    let noisy = |seed: u32| {
        let value = |at: u32| 100.0 + f64::from((at * 7 + seed) % 5) * 5.0;
        let lines = (0..6).map(|at| format!("BenchmarkA 1 {} ns/op\n", value(at)));
        lines.collect::<String>()
    };
    let compared = compared(&noisy(0), &noisy(1));
    assert_eq!(compared.outcome, GroupOutcome::Undecided);
    assert!(compared.verdict.starts_with("Undecided: "), "{}", compared.verdict);
    assert!(compared.verdict.contains("to settle 1 % run about "), "{}", compared.verdict);
    assert!(!compared.verdict.contains("of load"), "{}", compared.verdict);
}

#[test]
fn values_of_one_turn_are_pairs() {
    let side = |factor: f64| {
        let lines = (1..9).map(|block: u32| {
            let drift = 100.0 * (1.0 + f64::from(block));
            format!("block: {block}\nBenchmarkA 1 {} ns/op\n", drift * factor)
        });
        lines.collect::<String>()
    };
    let paired = compared(&side(1.0), &side(1.05));
    assert!(paired.rows[0].paired);
    assert!(paired.verdict.ends_with("8 pairs"), "{}", paired.verdict);
    assert_eq!(paired.outcome, GroupOutcome::Worse);
    // A turn that one side lacks leaves no pairs.
    let without = side(1.05).replacen("block: 1\n", "block: 99\n", 1);
    let unpaired = compared(&side(1.0), &without);
    assert!(!unpaired.rows[0].paired);
    assert_ne!(unpaired.outcome, GroupOutcome::Worse);
}

#[test]
fn zeros_are_equal_to_zeros_and_nothing_else() {
    let constant = |values: [u32; 3]| {
        let lines = values.map(|value| format!("BenchmarkA 1 {value} allocs/op\n"));
        lines.concat()
    };
    for (a, b, outcome, wanted) in [
        ([0; 3], [0; 3], GroupOutcome::Good, "Same: 0 on both sides"),
        ([0; 3], [1; 3], GroupOutcome::Worse, "B worse than A: always 0 in A, never in B"),
        ([2; 3], [0; 3], GroupOutcome::Good, "B better than A: always 0 in B, never in A"),
        ([0, 1, 0], [1; 3], GroupOutcome::Undecided, "Invalid: some values are 0"),
    ] {
        let compared = compared(&constant(a), &constant(b));
        assert!(compared.verdict.starts_with(wanted), "{}", compared.verdict);
        assert_eq!(compared.outcome, outcome, "{wanted}");
    }
    let once = "BenchmarkA 1 0 allocs/op";
    assert_eq!(compared(once, once).outcome, GroupOutcome::Undecided, "one value a side");
}

/// Two hundred names without a difference, in one of which chance made one.
#[test]
fn what_may_be_chance_among_so_many_names_fails_no_gate() {
    let same = |side: &str| {
        let noise = |name: usize| {
            let shift = if name == 7 && side == "b" { 1.02 } else { 1.0 };
            (0..6).fold(String::new(), |mut text, at: u32| {
                let value = 100.0 * shift * (1.0 + 0.01 * f64::from(at * 3 % 4));
                let _ = writeln!(text, "BenchmarkN{name} 1 {value} ns/op");
                text
            })
        };
        (0..200).map(noise).collect::<String>()
    };
    let compared = compared(&same("a"), &same("b"));
    let doubtful = row(&compared, "N7", "ns/op");
    assert!(doubtful.p.expect("a test") < 0.05, "{doubtful:?}");
    assert_eq!((doubtful.p_adjusted, doubtful.outcome), (Some(1.0), GroupOutcome::Undecided));
    assert_ne!(compared.outcome, GroupOutcome::Worse);
    assert!(compared.verdict.contains("may be chance among 200"), "{}", compared.verdict);
    let text = short_foreign_document(&compared).text(PageStyle::default());
    assert!(text.contains("slower*") && text.contains("further rows"), "{text}");
    assert!(text.lines().count() <= SCREEN_LINES, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn names_and_units_stay_apart_beside_a_change_without_measure() {
    let begin = format!("StructOfArrays/{}", "x".repeat(60));
    let names = ["One", "Two", "Six"].map(|end| format!("{begin}{end}"));
    let side = |factor: f64| {
        let each = names.iter().map(|name| lines(name, 10.0 * factor, "allocs/op", 3));
        each.collect::<String>() + &lines("Short", 10.0, "B/op", 3)
    };
    let compared = compared(&side(1.0), &side(578_845.5));
    for columns in [72, 100] {
        let style = PageStyle::default().within(columns);
        let text = short_foreign_document(&compared).text(style);
        assert!(text.lines().count() <= SCREEN_LINES, "{text}");
        for shown in ["One-8", "Two-8", "Six-8", "×578,84", "Verdict"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(!text.contains("alloc…") && !text.contains("578844"), "{text}");
    }
    assert_eq!([900.0, 900.1, 12.34].map(shown::change_text), ["+900.0 %", "×10.0", "+12.3 %"]);
}

/// Ten values a side about these means, by a margin of 1 %.
fn outcome_of(a: f64, b: f64) -> (GroupOutcome, &'static str, String) {
    let compared = compared(&lines("X", a, "ns/op", 10), &lines("X", b, "ns/op", 10));
    let junit = foreign_junit(&compared);
    (compared.outcome, compared.rows[0].word, junit)
}

#[test]
fn the_gate_goes_by_bounds_and_not_by_the_verdict() {
    for (b, outcome, word, case) in [
        (100.5, GroupOutcome::Good, "small", "gate passes: with 95 % confidence"),
        (101.0, GroupOutcome::Undecided, "slower", "<skipped message=\"B slower than A: +1.0 %"),
        (102.0, GroupOutcome::Worse, "slower", "gate fails: with 95 % confidence"),
        (99.0, GroupOutcome::Good, "faster", "so B is not worse by 1 % or more"),
    ] {
        let found = outcome_of(100.0, b);
        assert_eq!((found.0, found.1), (outcome, word), "{found:?}");
        assert!(found.2.contains(case), "{found:?}");
    }
    let gate = |b: f64| {
        let a = lines("X", 100.0, "ns/op", 10) + &lines("Y", 100.0, "ns/op", 10);
        let b = lines("X", b, "ns/op", 10) + &lines("Y", 100.0, "ns/op", 10);
        let compared = compared(&a, &b);
        let plain = short_foreign_document(&compared).text(PageStyle::default());
        assert!(!plain.lines().any(|line| line.trim_start().starts_with("gate ")), "{plain}");
        short_foreign_document(&compared.gated()).text(PageStyle::default())
    };
    for (b, wanted) in [
        (100.0, "passes: worse by 1 % or more is excluded in 2 of 2"),
        (101.0, "undecided: worse by 1 % or more is neither shown"),
        (110.0, "fails: worse by 1 % or more is shown in 1 of 2"),
    ] {
        let text = gate(b);
        assert!(text.contains(wanted), "{text}");
    }
}

/// By itself the gate of one in two hundred fails.
#[test]
fn one_of_many_gates_that_fails_by_chance_is_undecided() {
    let side = |shift: f64, names: usize| {
        let noise = |name: usize| {
            let factor = if name == 0 { shift } else { 1.0 };
            (0..6).fold(String::new(), |mut text, at: u32| {
                let value = 100.0 * factor * (1.0 + 0.01 * f64::from(at * 3 % 4));
                let _ = writeln!(text, "BenchmarkN{name} 1 {value} ns/op");
                text
            })
        };
        (0..names).map(noise).collect::<String>()
    };
    for (names, outcome) in [(1, GroupOutcome::Worse), (200, GroupOutcome::Undecided)] {
        let compared = compared(&side(1.0, names), &side(1.03, names));
        let shifted = row(&compared, "N0", "ns/op");
        assert_eq!((compared.outcome, shifted.outcome), (outcome, outcome), "{shifted:?}");
    }
}

/// Eighteen pairs, of which all signs are tried, and more, of which as many are drawn.
#[test]
fn medians_of_many_names_are_looked_at_as_far_as_that_takes_seconds() {
    for names in [1, 200, 201, 20_000] {
        let signs = 1usize << comparison::most_checked(names).min(18);
        assert!(names * signs < 100_000_000, "{names}");
    }
}

#[test]
fn a_time_of_zero_was_rounded_to_it() {
    let cases = |time: &str| {
        let case = format!("<testcase classname=\"a\" name=\"b\" time=\"{time}\"/>");
        format!("<testsuite>{}</testsuite>", case.repeat(3))
    };
    let rounded = compared(&cases("0.000"), &cases("0.001"));
    assert_eq!(rounded.outcome, GroupOutcome::Undecided);
    assert!(rounded.verdict.starts_with("No verdict: some times are 0"), "{}", rounded.verdict);
    assert_eq!(compared(&cases("0.000"), &cases("0.000")).outcome, GroupOutcome::Good);
}

#[test]
fn packages_tell_alike_names_apart_where_there_are_several() {
    let package = |name: &str, mean: f64| format!("pkg: {name}\n{}", lines("X", mean, "ns/op", 4));
    // One package a side, whatever it is called: implementations of one thing.
    let other = compared(&package("x/one", 10.0), &package("x/two", 20.0));
    assert_eq!((other.rows.len(), other.rows[0].name.as_str()), (1, "X-8"));
    let both = package("x/one", 10.0) + &package("x/two", 20.0);
    let same = compared(&both, &both);
    assert_eq!((same.rows.len(), same.rows[0].name.as_str()), (2, "x/one.X-8"));
    // The other side may have one of them alone.
    let fewer = compared(&both, &package("x/one", 10.0));
    assert_eq!((fewer.rows.len(), fewer.rows[0].name.as_str()), (1, "x/one.X-8"));
    assert_eq!(fewer.a.alone, ["x/two.X-8 ns/op"]);
}

#[test]
fn one_name_of_each_side_is_compared_and_others_are_named() {
    let command = |name: &str| {
        let times = "1.0, 1.01, 1.02, 1.03";
        format!("{{\"results\": [{{\"command\": \"{name}\", \"times\": [{times}]}}]}}")
    };
    let renamed = compared(&command("old/tool -v"), &command("new/tool -v"));
    let told = "DIFFERENT NAMES, one on each side. A: old/tool -v; B: new/tool -v";
    assert_eq!(renamed.unlike, [told]);
    let [a, b] = ["A", "B"].map(|name| lines(name, 1.0, "ns/op", 3) + &lines("C", 1.0, "s", 3));
    let partly = compared(&a, &b);
    assert_eq!(partly.a.alone, ["A-8 ns/op"]);
    assert_eq!(partly.b.alone, ["B-8 ns/op"]);
    assert_eq!(partly.outcome, GroupOutcome::Undecided, "what B does not have is not known");
    assert!(foreign_junit(&partly).contains("<skipped message=\"B does not have it\"/>"));
    let unlike = |name: &str| lines(name, 1.0, "s", 3) + &lines("D", 1.0, name, 3);
    let [a, b] = ["A", "B"].map(|name| placed(&unlike(name)));
    let error = ForeignComparison::of(&a, &b, VerdictRule::new(0.01)).expect_err("none in common");
    assert!(error.to_string().contains("the first has \"A-8 s\""), "{error}");
}

#[test]
fn machines_that_differ_are_named_first() {
    let on = |cpu: &str| format!("cpu: {cpu}\n{}", lines("X", 1.0, "ns/op", 3));
    let compared = compared(&on("one"), &on("other"));
    assert_eq!(compared.unlike, ["DIFFERENT CPU. A: one; B: other"]);
    let document = foreign_document(&compared);
    for form in [document.text(PageStyle::default()), document.html(), document.markdown()] {
        assert!(form.contains("DIFFERENT CPU"), "{form}");
    }
}

#[test]
fn a_text_of_no_known_format_is_refused_with_what_there_is() {
    for text in ["", "\n\n", "no table", "{\"schema\": 1}", "\u{feff}"] {
        let error = ForeignFile::read(text).expect_err(text).to_string();
        assert!(error.starts_with("it is none of the files"), "{error}");
    }
    for text in ["<testsuites/>", "{\"results\": []}", "name,ms\n"] {
        let error = ForeignFile::read(text).expect_err(text).to_string();
        assert!(error.contains(" without a value that can be compared"), "{error}");
    }
    let lines_of_json = "{\"Action\":\"start\"}\n{\"Action\":\"output\"}\n";
    let error = ForeignFile::read(lines_of_json).expect_err("several").to_string();
    assert!(error.ends_with("run `go test -bench` without -json"), "{error}");
    let windows = format!("\u{feff}{}", lines("X", 1.0, "ns/op", 1)).replace('\n', "\r\n");
    assert_eq!(placed(&windows)[0].1.samples.samples()[0].key.unit, "ns/op");
}

proptest! {
    /// No text makes a parser panic, and what was read is compared with itself and shown.
    #[test]
    fn no_text_breaks_a_parser_or_a_document(
        text in "(Benchmark|block: |name,ms\n|<testcase time=\"|\\{\"results\": |[ -~\n\t;µ\u{1b}]){0,40}"
    ) {
        if let Ok(file) = ForeignFile::read(&text) {
            let side = [(text.clone(), file)];
            let compared = ForeignComparison::of(&side, &side, VerdictRule::new(0.01));
            let compared = compared.expect("every name has itself");
            prop_assert_ne!(compared.outcome, GroupOutcome::Worse);
            let shown = foreign_document(&compared).text(PageStyle::default());
            let has_control = shown.contains(|c: char| c.is_control() && c != '\n');
            prop_assert!(!has_control, "a control character was shown");
        }
    }
}
