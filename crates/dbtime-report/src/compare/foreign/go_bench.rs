//! What `go test -bench` writes, and what benchstat reads: lines of results and `key: value` lines
//! for those below them (golang.org/design/14313-benchmark-format).
//!
//! `block: 3` among these says in which turn the results below it were measured.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};

/// Keys that name what the results were measured on.
const FACTS: [&str; 3] = ["goos", "goarch", "cpu"];

/// How lines begin that tell of a benchmark without a result; those of its parts are indented.
const WITHOUT: [&str; 2] = ["--- FAIL: Benchmark", "--- SKIP: Benchmark"];

/// What the lines so far say of the results below.
#[derive(Default)]
struct GoSection {
    package: String,
    block: Option<u64>,
}

/// Whether a text has a line of results.
pub(super) fn is_output(text: &str) -> bool {
    text.lines().any(|line| result(line).is_some())
}

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    let mut file = ForeignFile::new(ForeignFormat::Go);
    let mut section = GoSection::default();
    for (line, number) in text.lines().zip(1..) {
        let refused = |text: String| ForeignError::at(number, text);
        if let Some((name, measured)) = result(line) {
            add(&mut file, &section, name, measured).map_err(refused)?;
        } else if let Some((key, value)) = setting(line) {
            set(&mut file, &mut section, key, value).map_err(refused)?;
        } else if let Some(rest) = line.strip_prefix("Unit ") {
            direct(&mut file, rest);
        } else if WITHOUT.iter().any(|begin| line.starts_with(begin)) {
            file.left_out += 1;
        }
    }
    Ok(file)
}

/// The name and the measurements of a line of results. With `-v` a name stands in a line alone.
fn result(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut fields = line.split_whitespace();
    let name = fields.next()?.strip_prefix("Benchmark")?;
    if !line.starts_with("Benchmark") || name.starts_with(char::is_lowercase) {
        return None;
    }
    fields.next()?.parse::<u64>().ok()?;
    Some((name, fields.collect()))
}

/// A key, which begins with a small letter, and its value.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    is_key.then(|| (key, value.trim()))
}

fn set(
    file: &mut ForeignFile,
    section: &mut GoSection,
    key: &str,
    value: &str,
) -> Result<(), String> {
    match key {
        "pkg" => value.clone_into(&mut section.package),
        "block" => {
            let block: u64 = value.parse().map_err(|_| format!("block {value:?} is no number"))?;
            section.block = Some(block);
        }
        _ if FACTS.contains(&key) => {
            file.facts.insert(key.to_owned(), value.to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// Takes which way a unit is better from a line such as `Unit hits better=higher`.
fn direct(file: &mut ForeignFile, rest: &str) {
    let mut fields = rest.split_whitespace();
    let Some(unit) = fields.next() else { return };
    for field in fields {
        let is_higher = match field {
            "better=higher" => true,
            "better=lower" => false,
            _ => continue,
        };
        file.higher_is_better.insert(unit.to_owned(), is_higher);
    }
}

/// Adds the values of a line of results, each of which has its unit behind it.
fn add(
    file: &mut ForeignFile,
    section: &GoSection,
    name: &str,
    measured: Vec<&str>,
) -> Result<(), String> {
    if measured.is_empty() || !measured.len().is_multiple_of(2) {
        return Err(format!("Benchmark{name} has no value, or one without unit: is the line cut?"));
    }
    for pair in measured.chunks(2) {
        let [value, unit] = [pair[0], pair[1]];
        let number: f64 = value.parse().map_err(|_| format!("{value:?} is no number of {unit}"))?;
        let key = SampleKey {
            group: section.package.clone(),
            name: name.to_owned(),
            unit: unit.to_owned(),
        };
        file.samples.add(key, ForeignValue { value: number, block: section.block })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "goos: linux\ngoarch: amd64\npkg: example.org/x\ncpu: Some CPU @ 2 GHz\n\
        BenchmarkCopy\nBenchmarkCopy/4k-8 \t  1000\t  21.5 ns/op\t 190.5 MB/s\t 0 B/op\n\
        block: 2\nBenchmarkCopy/4k-8 900 22.5 ns/op 180.1 MB/s 16 B/op\n\
        Unit hits/op better=higher\n--- FAIL: BenchmarkFind\n    --- FAIL: BenchmarkFind/8k\n\
        Benchmarks took 5 s\nPASS\nok  \texample.org/x\t7.6s\n";

    #[test]
    fn every_unit_of_a_line_is_a_sample() {
        assert!(is_output(OUTPUT) && !is_output("Benchmarks 5 a\nBenchmarkX\n BenchmarkX 5 1 s"));
        let file = read(OUTPUT).expect("output of Go");
        let samples = file.samples.samples();
        let units: Vec<&str> = samples.iter().map(|one| one.key.unit.as_str()).collect();
        assert_eq!(units, ["ns/op", "MB/s", "B/op"]);
        let first = &samples[0].key;
        assert_eq!([first.group.as_str(), first.name.as_str()], ["example.org/x", "Copy/4k-8"]);
        let values: Vec<_> =
            samples[0].values.iter().map(|value| (value.value, value.block)).collect();
        assert_eq!(values, [(21.5, None), (22.5, Some(2))]);
        assert_eq!(file.facts["cpu"], "Some CPU @ 2 GHz");
        assert_eq!(file.higher_is_better.get("hits/op"), Some(&true));
        assert_eq!(file.left_out, 1);
    }

    #[test]
    fn a_line_that_is_cut_is_named() {
        for (text, wanted) in [
            ("BenchmarkA 1 2 ns/op\nBenchmarkB-8 100", "line 2: BenchmarkB-8 has no value"),
            ("BenchmarkA 1 2 ns/op 3", "line 1: BenchmarkA has no value"),
            ("\nBenchmarkA 1 2,5 ns/op", "line 2: \"2,5\" is no number of ns/op"),
            ("BenchmarkA 1 NaN ns/op", "line 1: NaN is no value"),
            ("block: x\nBenchmarkA 1 2 ns/op", "line 1: block \"x\" is no number"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
