//! Rules for documents: links, with their anchors, and paths lead somewhere, and long documents
//! stay readable.

use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::path::Path;

/// How long a document may grow.
const LENGTHS: [(&str, usize); 2] = [("ARCHITECTURE.md", 300), ("CONTRIBUTING.md", 150)];

/// Folders whose files documents name by path.
const NAMED: [&str; 7] = ["crates/", "docs/", "fuzz/", "scripts/", "workloads/", "xtask/", ".ci/"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let documents = || tree.ending(".md");
    let long = LENGTHS.iter().filter_map(|(path, limit)| {
        let lines = tree.file(path)?.text.lines().count();
        (lines > *limit).then(|| TidyProblem::of(path, format!("{lines} lines; at most {limit}")))
    });
    documents().flat_map(|file| of_document(&tree.root, file)).chain(long).collect()
}

fn of_document(root: &Path, file: &SourceFile) -> Vec<TidyProblem> {
    let folder = root.join(&file.path);
    let folder = folder.parent().unwrap_or(root);
    let mut problems = Vec::new();
    let mut is_fenced = false;
    for (line, text) in file.lines() {
        is_fenced ^= text.trim_start().starts_with("```");
        if is_fenced {
            continue;
        }
        for target in links(text).filter(|target| !leads(folder, file, target)) {
            problems.push(TidyProblem::at(&file.path, line, format!("`{target}` leads nowhere")));
        }
        for path in paths(text).filter(|path| !root.join(path).exists()) {
            problems.push(TidyProblem::at(&file.path, line, format!("there is no `{path}`")));
        }
    }
    problems
}

/// Whether a link leads to a file, and to a heading of it where it has an anchor.
fn leads(folder: &Path, file: &SourceFile, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let document = folder.join(path);
    match (path.is_empty(), anchor.is_empty()) {
        (true, _) => has_heading(&file.text, anchor),
        (_, true) => document.exists(),
        _ => std::fs::read_to_string(document).is_ok_and(|text| has_heading(&text, anchor)),
    }
}

/// Whether a heading of a document has this anchor.
fn has_heading(text: &str, anchor: &str) -> bool {
    let mut is_fenced = false;
    let mut headings = text.lines().filter(move |line| {
        is_fenced ^= line.starts_with("```");
        !is_fenced && line.starts_with('#')
    });
    headings.any(|line| anchor_of(line.trim_start_matches('#').trim()) == anchor)
}

/// The anchor of a heading: small letters, hyphens for blanks, no punctuation.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Targets of relative links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// Paths of the workspace between backticks; patterns with a placeholder are none.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_path = move |word: &&str| {
        NAMED.iter().any(|folder| word.starts_with(folder))
            && word.chars().all(plain)
            && !word.contains("NAME")
    };
    quoted.filter(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_paths_are_found() {
        let text = "see [a](docs/a.md#x), [b](#here), [c](https://example.org) and `crates/x/y.rs`, \
                    `crates/<name>.rs`, `workloads/NAME.toml`";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md#x", "#here"]);
        assert_eq!(paths(text).collect::<Vec<_>>(), ["crates/x/y.rs"]);
    }

    #[test]
    fn a_dead_link_is_found_outside_of_fences() {
        let text = "[a](gone.md)\n```\n[b](gone.md)\n```\n";
        let file = SourceFile { path: "a.md".into(), text: text.into() };
        assert_eq!(of_document(Path::new("nowhere"), &file).len(), 1);
    }

    #[test]
    fn an_anchor_is_that_of_a_heading() {
        let text = "# A\n## What `sync`, it takes\n```\n# no heading\n```\n";
        assert!(has_heading(text, "what-sync-it-takes") && has_heading(text, "a"));
        assert!(!has_heading(text, "no-heading") && !has_heading(text, "b"));
        let file = SourceFile { path: "a.md".into(), text: format!("{text}[a](#a) [b](#b)\n") };
        assert_eq!(of_document(Path::new("nowhere"), &file).len(), 1);
    }
}
