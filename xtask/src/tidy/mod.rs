//! Tidiness: what rots first in a workspace, checked at every test run.

mod commands;
mod contributing;
mod documents;
mod everywhere;
mod lists;
mod modules;
mod names;
mod paths;
mod record;
mod rust;
mod types;
mod variables;

use crate::tree::{SourceTree, TidyProblem};
use anyhow::Result;

/// Every rule, one file each. To add one, write its file and a line here.
const RULES: &[fn(&SourceTree) -> Vec<TidyProblem>] = &[
    commands::check,
    contributing::check,
    documents::check,
    everywhere::check,
    lists::check,
    modules::check,
    names::check,
    paths::check,
    record::check,
    rust::check,
    types::check,
    variables::check,
];

/// Checks everything.
pub(crate) fn run(tree: &SourceTree) -> Result<Vec<TidyProblem>> {
    let mut problems: Vec<TidyProblem> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let tree = SourceTree::read().expect("the workspace");
        let problems = run(&tree).expect("readable");
        let wrong: Vec<String> =
            problems.iter().filter(|p| !p.is_advice).map(ToString::to_string).collect();
        assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    }
}
