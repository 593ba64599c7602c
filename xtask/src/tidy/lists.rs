//! Rules for visible lists: every shipped workload is in its list and in the documents, every crate
//! is in the architecture, and so is no file that has gone.

use crate::tree::{SourceTree, TidyProblem};
use std::collections::BTreeSet;

const SHIPPED: &str = "crates/dbtime-load/src/workload/shipped.rs";
const WORKLOADS: &str = "docs/workloads.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Names that look like crates and are folders of results.
const FOLDERS: [&str; 2] = ["dbtime-demo", "dbtime-runs"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    workloads(tree).into_iter().chain(crates(tree)).chain(rooms(tree)).collect()
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

/// Files and folders that the tables of the code map name, below the heading of their crate.
fn rooms(tree: &SourceTree) -> Vec<TidyProblem> {
    let mut crates: Vec<&str> = Vec::new();
    let mut problems = Vec::new();
    for (line, text) in tree.file(ARCHITECTURE).into_iter().flat_map(|file| file.lines()) {
        if text.starts_with('#') {
            crates = quoted(text).filter(|word| word.starts_with("dbtime")).collect();
        }
        let cell = text.strip_prefix("| ").and_then(|row| row.split(" |").next());
        let names = cell.into_iter().filter(|_| !crates.is_empty()).flat_map(quoted);
        let inside = names.filter(|name| !name.starts_with("crates/") && !name.ends_with('/'));
        for name in inside.filter(|name| !crates.iter().any(|of| has_room(tree, of, name))) {
            let text = format!("there is no `{name}` in {}", crates.join(", "));
            problems.push(TidyProblem::at(ARCHITECTURE, line, text));
        }
    }
    problems
}

/// Whether a crate has a file or folder of this name, without its suffix, in its sources.
fn has_room(tree: &SourceTree, of: &str, name: &str) -> bool {
    let is_it = |path: &str| {
        let path = path.strip_prefix("crates/").and_then(|path| path.strip_prefix(of));
        let source =
            path.and_then(|path| path.strip_prefix("/src/").or_else(|| path.strip_prefix("/bpf/")));
        match (source, name.strip_suffix('*')) {
            (None, _) => false,
            (Some(source), Some(start)) => source.starts_with(start),
            (Some(source), None) => source
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/'])),
        }
    };
    tree.files.iter().any(|file| is_it(&file.path))
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
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
    fn the_code_map_names_files_that_are_there() {
        let text = "### `dbtime-x`\n| file |\n| `a`, `b/c`, `gone` | `what` |\n| `d*`, `e.bpf.c` | |\n\
                    | `f`, `crates/y`, `xtask/` | |\n## Life\n| `anything` |\n";
        let files = [
            (ARCHITECTURE, text),
            ("crates/dbtime-x/src/a.rs", ""),
            ("crates/dbtime-x/src/b/c/mod.rs", ""),
            ("crates/dbtime-x/src/d_e.rs", ""),
            ("crates/dbtime-x/src/ff.rs", ""),
            ("crates/dbtime-x/bpf/e.bpf.c", ""),
        ];
        let found: Vec<String> =
            rooms(&tree::of(&files)).into_iter().map(|problem| problem.text).collect();
        assert_eq!(found, ["there is no `gone` in dbtime-x", "there is no `f` in dbtime-x"]);
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
