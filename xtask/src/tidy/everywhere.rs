//! Rules for every file: no trailing whitespace, no path of one particular machine, no name that
//! says nothing.

use crate::tree::{SourceFile, SourceTree, TidyProblem};

/// File names that collect what belongs nowhere.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "common", "helpers", "misc", "manager"];

/// Folders that exist on one machine and not on the next.
const MACHINE_FOLDERS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let mut problems: Vec<TidyProblem> = tree.files.iter().flat_map(of_file).collect();
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if !tree.root.join(licence).is_file() {
            problems.push(TidyProblem::of(licence, "the licence is missing"));
        }
    }
    problems
}

fn of_file(file: &SourceFile) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    let folders_and_name = file.path.split('/').rev().skip(1).chain([file.stem()]);
    for name in folders_and_name.filter(|name| EMPTY_NAMES.contains(name)) {
        let text = format!("`{name}` says nothing: name the file after what is in it");
        problems.push(TidyProblem::of(&file.path, text));
    }
    // Recorded output is as it is.
    let is_output = file.path.ends_with(".snap");
    for (line, text) in file.lines() {
        if text.ends_with([' ', '\t']) && !is_output {
            problems.push(TidyProblem::at(&file.path, line, "trailing whitespace"));
        }
        if MACHINE_FOLDERS.iter().any(|folder| has_folder(text, folder)) {
            problems.push(TidyProblem::at(&file.path, line, "a path that only one machine has"));
        }
    }
    problems
}

/// Whether the folder stands at the start of a path.
fn has_folder(text: &str, folder: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "._-~*}".contains(c);
    text.match_indices(folder).any(|(at, _)| !text[..at].ends_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_paths_are_found_and_others_left_alone() {
        let folder = MACHINE_FOLDERS[2];
        assert!(has_folder(&format!("cd {folder}me/x"), folder));
        assert!(!has_folder(&format!("some{folder}page"), folder));
    }

    #[test]
    fn names_that_say_nothing_are_refused() {
        let file = |path: &str| SourceFile { path: path.into(), text: "x \n".into() };
        assert_eq!(of_file(&file("src/util.rs")).len(), 2);
        assert_eq!(of_file(&file("src/helpers/x.snap")).len(), 1);
        assert_eq!(of_file(&file("src/utility.rs")).len(), 1);
    }
}
