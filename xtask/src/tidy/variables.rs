//! The rule for variables of the environment: each that the code names stands on the manual pages.
//!
//! A name is known by how it begins, or by the call that reads it; unit tests are left out.

use super::types::is_product;
use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::collections::BTreeSet;

/// The list of the manual pages.
const LIST: &str = "crates/dbtime/src/commands/manual/lists.rs";

/// How names begin that are variables wherever they stand in quotes.
const BEGINNINGS: [&str; 4] = ["DBTIME_", "LUA_", "MYSQL_", "PG"];

/// What tests alone read, in files that are compiled for nothing else.
const OF_TESTS: [&str; 1] = ["DBTIME_BLESS"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let Some(list) = tree.file(LIST) else { return Vec::new() };
    let listed: BTreeSet<&str> = list.text.split(|c: char| !is_of_name(c)).collect();
    let is_source = |file: &&SourceFile| {
        file.path.starts_with("crates/") && file.path.contains("/src/") && is_product(file)
    };
    let sources = tree.ending(".rs").filter(is_source);
    sources.flat_map(|file| of_file(file, &listed)).collect()
}

fn of_file(file: &SourceFile, listed: &BTreeSet<&str>) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for (line, text) in file.lines().take_while(|(_, text)| !text.ends_with("mod tests {")) {
        let is_missing = |name: &&str| !listed.contains(*name) && !OF_TESTS.contains(name);
        let names: BTreeSet<&str> = quoted(text).chain(read(text)).filter(is_missing).collect();
        for name in names {
            let text = format!("no manual page has `{name}`: add it to {LIST}");
            problems.push(TidyProblem::at(&file.path, line, text));
        }
    }
    problems
}

/// Names of variables between quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let is_variable = |word: &&str| {
        let rest = BEGINNINGS.iter().find_map(|beginning| word.strip_prefix(beginning));
        rest.is_some_and(|rest| !rest.is_empty()) && word.chars().all(is_of_name)
    };
    text.split('"').skip(1).step_by(2).filter(is_variable)
}

/// Names that are read from the environment where they stand.
fn read(text: &str) -> impl Iterator<Item = &str> {
    let calls = text.split("env::var").skip(1);
    let named = calls.filter_map(|call| call.trim_start_matches("_os").strip_prefix("(\""));
    named.filter_map(|rest| rest.split('"').next())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn a_variable_that_no_page_has_is_found() {
        let code = "//! x\nlet a = (\"port\", \"PGPORT\");\nenv::var_os(\"HUE\");\n\
                    env::var(\"TZ\");\n\"PG is no variable\";\nmod tests {\n\"PGDATA\";\n";
        let list = (LIST, "names: \"PGHOST, TZ\",\n");
        let found = check(&tree::of(&[list, ("crates/a/src/b.rs", code)]));
        let lines: Vec<usize> = found.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3]);
        assert!(found[0].text.contains("`PGPORT`") && found[1].text.contains("`HUE`"));
        let list = (LIST, "names: \"PGHOST, PGPORT, HUE, TZ\",\n");
        assert!(check(&tree::of(&[list, ("crates/a/src/b.rs", code)])).is_empty());
    }
}
