//! Rules for Rust sources: every file says what it is, stays short, is reached, and holds nothing
//! unfinished.

use crate::tree::{SourceFile, SourceTree, TidyProblem};

/// Lines of code in a file, tests and comments not counted: beyond the first it wants to be two,
/// beyond the second it has to be.
const LONG: usize = 500;
const TOO_LONG: usize = 800;

/// Columns of a line; strings may be longer, as they cannot be broken without changing.
const COLUMNS: usize = 100;

/// Files with longer lines, and how many: macros and comments, which rustfmt leaves alone. This
/// list only ever gets shorter.
const LONG_LINES: &[(&str, usize)] = &[
    ("crates/dbtime-engines/benches/null.rs", 1),
    ("crates/dbtime-engines/src/databases/sqlite/outside.rs", 1),
    ("crates/dbtime-engines/src/databases/sqlite/vfs.rs", 5),
    ("crates/dbtime-engines/src/databases/sqlite/vfs_file.rs", 2),
    ("crates/dbtime-load/src/keys/bijection.rs", 1),
    ("crates/dbtime-load/src/keys/skew.rs", 1),
    ("crates/dbtime-load/tests/it/workload_hostile.rs", 1),
    ("crates/dbtime-model/benches/recorder.rs", 1),
    ("crates/dbtime-model/src/budget.rs", 2),
    ("crates/dbtime-model/src/record/mod.rs", 2),
    ("crates/dbtime-model/src/units.rs", 2),
    ("crates/dbtime/tests/it/workloads.rs", 1),
];

/// How a text over several lines begins and ends.
const RAW_BEGIN: &str = "r#\"";
const RAW_END: &str = "\"#";

/// What no commit holds.
const UNFINISHED: [&str; 5] = [
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("FIX", "ME"),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let files = || tree.ending(".rs");
    let orphans = files().filter(|file| !is_reached(tree, file)).map(|file| {
        TidyProblem::of(&file.path, "no `mod` line names this file, so it is never compiled")
    });
    files().flat_map(of_file).chain(orphans).collect()
}

fn of_file(file: &SourceFile) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    if !file.text.starts_with("//!") {
        problems
            .push(TidyProblem::of(&file.path, "begin with `//!`: what it is, and what it leaves"));
    }
    let length = code_lines(&file.text);
    if length > LONG {
        let text = format!("{length} lines of code; at most {TOO_LONG}, better under {LONG}");
        let problem = TidyProblem::of(&file.path, text);
        problems.push(if length > TOO_LONG { problem } else { problem.advice() });
    }
    problems.extend(long_lines(file));
    for (line, text) in file.lines() {
        if let Some(word) = UNFINISHED.iter().find(|word| text.contains(**word)) {
            problems.push(TidyProblem::at(
                &file.path,
                line,
                format!("`{word}` is unfinished work"),
            ));
        }
    }
    problems
}

/// Lines that are too long, unless their file has as many of them as it may.
fn long_lines(file: &SourceFile) -> Vec<TidyProblem> {
    let allowed = LONG_LINES.iter().find(|(path, _)| *path == file.path).map_or(0, |(_, n)| *n);
    let mut found = Vec::new();
    let mut is_inside = false;
    for (line, text) in file.lines() {
        let began_inside = is_inside;
        is_inside = match text.split_once(RAW_BEGIN) {
            Some((_, rest)) => !rest.contains(RAW_END),
            None => is_inside && !text.contains(RAW_END),
        };
        let columns = text.chars().count();
        if columns > COLUMNS && !began_inside && !text.contains('"') {
            let text = format!("{columns} columns; at most {COLUMNS}");
            found.push(TidyProblem::at(&file.path, line, text));
        }
    }
    if found.len() <= allowed { Vec::new() } else { found }
}

/// Lines that are neither blank nor comment, up to the unit tests.
fn code_lines(text: &str) -> usize {
    let before_tests = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    before_tests.lines().map(str::trim).filter(is_code).count()
}

/// Whether the compiler gets to see a file.
fn is_reached(tree: &SourceTree, file: &SourceFile) -> bool {
    let Some((_, inside)) = file.path.split_once("/src/") else {
        // Tests, benchmarks, examples and fuzz targets are found by cargo.
        return true;
    };
    if matches!(inside, "lib.rs" | "main.rs") {
        return true;
    }
    let folders = file.path.strip_suffix(file.name()).unwrap_or("").trim_end_matches('/');
    let (parent, module) = match file.name() {
        "mod.rs" => folders.rsplit_once('/').unwrap_or(("", folders)),
        _ => (folders, file.stem()),
    };
    let homes = ["mod.rs", "lib.rs", "main.rs"].map(|name| format!("{parent}/{name}"));
    let line = format!("mod {module};");
    let mut homes = homes.into_iter().chain([format!("{parent}.rs")]);
    homes.any(|home| tree.file(&home).is_some_and(|home| home.text.contains(&line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn tests_and_comments_are_no_code() {
        let text = "//! What.\n\nfn f() {}\n// Why.\n#[cfg(test)]\nmod tests {\n fn g() {}\n}\n";
        assert_eq!(code_lines(text), 1);
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = format!("//! What.\nfn f() {{ {}) }}\n", UNFINISHED[0]);
        assert_eq!(of_file(&SourceFile { path: "x.rs".into(), text }).len(), 1);
    }

    #[test]
    fn only_strings_may_be_longer_than_the_page() {
        let long = "x".repeat(COLUMNS + 1);
        let text = format!("//! X.\nf(r#\"\n{long}\n\"#);\n// \"{long}\"\n");
        assert!(long_lines(&SourceFile { path: "x.rs".into(), text: text.clone() }).is_empty());
        let text = text + &long;
        assert_eq!(long_lines(&SourceFile { path: "x.rs".into(), text: text.clone() }).len(), 1);
        assert!(long_lines(&SourceFile { path: LONG_LINES[0].0.into(), text }).is_empty());
    }

    #[test]
    fn a_file_without_mod_line_is_an_orphan() {
        let tree = tree::of(&[
            ("crates/a/src/lib.rs", "//! A.\nmod b;\nmod c;\n"),
            ("crates/a/src/b.rs", "//! B.\n"),
            ("crates/a/src/c/mod.rs", "//! C.\nmod d;\n"),
            ("crates/a/src/c/d.rs", "//! D.\n"),
            ("crates/a/src/c/e.rs", "//! E.\n"),
        ]);
        let problems = check(&tree);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path, "crates/a/src/c/e.rs");
    }

    #[test]
    fn long_files_are_advised_and_then_refused() {
        let file = |lines: usize| SourceFile {
            path: "x.rs".into(),
            text: "//! X.\n".to_owned() + &"f();\n".repeat(lines),
        };
        assert!(of_file(&file(LONG)).is_empty());
        assert!(of_file(&file(LONG + 1))[0].is_advice);
        assert!(!of_file(&file(TOO_LONG + 1))[0].is_advice);
    }
}
