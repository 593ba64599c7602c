//! Rules for documents: links and paths lead somewhere, and long documents stay readable.

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
        for target in links(text).filter(|target| !folder.join(target).exists()) {
            problems.push(TidyProblem::at(&file.path, line, format!("`{target}` leads nowhere")));
        }
        for path in paths(text).filter(|path| !root.join(path).exists()) {
            problems.push(TidyProblem::at(&file.path, line, format!("there is no `{path}`")));
        }
    }
    problems
}

/// Targets of relative links, without their anchors.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative =
        targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    relative.filter_map(|target| target.split('#').next()).filter(|target| !target.is_empty())
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
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md"]);
        assert_eq!(paths(text).collect::<Vec<_>>(), ["crates/x/y.rs"]);
    }

    #[test]
    fn a_dead_link_is_found_outside_of_fences() {
        let text = "[a](gone.md)\n```\n[b](gone.md)\n```\n";
        let file = SourceFile { path: "a.md".into(), text: text.into() };
        assert_eq!(of_document(Path::new("nowhere"), &file).len(), 1);
    }
}
