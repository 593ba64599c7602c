//! Every generator against its definition, drawn through programs as a run draws them.
//!
//! Seeds are fixed, so a test that passes passes always; critical values are those that 99.9 % of
//! samples of the right distribution stay below.

use dbtime_load::program::{Program, ProgramEvent, ProgramStep, SqlValue, Ticket};
use dbtime_load::workload::Workload;
use dbtime_model::{MonoNanos, OperationId};
use std::collections::BTreeSet;
use std::path::Path;

const N: u64 = 100_000;

/// A workload of one table of 1000 rows and one statement with the parameter `:x`.
fn workload(keys: &str, repeat: u32) -> Workload {
    let text = format!(
        "name = \"w\"\n[[table]]\nname = \"t\"\nrows = 1000\n\
         columns = [{{ name = \"id\", type = \"integer\", data = \"row\" }}]\n\
         [[operation]]\nname = \"o\"\n[operation.keys]\n{keys}\n\
         [[operation.statement]]\nsql = \"SELECT :x\"\nrepeat = {repeat}\n"
    );
    Workload::parse(&text, Path::new("w.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn execute(program: &mut dyn Program, index: u64, each: &mut dyn FnMut(&SqlValue)) {
    let operation = OperationId(0);
    program.start(&Ticket { index, operation, due: MonoNanos(0), client: 0 });
    let mut event = ProgramEvent::Started;
    while let ProgramStep::Execute { parameters, .. } = program.resume(event) {
        each(&parameters[0]);
        event = ProgramEvent::Answered { rows: 0, first: &[] };
    }
}

/// The values of `:x` in the first `n` transactions of seed 1.
fn integers(key: &str, n: u64) -> Vec<i64> {
    let mut values = Vec::new();
    let mut program = workload(&format!("x = {key}"), 1).program(1, 1);
    for index in 0..n {
        execute(program.as_mut(), index, &mut |value| match value {
            SqlValue::Integer(number) => values.push(*number),
            other => panic!("{other:?} from {key}"),
        });
    }
    values
}

fn texts(keys: &str, n: u64) -> Vec<String> {
    let mut values = Vec::new();
    let mut program = workload(keys, 1).program(1, 1);
    for index in 0..n {
        execute(program.as_mut(), index, &mut |value| match value {
            SqlValue::Text(text) => values.push(text.clone()),
            other => panic!("{other:?} from {keys}"),
        });
    }
    values
}

/// χ² of draws in `low..` against probabilities of its cells.
fn chi2(draws: &[i64], low: i64, expected: &[f64]) -> f64 {
    let mut counts = vec![0f64; expected.len()];
    for draw in draws {
        counts[usize::try_from(draw - low).expect("at or above the low end")] += 1.0;
    }
    let n = draws.len() as f64;
    counts.iter().zip(expected).map(|(c, p)| (c - n * p).powi(2) / (n * p)).sum()
}

/// The cumulated normal distribution: Abramowitz and Stegun 26.2.17, error below 7.5·10⁻⁸.
fn phi(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[test]
fn uniform() {
    let draws = integers("{ uniform = [-5, 31] }", N);
    // 36 degrees of freedom.
    let chi2 = chi2(&draws, -5, &[1.0 / 37.0; 37]);
    assert!(chi2 < 67.985, "χ² {chi2}");
}

#[test]
fn zipf() {
    for exponent in [0.0, 0.5, 0.99, 1.0, 1.5] {
        let draws = integers(&format!("{{ zipf = [1, 50], exponent = {exponent} }}"), N);
        let weights: Vec<f64> = (1..=50).map(|k| f64::from(k).powf(-exponent)).collect();
        let total: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|w| w / total).collect();
        // 49 degrees of freedom.
        let chi2 = chi2(&draws, 1, &expected);
        assert!(chi2 < 85.351, "exponent {exponent}: χ² {chi2}");
    }
}

#[test]
fn scrambled_zipf_is_the_same_with_other_places() {
    let count = |key: &str| {
        let mut counts = vec![0u32; 1000];
        integers(key, N).iter().for_each(|draw| counts[*draw as usize - 1] += 1);
        counts
    };
    let plain = count("{ zipf = [1, \"t.rows\"], exponent = 0.99 }");
    let scrambled = count("{ zipf = [1, \"t.rows\"], exponent = 0.99, scramble = true }");
    assert_ne!(plain, scrambled);
    let sorted = |mut counts: Vec<u32>| {
        counts.sort_unstable();
        counts
    };
    assert_eq!(sorted(plain), sorted(scrambled));
}

#[test]
fn gaussian() {
    let (n, p) = (40, 2.5);
    let draws = integers("{ gaussian = [1, 40], parameter = 2.5 }", N);
    let edge = |k: i32| phi(f64::from(2 * k) * p / f64::from(n) - p);
    let whole = edge(n) - edge(0);
    let expected: Vec<f64> = (0..n).map(|k| (edge(k + 1) - edge(k)) / whole).collect();
    // 39 degrees of freedom.
    let chi2 = chi2(&draws, 1, &expected);
    assert!(chi2 < 72.055, "χ² {chi2}");
}

#[test]
fn exponential() {
    let (n, p) = (40, 5.0f64);
    let draws = integers("{ exponential = [1, 40], parameter = 5 }", N);
    let edge = |k: i32| (1.0 - (-p * f64::from(k) / f64::from(n)).exp()) / (1.0 - (-p).exp());
    let expected: Vec<f64> = (0..n).map(|k| edge(k + 1) - edge(k)).collect();
    // 39 degrees of freedom.
    let chi2 = chi2(&draws, 1, &expected);
    assert!(chi2 < 72.055, "χ² {chi2}");
}

#[test]
fn nurand() {
    let (a, c, x, y) = (7i64, 5, 1, 20);
    let draws = integers("{ nurand = [1, 20], a = 7, c = 5 }", N);
    let size = y - x + 1;
    let mut expected = vec![0.0; size as usize];
    for first in 0..=a {
        for second in x..=y {
            let offset = ((first | second) + c) % size;
            expected[offset as usize] += 1.0 / ((a + 1) * size) as f64;
        }
    }
    // Cells that cannot be hit must not be; the others give the χ².
    let hit: BTreeSet<i64> = draws.iter().map(|draw| draw - x).collect();
    assert!(hit.iter().all(|offset| expected[*offset as usize] > 0.0));
    let n = N as f64;
    let cells = expected.iter().enumerate().filter(|(_, p)| **p > 0.0);
    let chi2: f64 = cells
        .map(|(offset, p)| {
            let count = draws.iter().filter(|draw| **draw - x == offset as i64).count() as f64;
            (count - n * p).powi(2) / (n * p)
        })
        .sum();
    // At most 19 degrees of freedom.
    assert!(chi2 < 43.820, "χ² {chi2}");
}

#[test]
fn hot_spot() {
    let draws = integers("{ hot_spot = [1, 50], draws = 80, keys = 20 }", N);
    let expected: Vec<f64> =
        (0..50).map(|k| if k < 10 { 0.8 / 10.0 } else { 0.2 / 40.0 }).collect();
    // 49 degrees of freedom.
    let chi2 = chi2(&draws, 1, &expected);
    assert!(chi2 < 85.351, "χ² {chi2}");
}

#[test]
fn real() {
    // Kolmogorov-Smirnov: 99.9 % of samples stay below 1.949/√n.
    let mut draws = Vec::new();
    let mut program = workload("x = { real = [-1.0, 3.0] }", 1).program(1, 1);
    for index in 0..N {
        execute(program.as_mut(), index, &mut |value| match value {
            SqlValue::Real(number) => draws.push((number + 1.0) / 4.0),
            other => panic!("{other:?}"),
        });
    }
    draws.sort_by(f64::total_cmp);
    let n = N as f64;
    let distance = |(k, u): (usize, &f64)| (u - k as f64 / n).abs().max((k as f64 + 1.0) / n - u);
    let largest = draws.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(largest < 1.949 / n.sqrt(), "distance {largest}");
}

#[test]
fn choices_come_by_weight() {
    let draws = integers(
        "{ choose = [{ weight = 1, constant = 0 }, { weight = 3, uniform = [1, 3] }] }",
        N,
    );
    // 3 degrees of freedom.
    let chi2 = chi2(&draws, 0, &[0.25; 4]);
    assert!(chi2 < 16.266, "χ² {chi2}");
}

#[test]
fn sequences_count_transactions() {
    assert_eq!(integers("{ sequence = \"t.rows + 1\" }", 3), [1001, 1002, 1003]);
    assert_eq!(integers("{ sequence = [5, 7] }", 5), [5, 6, 7, 5, 6]);
}

#[test]
fn permutations_hold_every_number_once() {
    let draws = integers("{ permutation = [1, \"t.rows\"] }", 2000);
    let distinct: BTreeSet<_> = draws[..1000].iter().copied().collect();
    assert!(distinct.into_iter().eq(1..=1000));
    assert_eq!(draws[..1000], draws[1000..]);
    assert!(!draws[..1000].is_sorted());
}

#[test]
fn unique_numbers_never_repeat() {
    let draws = integers("{ unique = 10 }", N);
    let distinct: BTreeSet<_> = draws.iter().collect();
    assert_eq!(distinct.len() as u64, N);
    assert!(draws.iter().all(|draw| (10..10 + (1 << 31)).contains(draw)));
}

#[test]
fn numbers_stay_unique_over_repeats_and_operations() {
    let text = "name = \"w\"\n[keys]\nx = { unique = 0, draw = \"statement\" }\n\
                y = { sequence = 1 }\n\
                [[operation]]\nname = \"a\"\n\
                [[operation.statement]]\nsql = \"SELECT :x, :y\"\nrepeat = 3\n\
                [[operation.statement]]\nsql = \"SELECT :x, :y\"\n\
                [[operation]]\nname = \"b\"\n\
                [[operation.statement]]\nsql = \"SELECT :x, :y\"\n";
    let workload = Workload::parse(text, Path::new("w.toml")).expect("sound");
    let mut program = workload.program(1, 1);
    let (mut seen, mut draws) = (BTreeSet::new(), 0);
    for index in 0..1000 {
        let operation = OperationId((index % 2) as u16);
        program.start(&Ticket { index, operation, due: MonoNanos(0), client: 0 });
        let mut event = ProgramEvent::Started;
        while let ProgramStep::Execute { parameters, .. } = program.resume(event) {
            let [SqlValue::Integer(x), SqlValue::Integer(y)] = parameters else {
                panic!("two integers")
            };
            seen.insert(*x);
            draws += 1;
            assert_eq!(*y, index as i64 + 1, "once per transaction");
            event = ProgramEvent::Answered { rows: 0, first: &[] };
        }
    }
    assert_eq!(seen.len(), draws);
}

#[test]
fn derived_keys_follow_what_they_read() {
    let workload = workload(
        "low = { uniform = [1, 1000], draw = \"statement\" }\nhigh = \"low + 99\"\n\
         x = { uniform = [\"low\", \"high\"] }",
        10,
    );
    let mut program = workload.program(1, 1);
    let mut values = BTreeSet::new();
    execute(program.as_mut(), 0, &mut |value| {
        let SqlValue::Integer(number) = value else { panic!("an integer") };
        values.insert(*number);
    });
    // Drawn anew with what it reads, though it does not say so itself.
    assert!(values.len() > 5 && values.iter().all(|v| (1..=1099).contains(v)));
}

#[test]
fn a_pause_comes_before_each_execution() {
    let text = "name = \"w\"\n[[operation]]\nname = \"o\"\n[[operation.statement]]\n\
                sql = \"SELECT 1\"\nrepeat = 2\npause = \"5ms\"\n";
    let workload = Workload::parse(text, Path::new("w.toml")).expect("sound");
    let mut program = workload.program(1, 1);
    program.start(&Ticket { index: 0, operation: OperationId(0), due: MonoNanos(0), client: 0 });
    let mut steps = String::new();
    let mut event = ProgramEvent::Started;
    loop {
        (steps, event) = match program.resume(event) {
            ProgramStep::Sleep(pause) => (steps + &format!("{pause}; "), ProgramEvent::Resumed),
            ProgramStep::Execute { .. } => {
                (steps + "execute; ", ProgramEvent::Answered { rows: 1, first: &[] })
            }
            ProgramStep::Done => break,
        };
    }
    assert_eq!(steps, "5.00 ms; execute; 5.00 ms; execute; ");
}

#[test]
fn dictionaries_hand_out_words() {
    let words = |order: &str| {
        let keys = format!(
            "x = {{ dictionary = \"users\" }}\n[dictionaries.users]\ntemplate = \"user%03d\"\n\
             count = 4\nfirst = 8\norder = \"{order}\"\n"
        );
        // The dictionary's own table header ends the keys; put the keys last.
        let (key, dictionary) = keys.split_once('\n').expect("two parts");
        let text = format!(
            "name = \"w\"\n{dictionary}[keys]\n{key}\n[[operation]]\nname = \"o\"\n\
             [[operation.statement]]\nsql = \"SELECT :x\"\n"
        );
        let workload = Workload::parse(&text, Path::new("w.toml")).expect("sound");
        let mut program = workload.program(1, 1);
        let mut words = Vec::new();
        for index in 0..8 {
            execute(program.as_mut(), index, &mut |value| words.push(value.clone()));
        }
        words
    };
    let text = |n: u32| SqlValue::Text(format!("user{n:03}"));
    assert_eq!(words("sequential")[2..6], [text(10), text(11), text(8), text(9)]);
    let unique = words("unique");
    assert!((8..12).all(|n| unique[..4].contains(&text(n))));
    assert!(words("random").iter().all(|word| (8..12).any(|n| *word == text(n))));
}

#[test]
fn dictionary_files_lie_beside_the_workload() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dictionaries/w.toml");
    let text = "name = \"w\"\n[dictionaries.towns]\nfile = \"towns.txt\"\norder = \"sequential\"\n\
                [keys]\nx = { dictionary = \"towns\" }\n\
                [[operation]]\nname = \"o\"\n[[operation.statement]]\nsql = \"SELECT :x\"\n";
    let workload = Workload::parse(text, Path::new(folder)).unwrap_or_else(|e| panic!("{e}"));
    let mut program = workload.program(1, 1);
    let mut towns = Vec::new();
    for index in 0..4 {
        execute(program.as_mut(), index, &mut |value| towns.push(value.clone()));
    }
    let town = |name: &str| SqlValue::Text(name.to_owned());
    assert_eq!(towns, [town("Bergen"), town("Dublin"), town("Málaga"), town("Bergen")]);
}

#[test]
fn patterns_and_constants() {
    for text in texts("x = { pattern = \"@@-##\" }", 100) {
        let bytes = text.as_bytes();
        assert!(bytes[..2].iter().all(u8::is_ascii_lowercase) && bytes[2] == b'-');
        assert!(bytes[3..].iter().all(u8::is_ascii_digit) && bytes.len() == 5);
    }
    assert_eq!(texts("x = { constant = \"ab\", repeat = 2 }", 1), ["abab"]);
}
