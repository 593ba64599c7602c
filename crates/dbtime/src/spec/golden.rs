//! Argument lists of `dbtime run`, and the written form that each makes: neither may change
//! unnoticed, for written forms are kept and run again by later versions.
//!
//! The lists are those of the tests and documents, such that none needs a server or a file. With
//! `DBTIME_BLESS=1` in its environment the test writes what is expected from then on.

use super::{DescribedRun, described, request};
use crate::cli::{self, CliCommand};
use dbtime_model::spec::RunSpec;
use serde::Serialize;
use std::path::Path;

/// An argument list a line, quoted as in a shell.
const ARGUMENT_LISTS: &str = include_str!("golden/argument_lists.txt");

/// What came of each, a line of JSON in the same order.
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/spec/golden/specs.jsonl");

/// What one of them makes: a spec or a refusal.
#[derive(Serialize)]
struct GoldenRun<'a> {
    arguments: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<RunSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
}

/// The spec as `--print-spec` shows it; that of a script, whose file is not there, as the flags
/// alone make it.
///
/// Errors: the first line of why it is none.
fn spec_of(arguments: &str) -> Result<RunSpec, String> {
    let words = shlex::split(arguments).expect(arguments);
    let parsed = cli::parse(std::iter::once("dbtime".to_owned()).chain(words));
    let parsed = parsed.map_err(|error| first_line(&cli::complaint(&error).unwrap_or_default()))?;
    let CliCommand::Run(args) = parsed.command else { panic!("a run: {arguments}") };
    let described = described(&args).map_err(|failure| first_line(&failure.words()))?;
    let DescribedRun { spec, secrets, .. } = described;
    if spec.workload.script.is_some() {
        return Ok(spec);
    }
    let made = request(&spec, &secrets, args.snapshots.as_deref());
    let made = made.map_err(|failure| first_line(&failure.words()))?;
    Ok(of_any_machine(made.spec, &spec))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Without what is not of the flags: the hash of a workload's text, and connections that nothing
/// says the number of, which depends on the machine's CPUs.
fn of_any_machine(mut spec: RunSpec, given: &RunSpec) -> RunSpec {
    spec.workload.sha256 = spec.workload.sha256.map(|_| "of its text".to_owned());
    if given.load.connections.or(given.load.workers).is_none() {
        spec.load.connections = None;
    }
    spec
}

fn json_line(arguments: &str) -> String {
    let (spec, refusal) = match spec_of(arguments) {
        Ok(spec) => (Some(spec), None),
        Err(refusal) => (None, Some(refusal)),
    };
    serde_json::to_string(&GoldenRun { arguments, spec, refusal }).expect("it can be written")
}

#[test]
fn every_argument_list_makes_the_spec_that_it_made_before() {
    let made: Vec<String> = ARGUMENT_LISTS.lines().map(json_line).collect();
    let path = Path::new(EXPECTED);
    if std::env::var_os("DBTIME_BLESS").is_some() {
        std::fs::write(path, made.join("\n") + "\n").expect("the folder can be written");
    }
    let expected = std::fs::read_to_string(path).expect("DBTIME_BLESS=1 writes it");
    for (made, expected) in made.iter().zip(expected.lines()) {
        assert_eq!(made, expected);
    }
    assert_eq!(made.len(), expected.lines().count(), "DBTIME_BLESS=1 writes them anew");
}

/// A list that is there twice would hide that another one is missing.
#[test]
fn no_argument_list_is_there_twice() {
    let mut lists: Vec<&str> = ARGUMENT_LISTS.lines().collect();
    lists.sort_unstable();
    let count = lists.len();
    lists.dedup();
    assert_eq!(lists.len(), count);
}
