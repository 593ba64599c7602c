//! A rule for paths in comments and documents: the source that one names is there, so that no
//! comment points at a file that has been moved since.
//!
//! A path leads from the root of the workspace, from the crate, its `src`, or the file's folder.
//! None is what has a placeholder (`crates/<name>.rs`, `NAME.toml`, `*.rs`), what is typed on a
//! reader's machine (`./mine.toml`, `/etc/x.sh`), and a header in angle brackets.

use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::collections::BTreeSet;

/// What is looked for, by the end of its name.
const KINDS: [&str; 6] = [".c", ".h", ".md", ".rs", ".sh", ".toml"];

/// Sources of the kernel, of the C library and of servers that comments refer to, sorted.
const FOREIGN: &[&str] = &[
    "fs/exec.c",
    "fs/locks.c",
    "include/mysql/service_thd_wait.h",
    "include/uapi/linux/magic.h",
    "include/uapi/linux/rseq.h",
    "mm/memory.c",
    "storage/lock.h",
    "sys/rseq.h",
    "utils/wait_classes.h",
];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let there: BTreeSet<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let mut problems = Vec::new();
    let mut foreign: BTreeSet<&str> = FOREIGN.iter().copied().collect();
    for file in &tree.files {
        for (line, path) in named(file).filter(|(_, path)| !leads(file, path, &there)) {
            if !FOREIGN.contains(&path) {
                problems.push(TidyProblem::at(&file.path, line, format!("there is no `{path}`")));
            }
            foreign.remove(path);
        }
    }
    let own = "xtask/src/tidy/paths.rs";
    let unnamed = foreign.into_iter().filter(|_| there.contains(own));
    let needless = |path| TidyProblem::of(own, format!("no comment names `{path}` any more"));
    problems.extend(unnamed.map(needless));
    problems
}

/// Whether a path leads to a file of the workspace.
fn leads(file: &SourceFile, path: &str, there: &BTreeSet<&str>) -> bool {
    let folder = file.path.strip_suffix(file.name()).unwrap_or("").trim_end_matches('/');
    let package = match file.path.split('/').collect::<Vec<_>>()[..] {
        ["crates", name, _, ..] => format!("crates/{name}"),
        [name @ ("fuzz" | "xtask"), _, ..] => name.to_owned(),
        _ => String::new(),
    };
    let sources = format!("{package}/src");
    let mut bases = ["", &package, &sources, folder].into_iter();
    bases.any(|base| there.contains(joined(base, path).as_str()))
}

/// A path from a folder, with `..` followed.
fn joined(base: &str, path: &str) -> String {
    let mut segments = Vec::new();
    for segment in base.split('/').chain(path.split('/')).filter(|segment| !segment.is_empty()) {
        if segment == ".." {
            segments.pop();
        } else {
            segments.push(segment);
        }
    }
    segments.join("/")
}

/// The paths that a file's comments name, with their lines; of a document all outside of fences.
fn named(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let is_document = file.path.ends_with(".md");
    let mut is_fenced = false;
    let comments = file.lines().filter_map(move |(line, text)| {
        is_fenced ^= is_document && text.trim_start().starts_with("```");
        Some((line, comment(&file.path, text)?)).filter(|_| !is_fenced)
    });
    comments.flat_map(|(line, text)| paths(text).map(move |path| (line, path)))
}

/// The part of a line that is for readers.
fn comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    if ends(&[".md", ".c", ".h"]) {
        // What else has a slash and such an end in C is an include of a header.
        return Some(line);
    }
    let mark = if ends(&[".rs", ".js"]) { "//" } else { "#" };
    if ends(&[".snap", ".html", ".css"]) {
        return None;
    }
    let begins = |at: &usize| {
        let before = &line[..*at];
        let is_quoted = before.matches('"').count() % 2 == 1;
        !is_quoted && (before.is_empty() || before.ends_with(char::is_whitespace))
    };
    let at = line.match_indices(mark).map(|(at, _)| at).find(begins)?;
    Some(&line[at..])
}

/// Paths to sources in a text.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "_.-/<>*{}~$:".contains(c);
    let words = text.split(move |c: char| !goes_on(c));
    let plain = words.map(|word| word.trim_end_matches(['.', ':', '-']));
    plain.filter(|word| {
        let is_path = word.contains('/') && KINDS.iter().any(|kind| word.ends_with(kind));
        let is_elsewhere = word.starts_with(['/', '~', '$']) || word.starts_with("./");
        let is_pattern =
            word.contains(['<', '>', '*', '{', '}', '$', ':']) || word.contains("NAME");
        is_path && !is_elsewhere && !is_pattern
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    /// What a file that says so is told of.
    fn missing(path: &str, text: &str) -> Vec<String> {
        let files = [
            (path, text),
            ("docs/a.md", ""),
            ("crates/x/bpf/b.h", ""),
            ("crates/x/src/c/d.rs", ""),
            ("crates/x/src/c/e/f.rs", ""),
        ];
        let word = |problem: TidyProblem| problem.text.split('`').nth(1).map(str::to_owned);
        check(&tree::of(&files)).into_iter().filter_map(word).collect()
    }

    #[test]
    fn a_path_leads_from_the_root_the_crate_its_sources_or_the_folder() {
        let text = "// docs/a.md, `bpf/b.h`; c/d.rs: e/f.rs. (crates/x/src/c/d.rs) ../c/d.rs\n";
        assert_eq!(missing("crates/x/src/c/g.rs", text), [""; 0]);
        let text = "// docs/z.md, `bpf/b.c`; e/f.rs, ../c/d.rs.\nlet x = \"a/b.rs\"; // y/z.sh\n";
        let wrong = ["docs/z.md", "bpf/b.c", "e/f.rs", "../c/d.rs", "y/z.sh"];
        assert_eq!(missing("crates/y/src/g.rs", text), wrong);
        assert_eq!(missing("README.md", "`bpf/b.h`\n```\nbpf/c.h\n```\n"), ["bpf/b.h"]);
        assert_eq!(missing("scripts/x.sh", "a/b.sh # as in c/d.sh\n"), ["c/d.sh"]);
    }

    #[test]
    fn examples_and_sources_of_others_are_left_alone() {
        let text = "// crates/<name>.rs, x/NAME.toml, x/*.rs, https://example.org/x.md, ./x/y.toml, \
                    /etc/x.sh, <sys/x.h>, fs/locks.c, $dir/x.sh\n";
        assert_eq!(missing("crates/x/src/g.rs", text), [""; 0]);
    }

    #[test]
    fn an_exception_that_nobody_needs_is_found() {
        let own = "xtask/src/tidy/paths.rs";
        assert_eq!(missing(own, "// fs/locks.c\n").len(), FOREIGN.len() - 1);
    }
}
