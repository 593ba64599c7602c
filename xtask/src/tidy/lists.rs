//! Rules for visible lists: every shipped workload is in its list and in the documents, and every
//! crate is in the architecture.

use crate::tree::{SourceTree, TidyProblem};
use std::collections::BTreeSet;

const SHIPPED: &str = "crates/dbtime-load/src/workload/shipped.rs";
const WORKLOADS: &str = "docs/workloads.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Names that look like crates and are folders of results.
const FOLDERS: [&str; 2] = ["dbtime-demo", "dbtime-runs"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    workloads(tree).into_iter().chain(crates(tree)).collect()
}

fn workloads(tree: &SourceTree) -> Vec<TidyProblem> {
    let text = |path| tree.file(path).map_or("", |file| file.text.as_str());
    let shipped = text(SHIPPED);
    let listed: Vec<&str> = shipped
        .lines()
        .filter_map(|line| line.trim().strip_prefix("(\"")?.split('"').next())
        .collect();
    let files: Vec<&str> = tree.within("workloads").map(|file| file.stem()).collect();
    let mut problems = Vec::new();
    for name in &files {
        let line = format!("(\"{name}\", include_str!(\"../../../../workloads/{name}.toml\")),");
        if !shipped.contains(&line) {
            let path = format!("workloads/{name}.toml");
            problems
                .push(TidyProblem::of(&path, format!("not shipped: add `{line}` to {SHIPPED}")));
        }
        if !text(WORKLOADS).contains(&format!("| `{name}` |")) {
            problems.push(TidyProblem::of(WORKLOADS, format!("`{name}` is not in the table")));
        }
    }
    for name in listed.iter().filter(|name| !files.contains(name)) {
        problems.push(TidyProblem::of(SHIPPED, format!("there is no workloads/{name}.toml")));
    }
    if !listed.is_sorted() {
        problems.push(TidyProblem::of(SHIPPED, "the list is not sorted by name"));
    }
    problems
}

fn crates(tree: &SourceTree) -> Vec<TidyProblem> {
    let Some(architecture) = tree.file(ARCHITECTURE) else {
        return vec![TidyProblem::of(ARCHITECTURE, "the document is missing")];
    };
    let manifest =
        |path: &str| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").map(str::to_owned);
    let there: BTreeSet<String> =
        tree.files.iter().filter_map(|file| manifest(&file.path)).collect();
    let quoted = architecture.text.split('`').skip(1).step_by(2);
    let named: BTreeSet<String> = quoted
        .filter(|word| *word == "dbtime" || word.starts_with("dbtime-"))
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .filter(|word| !FOLDERS.contains(word))
        .map(str::to_owned)
        .collect();
    let gone = named.difference(&there).map(|name| format!("there is no crate `{name}`"));
    let new = there.difference(&named).map(|name| format!("`{name}` is not in the code map"));
    gone.chain(new).map(|text| TidyProblem::of(ARCHITECTURE, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn a_workload_that_is_not_listed_is_found() {
        let line = "    (\"a\", include_str!(\"../../../../workloads/a.toml\")),\n";
        let mut files =
            vec![(SHIPPED, line), (WORKLOADS, "| `a` |\n| `b` |\n"), ("workloads/a.toml", "")];
        assert!(workloads(&tree::of(&files)).is_empty());
        files.push(("workloads/b.toml", ""));
        assert_eq!(workloads(&tree::of(&files)).len(), 1);
        files.retain(|(path, _)| *path != "workloads/a.toml");
        assert_eq!(workloads(&tree::of(&files)).len(), 2);
    }

    #[test]
    fn the_code_map_names_every_crate_and_no_other() {
        let files = [
            (ARCHITECTURE, "`dbtime` and `dbtime-gone`, results in `dbtime-runs`"),
            ("crates/dbtime/Cargo.toml", ""),
            ("crates/dbtime-new/Cargo.toml", ""),
        ];
        assert_eq!(crates(&tree::of(&files)).len(), 2);
    }
}
