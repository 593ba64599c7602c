//! The rule for type names: each is there once in the workspace, none is a verb of speech, and one
//! of a single word is a noun of the domain.

use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::collections::BTreeMap;

/// Names that more than one type has. This list only ever gets shorter.
const SHARED: &[&str] = &[];

/// Words for speech, which no type does.
const SPEECH: &[&str] = &[
    "Ask", "Asked", "Asking", "Hear", "Heard", "Said", "Say", "Tell", "Teller", "Told", "Wanted",
    "Wants", "Wish", "Word",
];

/// The single words that may name a type, sorted: nouns that a database or performance engineer, or
/// whoever reads the glossary, knows to mean this and nothing else. What is a noun of programming
/// (`Line`, `Table`, `Options`), a participle, an adjective or a verb says too little alone: such a
/// type gets two words.
const NOUNS: &[&str] = &[
    "Arrival",
    "Arrivals",
    "Authentication",
    "Backlog",
    "Basis",
    "Bijection",
    "Blocker",
    "Budget",
    "Capture",
    "Charset",
    "Chart",
    "Check",
    "Cli",
    "Completion",
    "Dataset",
    "Exemplar",
    "Exemplars",
    "Expression",
    "Histogram",
    "Latencies",
    "Microstates",
    "Mix",
    "Nanos",
    "Operation",
    "Outage",
    "Outcome",
    "Part",
    "Parts",
    "Pipelining",
    "Placeholder",
    "Preemption",
    "Preemptor",
    "Product",
    "Program",
    "Protocol",
    "Provenance",
    "Rate",
    "Reactor",
    "Recorder",
    "Run",
    "Rusage",
    "Sample",
    "Schedstat",
    "Schedule",
    "Script",
    "Server",
    "Session",
    "Shard",
    "Span",
    "Statement",
    "Svg",
    "Target",
    "Ticket",
    "Timeline",
    "Tranches",
    "Transport",
    "Validity",
    "Verdict",
    "Warning",
    "Window",
    "Workload",
    "Zipf",
];

/// What begins the definition of a type, visibility left out.
const KEYWORDS: &[&str] = &["enum ", "struct ", "trait ", "type ", "union ", "unsafe trait "];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for file in tree.ending(".rs").filter(|file| is_product(file)) {
        for (line, text) in file.lines() {
            if let Some(name) = defined(text) {
                places.entry(name).or_default().push((&file.path, line));
            }
        }
    }
    let mut problems: Vec<TidyProblem> =
        places.iter().flat_map(|(name, places)| of_name(name, places)).collect();
    problems.extend(unused_nouns(&places));
    for name in SHARED {
        if places.get(name).is_none_or(|places| places.len() < 2) {
            let text = format!("`{name}` is there once now: strike it from `SHARED`");
            problems.push(TidyProblem::of("xtask/src/tidy/types.rs", text));
        }
    }
    problems
}

fn of_name(name: &str, places: &[(&str, usize)]) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    let (first, line) = places[0];
    if places.len() > 1 && !SHARED.contains(&name) {
        for (path, line) in &places[1..] {
            let text = format!("a type `{name}` is in {first} already: say which this one is");
            problems.push(TidyProblem::at(path, *line, text));
        }
    }
    if is_single_word(name) && !NOUNS.contains(&name) {
        let text = format!("`{name}` is no noun of the domain: give it a second word");
        problems.push(TidyProblem::at(first, line, text));
    }
    if SPEECH.contains(&name) {
        let text = format!("`{name}` is speech: name what the type is");
        problems.push(TidyProblem::at(first, line, text));
    }
    problems
}

/// A capital and nothing but small letters and digits.
fn is_single_word(name: &str) -> bool {
    !name.chars().skip(1).any(|c| c.is_ascii_uppercase())
}

/// What is to be struck from [`NOUNS`].
fn unused_nouns(places: &BTreeMap<&str, Vec<(&str, usize)>>) -> Vec<TidyProblem> {
    let gone = NOUNS.iter().filter(|name| !places.contains_key(**name));
    gone.map(|name| {
        let text = format!("no type has the name `{name}` any more: strike it from `NOUNS`");
        TidyProblem::of("xtask/src/tidy/types.rs", text)
    })
    .collect()
}

/// Not tests, benchmarks or examples: names there are read with their file.
pub(super) fn is_product(file: &SourceFile) -> bool {
    let path = &file.path;
    let is_aside = ["/tests/", "/benches/", "/examples/"].iter().any(|part| path.contains(part));
    !is_aside && !path.ends_with("tests.rs") && !path.starts_with("fuzz/")
}

/// The name of the type that a line defines. Aliases inside of an `impl` belong to their trait.
fn defined(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let text = match text.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c: char| c != ' ').trim_start(),
        None => text,
    };
    let keyword = KEYWORDS.iter().find(|keyword| text.starts_with(**keyword))?;
    if *keyword == "type " && line.starts_with(' ') {
        return None;
    }
    let rest = &text[keyword.len()..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_whatever_their_visibility() {
        assert_eq!(defined("pub(crate) struct LogEntry<'a> {"), Some("LogEntry"));
        assert_eq!(defined("    pub(super) enum Fate {"), Some("Fate"));
        assert_eq!(defined("trait Clock: Send {"), Some("Clock"));
        assert_eq!(defined("    type Item = u8;"), None);
        assert_eq!(defined("/// struct Clock"), None);
        assert_eq!(defined("structure Clock"), None);
    }

    #[test]
    fn names_there_twice_and_names_of_speech_are_found() {
        assert!(of_name("DriftClock", &[("a.rs", 1)]).is_empty());
        assert_eq!(of_name("DriftClock", &[("a.rs", 1), ("b.rs", 2)]).len(), 1);
        assert_eq!(of_name("Told", &[("a.rs", 1)]).len(), 2, "speech, and a single word");
    }

    #[test]
    fn single_words_are_nouns_of_the_domain() {
        assert_eq!(of_name("Seen", &[("a.rs", 1)]).len(), 1);
        assert!(of_name("Histogram", &[("a.rs", 1)]).is_empty());
        assert!(of_name("SeenServers", &[("a.rs", 1)]).is_empty());
        assert!(is_single_word("Utf8") && !is_single_word("FileIo"));
    }

    #[test]
    fn lists_are_sorted() {
        assert!(NOUNS.is_sorted() && SPEECH.is_sorted() && SHARED.is_sorted());
    }
}
