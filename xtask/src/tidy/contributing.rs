//! The rule for the table of places in `CONTRIBUTING.md`: each of them is there, and has in it what
//! the row names. That a path without a placeholder leads somewhere is in `documents.rs`.

use crate::tree::{SourceTree, TidyProblem};

const CONTRIBUTING: &str = "CONTRIBUTING.md";

/// What stands for the name of the thing that is added.
const PLACEHOLDERS: [&str; 3] = ["<name>", "<verb>", "NAME"];

/// What stands between a name and the place that has it.
const WITHIN: [&str; 2] = [" in ", " of "];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let lines = tree.file(CONTRIBUTING).into_iter().flat_map(|file| file.lines());
    let rows = lines.filter(|(_, text)| text.starts_with("| "));
    rows.flat_map(|(line, row)| {
        let wrong = of_row(tree, row).into_iter();
        wrong.map(move |text| TidyProblem::at(CONTRIBUTING, line, text))
    })
    .collect()
}

/// What is wrong with the places of a row.
fn of_row(tree: &SourceTree, row: &str) -> Vec<String> {
    // Every other piece stands between backticks.
    let pieces: Vec<&str> = row.split('`').collect();
    let mut wrong = Vec::new();
    let mut held = None;
    for index in (1..pieces.len()).step_by(2) {
        let (place, before) = (pieces[index], pieces[index - 1]);
        if !place.contains('/') || place.contains(' ') {
            continue;
        }
        held = match before {
            " or " => held,
            _ if WITHIN.contains(&before) => Some(pieces[index - 2]),
            _ => None,
        };
        let mut files = tree.files.iter().filter(|file| is_within(&file.path, folder(place)));
        if folder(place) != place && files.clone().next().is_none() {
            wrong.push(format!("there is no folder `{}`", folder(place)));
        }
        let word = held.map(|held| held.rsplit("::").next().unwrap_or(held));
        if let Some(word) = word.filter(|word| !files.any(|file| file.text.contains(*word))) {
            wrong.push(format!("`{place}` has no `{word}`"));
        }
    }
    wrong
}

/// A place up to its placeholder.
fn folder(place: &str) -> &str {
    let at = PLACEHOLDERS.iter().filter_map(|name| place.find(*name)).min();
    let before = at.and_then(|at| place[..at].rsplit_once('/'));
    before.map_or(place, |(folder, _)| folder)
}

/// Whether a file is this place, or in this folder.
fn is_within(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn wrong(row: &str) -> Vec<String> {
        let files = [
            (CONTRIBUTING, row),
            ("crates/a/src/list.rs", "const ROWS: u8 = 1;\n"),
            ("crates/a/src/other.rs", "fn make() {}\n"),
        ];
        check(&tree::of(&files)).into_iter().map(|problem| problem.text).collect()
    }

    #[test]
    fn what_a_row_names_is_in_its_place() {
        assert_eq!(wrong("| a row | nothing | `ROWS` in `crates/a/src/list.rs` |\n"), [""; 0]);
        let row = "| a row | `ROWS` in `crates/a/src/other.rs`, `New::make` of `crates/a/src/` |\n";
        assert_eq!(wrong(row), ["`crates/a/src/other.rs` has no `ROWS`"]);
        let row = "| a row | `ROWS` in `crates/a/src/list.rs` or `crates/a/src/other.rs` |\n";
        assert_eq!(wrong(row), ["`crates/a/src/other.rs` has no `ROWS`"]);
        assert_eq!(wrong("`ROWS` in `crates/a/src/other.rs`\n"), [""; 0], "it is no row");
    }

    #[test]
    fn a_placeholder_stands_in_a_folder_that_is_there() {
        assert_eq!(wrong("| `x` | `crates/a/src/<name>.rs` | `crates/a/NAME.toml` |\n"), [""; 0]);
        let row = "| `x` | `crates/b/<verb>.rs` | |\n";
        assert_eq!(wrong(row), ["there is no folder `crates/b`"]);
    }

    #[test]
    fn the_table_has_rows() {
        let tree = SourceTree::read().expect("the workspace");
        let file = tree.file(CONTRIBUTING).expect("the document");
        assert!(file.lines().filter(|(_, text)| text.starts_with("| ")).count() > 30);
    }
}
