//! Rules for the documents of the record: the page of its fields is what their sources say, and
//! every part and every kind of warning is explained.

use crate::record_format::{self, small_words};
use crate::tree::{SourceTree, TidyProblem};

/// Where parts and warnings are named, and where they are explained.
const PARTS: &str = "crates/dbtime-model/src/parts/part.rs";
const WARNINGS: &str = "crates/dbtime-model/src/record/validity.rs";
const MEASUREMENT: &str = "docs/measurement.md";

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let text = |path| tree.file(path).map_or("", |file| file.text.as_str());
    let unexplained = |what: &'static str, names: Vec<String>| {
        let is_missing = move |name: &String| !text(MEASUREMENT).contains(&format!("`{name}`"));
        let names = names.into_iter().filter(is_missing);
        names.map(move |name| {
            TidyProblem::of(MEASUREMENT, format!("{what} `{name}` is not explained"))
        })
    };
    let warnings = variants(text(WARNINGS), "WarningKind");
    unexplained("the warning", warnings)
        .chain(unexplained("the part", parts(text(PARTS))))
        .chain(page(tree))
        .collect()
}

/// What is wrong with the page of the fields: the first line that is another.
fn page(tree: &SourceTree) -> Option<TidyProblem> {
    let file = tree.file(record_format::PAGE)?;
    let page = match record_format::page(tree) {
        Ok(page) if page == file.text => return None,
        Ok(page) => page,
        Err(error) => return Some(TidyProblem::of(&file.path, format!("{error:#}"))),
    };
    let alike = page.lines().zip(file.text.lines()).take_while(|(one, other)| one == other);
    let line = alike.count() + 1;
    let text = "not what the sources say: run `cargo run -p xtask -- record-format`";
    Some(TidyProblem::at(&file.path, line, text))
}

/// Names of the parts: `io_read: IoRead = "blocked in reads",` in the list of all.
fn parts(text: &str) -> Vec<String> {
    let body = text.split("macro_rules! each_part").nth(1).unwrap_or("").split("\n}\n").next();
    let rows = body.unwrap_or("").lines().filter(|line| line.contains(" = \""));
    rows.filter_map(|row| row.trim().split_once(": ")).map(|(name, _)| name.to_owned()).collect()
}

/// Variants of an enum, as a record spells them.
fn variants(text: &str, name: &str) -> Vec<String> {
    let body = text.split(&format!("enum {name} {{")).nth(1).unwrap_or("").split('}').next();
    let lines = body.unwrap_or("").lines().map(str::trim);
    let names = lines.filter_map(|line| line.strip_suffix(','));
    names.map(|name| small_words(name, '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_sources() {
        let text = "pub enum Kind {\n    /// X.\n    FewSamples,\n    #[default]\n    Steal,\n}\n";
        assert_eq!(variants(text, "Kind"), ["few_samples", "steal"]);
        let text =
            "macro_rules! each_part {\n    io_read: IoRead = \"x: y\",\n}\nlet a: b = \"c\";\n";
        assert_eq!(parts(text), ["io_read"]);
    }

    #[test]
    fn a_part_and_a_warning_without_explanation_are_found() {
        let tree = crate::tree::of(&[
            (PARTS, "macro_rules! each_part {\n    cpu: Cpu = \"on a CPU\",\n}\n"),
            (WARNINGS, "pub enum WarningKind {\n    Steal,\n    Mix,\n}\n"),
            (MEASUREMENT, "`mix`"),
        ]);
        assert_eq!(check(&tree).len(), 2);
    }

    #[test]
    fn a_page_that_is_not_what_the_sources_say_is_found() {
        let mut tree = SourceTree::read().expect("the workspace");
        let is_page = |file: &&mut crate::tree::SourceFile| file.path == record_format::PAGE;
        let file = tree.files.iter_mut().find(is_page).expect("the page");
        file.text = file.text.replacen("## `run.json`", "## `walk.json`", 1);
        let line = 1 + file.text.lines().position(|line| line == "## `walk.json`").expect("there");
        let found: Vec<usize> = page(&tree).into_iter().map(|problem| problem.line).collect();
        assert_eq!(found, [line]);
    }

    #[test]
    fn the_workspace_has_parts_and_warnings() {
        let tree = SourceTree::read().expect("the workspace");
        let text = |path| tree.file(path).expect(path).text.as_str();
        assert!(parts(text(PARTS)).len() >= 22);
        assert!(variants(text(WARNINGS), "WarningKind").len() >= 14);
    }
}
