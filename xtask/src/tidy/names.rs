//! The rule for names of everything but types: none has a verb of speech for what a machine does.
//!
//! Every name is looked at where it comes first in a file: of functions, fields, constants,
//! modules, parameters and variables. Types have a rule of their own.

use super::types::is_product;
use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::collections::BTreeSet;

/// Words for speech, sorted.
const SPEECH: &[&str] = &[
    "ask", "asked", "asking", "asks", "hear", "heard", "hears", "said", "say", "says", "tell",
    "teller", "telling", "tells", "told", "wanted", "wants", "wish",
];

/// Names of pgbench's table of tellers, who are people.
const PEOPLE: &[&str] = &["TELLER", "UPDATE_TELLER"];

/// Names that libraries have given.
const FOREIGN: &[&str] = &["wants_write"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    tree.ending(".rs").filter(|file| is_product(file)).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    if has_speech(file.stem()) {
        problems.push(TidyProblem::of(&file.path, refusal(file.stem())));
    }
    let code = code_of(&file.text);
    let mut found = BTreeSet::new();
    for (index, line) in code.lines().enumerate() {
        for name in names(line).filter(|name| is_refused(name)) {
            if found.insert(name) {
                problems.push(TidyProblem::at(&file.path, index + 1, refusal(name)));
            }
        }
    }
    problems
}

fn refusal(name: &str) -> String {
    format!("`{name}` has a verb of speech: name what it is or does")
}

fn has_speech(name: &str) -> bool {
    name.split('_').any(|word| SPEECH.contains(&word.to_ascii_lowercase().as_str()))
}

fn is_refused(name: &str) -> bool {
    has_speech(name) && !PEOPLE.contains(&name) && !FOREIGN.contains(&name)
}

/// The words of a line of code that are names or keywords.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// The text up to the unit tests, with blanks for comments and for what stands in quotes.
fn code_of(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = aside(rest).unwrap_or(0);
        if length == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (blank, after) = rest.split_at(length);
        code.extend(blank.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code
}

/// The length of the comment, text or character that a text begins with.
fn aside(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if let Some(hashes) = text.strip_prefix('r').and_then(raw_hashes) {
        let end = format!("\"{}", "#".repeat(hashes));
        let begin = hashes + 2;
        return Some(text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()));
    }
    if let Some(rest) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = rest.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        return Some(end.map_or(text.len(), |end| end + 2));
    }
    // A character; a lifetime has no second quote.
    ["'\"'", "'\\\"'", "'/'"].iter().find(|quoted| text.starts_with(**quoted)).map(|q| q.len())
}

/// How many `#` stand before the quote of a raw text, after its `r`.
fn raw_hashes(text: &str) -> Option<usize> {
    let hashes = text.find(|c| c != '#')?;
    text[hashes..].starts_with('"').then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = SourceFile { path: "a/src/b.rs".into(), text: text.into() };
        let name = |problem: TidyProblem| problem.text.split('`').nth(1).map(str::to_owned);
        of_file(&file).into_iter().filter_map(name).collect()
    }

    #[test]
    fn names_of_every_kind_are_looked_at() {
        let text = "pub(crate) fn ask_again() {}\n    pub share_wanted: f64,\nmod telling;\n\
                    const TOLD_ROWS: u8 = 1;\nstatic SAID: u8 = 1;\n    wants_row: bool,\n";
        let names = ["ask_again", "share_wanted", "telling", "TOLD_ROWS", "SAID", "wants_row"];
        assert_eq!(found(text), names);
    }

    #[test]
    fn variables_and_parameters_are_looked_at_once() {
        let text = "fn f(told: u8) {\n    let (asked, b) = g(|said| said + told);\n\
                    if let Some(heard) = b { h(heard) }\n}\n";
        assert_eq!(found(text), ["told", "asked", "said", "heard"]);
        assert_eq!(found("tls.wants_write()"), [""; 0]);
    }

    #[test]
    fn words_within_words_texts_comments_and_tests_are_free() {
        let text = "fn task() {}\n// fn ask()\nlet x = \"fn tell()\";\n/// `mod said`\n\
                    let c = '\"'; let y = r#\"fn told() \"x\" fn say()\"#;\n\
                    #[cfg(test)]\nmod tests {\n    fn tells_it() {}\n}\n";
        assert_eq!(found(text), [""; 0]);
        assert_eq!(found("let a = '/'; fn say() {}\nconst TELLER: u8 = 1;\n"), ["say"]);
    }

    #[test]
    fn files_have_names_too() {
        let file = SourceFile { path: "a/src/asking.rs".into(), text: String::new() };
        assert_eq!(of_file(&file).len(), 1);
    }

    #[test]
    fn lists_are_sorted() {
        assert!(SPEECH.is_sorted() && FOREIGN.is_sorted());
    }
}
