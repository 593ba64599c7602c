//! Files of other tools, compared by the rules for runs: what `go test -bench`, hyperfine, Google
//! Benchmark and JUnit write, and tables.
//!
//! A parser is one file, and makes [`sample::SampleTable`] of a text; `comparison` sets two sides
//! against each other, `shown` has the documents. Which format a text has is seen in the text.
//! Nothing here reads a file.

mod comma_table;
mod comparison;
mod direction;
mod go_bench;
mod google_bench;
mod hyperfine;
mod junit_times;
mod program_rules;
mod row;
mod sample;
mod shown;
#[cfg(test)]
mod tests;
mod turns;

pub use comparison::{ForeignComparison, ForeignMean, ForeignSide};
pub use program_rules::recorded_rules;
pub use row::ForeignRow;
pub use shown::{foreign_document, short_foreign_document};

use sample::SampleTable;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fmt;

/// What is said of a text that no parser takes.
const UNKNOWN: &str = "it is none of the files that can be compared: the output of `go test \
                       -bench`, JSON of hyperfine (--export-json) or Google Benchmark, JUnit XML, \
                       or CSV with a header; a run is named by its folder or its run.json";

/// What is said of a JSON document on each line.
const SEVERAL: &str = "it has a JSON document on each line: run `go test -bench` without -json";

/// Which tool wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForeignFormat {
    Go,
    Hyperfine,
    Google,
    Junit,
    Csv,
}

impl ForeignFormat {
    /// What it is called.
    fn name(self) -> &'static str {
        match self {
            Self::Go => "Go benchmarks",
            Self::Hyperfine => "hyperfine",
            Self::Google => "Google Benchmark",
            Self::Junit => "JUnit",
            Self::Csv => "CSV",
        }
    }
}

/// What a file of another tool holds.
#[derive(Clone, Debug)]
pub struct ForeignFile {
    format: ForeignFormat,
    samples: SampleTable,
    /// What it was measured on, by name, such as `cpu`.
    facts: BTreeMap<String, String>,
    /// Whether more is better, by unit, where the file says so.
    higher_is_better: BTreeMap<String, bool>,
    /// How many results are in no sample, such as tests that were skipped.
    left_out: u64,
    /// Headings of columns that are neither names nor figures.
    columns_left_out: Vec<String>,
}

impl ForeignFile {
    /// Reads a text whose format is seen in it.
    ///
    /// # Errors
    /// It has none of the known formats, is damaged, or holds no value or too many.
    pub fn read(text: &str) -> Result<Self, ForeignError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = match text.trim_start().chars().next() {
            Some('{') => json(text)?,
            Some('<') => junit_times::read(text)?,
            _ if go_bench::is_output(text) => go_bench::read(text)?,
            _ if comma_table::is_table(text) => comma_table::read(text)?,
            _ => return Err(ForeignError::whole(UNKNOWN)),
        };
        match file.samples.samples().is_empty() {
            true => Err(ForeignError::whole(format!(
                "{} without a value that can be compared{}",
                file.format.name(),
                if file.left_out > 0 { ": all results are skipped or failed" } else { "" }
            ))),
            false => Ok(file),
        }
    }

    /// Sets which way a unit is better, whatever the file says of it. Returns whether the file has
    /// the unit.
    pub fn set_better(&mut self, unit: &str, is_higher: bool) -> bool {
        self.higher_is_better.insert(unit.to_owned(), is_higher);
        self.samples.samples().iter().any(|sample| sample.key.unit == unit)
    }

    fn new(format: ForeignFormat) -> Self {
        Self {
            format,
            samples: SampleTable::default(),
            facts: BTreeMap::new(),
            higher_is_better: BTreeMap::new(),
            left_out: 0,
            columns_left_out: Vec::new(),
        }
    }
}

/// What there is in a JSON document.
#[derive(Deserialize)]
struct JsonKeys {
    results: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
}

fn json(text: &str) -> Result<ForeignFile, ForeignError> {
    let has_several = || text.lines().nth(1).is_some_and(|line| line.starts_with('{'));
    let refused = |error: serde_json::Error| match has_several() {
        true => ForeignError::whole(SEVERAL),
        false => ForeignError::whole(error),
    };
    let keys: JsonKeys = serde_json::from_str(text).map_err(refused)?;
    match keys {
        JsonKeys { results: Some(_), .. } => hyperfine::read(text),
        JsonKeys { benchmarks: Some(_), .. } => google_bench::read(text),
        _ => Err(ForeignError::whole(UNKNOWN)),
    }
}

/// Why a file cannot be compared, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignError {
    /// From 1 on; `None`: it is about all of it, or the text has the line.
    line: Option<u64>,
    text: String,
}

impl ForeignError {
    fn at(line: u64, text: impl Into<String>) -> Self {
        Self { line: Some(line), text: text.into() }
    }

    fn whole(text: impl fmt::Display) -> Self {
        Self { line: None, text: text.to_string() }
    }
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for ForeignError {}
