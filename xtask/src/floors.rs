//! Floors: which crate may depend on which.
//!
//! Every crate has a floor, and a dependency may only go down, never to the same floor.
//! Dependencies of tests and build scripts count like all others: a test that needs a crate from
//! above belongs to a crate further up.
//! A few foreign crates have one home, so that what they bring in stays there.

use crate::metadata::metadata;
use crate::tree::{SourceTree, TidyProblem};
use anyhow::{Context, Result};
use serde_json::Value;

/// The floor of every crate there is or will be. A crate that is not here is refused: a new one
/// needs a line, and thereby a thought about what it knows nothing of.
const FLOORS: &[(&str, u8)] = &[
    ("dbtime-model", 1),
    ("dbtime-load", 2),
    ("dbtime-machine", 2),
    ("dbtime-sql", 2),
    ("dbtime-stats", 2),
    ("dbtime-wire", 2),
    ("dbtime-engines", 3),
    ("dbtime-latch", 3),
    ("dbtime-null-server", 3),
    ("dbtime-observe", 3),
    ("dbtime-script", 3),
    ("dbtime-kernel-tests", 4),
    ("dbtime-lab", 4),
    ("dbtime-report", 4),
    ("dbtime", 5),
    ("dbtime-fuzz", 5),
    ("xtask", 5),
];

/// Foreign crates that only these may use (tests may use any of them).
const HOMES: &[(&str, &[&str])] = &[
    ("anyhow", &["dbtime", "xtask"]),
    ("clap", &["dbtime"]),
    ("libbpf-rs", &["dbtime-observe"]),
    ("nix", &["dbtime-observe"]),
    ("procfs", &["dbtime-machine", "dbtime-observe"]),
    ("quanta", &["dbtime-machine"]),
    ("rusqlite", &["dbtime-engines"]),
    ("signal-hook", &["dbtime"]),
    ("sqlparser", &["dbtime-sql"]),
    // The load loop is dbtime's own: no async runtime has a home.
    ("async-std", &[]),
    ("smol", &[]),
    ("tokio", &[]),
];

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DependencyEdge {
    from: String,
    to: String,
    /// Of tests, examples and benchmarks alone.
    is_dev: bool,
}

/// Checks the workspace as cargo sees it.
pub(crate) fn run(tree: &SourceTree) -> Result<Vec<TidyProblem>> {
    let (crates, edges) = graph(&metadata(&tree.root, &["--no-deps"])?)?;
    Ok(check(&crates, &edges))
}

/// Crates and edges of `cargo metadata`.
fn graph(metadata: &Value) -> Result<(Vec<String>, Vec<DependencyEdge>)> {
    let name = |value: &Value| value["name"].as_str().map(str::to_owned).context("a name");
    let (mut crates, mut edges) = (Vec::new(), Vec::new());
    for package in metadata["packages"].as_array().context("packages")? {
        let from = name(package)?;
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            let is_dev = dependency["kind"] == "dev";
            edges.push(DependencyEdge { from: from.clone(), to: name(dependency)?, is_dev });
        }
        crates.push(from);
    }
    Ok((crates, edges))
}

fn check(crates: &[String], edges: &[DependencyEdge]) -> Vec<TidyProblem> {
    let floor = |name: &str| FLOORS.iter().find(|(n, _)| *n == name).map(|(_, floor)| *floor);
    let manifest = |name: &str| match name {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        name => format!("crates/{name}/Cargo.toml"),
    };
    let is_ours = |name: &str| crates.iter().any(|ours| ours == name);
    let unknown = crates.iter().filter(|name| floor(name).is_none()).map(|name| {
        TidyProblem::of(
            &manifest(name),
            format!("{name} has no floor: add it to xtask/src/floors.rs"),
        )
    });
    let illegal = edges.iter().filter_map(|edge| {
        let text = match (floor(&edge.from), floor(&edge.to)) {
            (Some(from), Some(to)) if to >= from => format!(
                "{} (floor {from}) depends on {} (floor {to}): an arrow may only go down",
                edge.from, edge.to
            ),
            (_, None) if is_ours(&edge.to) => format!("{} has no floor", edge.to),
            _ => return None,
        };
        Some(TidyProblem::of(&manifest(&edge.from), text))
    });
    let homeless = edges.iter().filter(|edge| !edge.is_dev).filter_map(|edge| {
        let (_, homes) = HOMES.iter().find(|(name, _)| *name == edge.to)?;
        let at_home = homes.contains(&edge.from.as_str());
        let text = || match homes {
            [] => format!("{} is not wanted in any crate", edge.to),
            homes => format!("{} belongs to {} alone", edge.to, homes.join(" and ")),
        };
        (!at_home).then(|| TidyProblem::of(&manifest(&edge.from), text()))
    });
    unknown.chain(illegal).chain(homeless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(edges: &[(&str, &str, bool)]) -> usize {
        let crates: Vec<String> = FLOORS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let edge = |&(from, to, is_dev): &(&str, &str, bool)| DependencyEdge {
            from: from.to_owned(),
            to: to.to_owned(),
            is_dev,
        };
        check(&crates, &edges.iter().map(edge).collect::<Vec<_>>()).len()
    }

    #[test]
    fn dependencies_of_the_workspace_only_point_down() {
        let tree = SourceTree::read().expect("the workspace");
        let problems = run(&tree).expect("cargo metadata");
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn an_edge_up_or_to_the_same_floor_is_refused() {
        assert_eq!(problems(&[("dbtime-lab", "dbtime-model", false)]), 0);
        assert_eq!(problems(&[("dbtime-report", "dbtime-engines", false)]), 0);
        assert_eq!(problems(&[("dbtime-report", "dbtime-lab", false)]), 1);
        assert_eq!(problems(&[("dbtime-model", "dbtime-load", false)]), 1);
        assert_eq!(problems(&[("dbtime-load", "dbtime-stats", true)]), 1);
        assert_eq!(problems(&[("dbtime", "xtask", false)]), 1);
    }

    #[test]
    fn a_foreign_crate_stays_at_home() {
        assert_eq!(problems(&[("dbtime-engines", "rusqlite", false)]), 0);
        assert_eq!(problems(&[("dbtime-lab", "rusqlite", false)]), 1);
        assert_eq!(problems(&[("dbtime-lab", "rusqlite", true)]), 0);
        assert_eq!(problems(&[("dbtime-load", "tokio", false)]), 1);
    }

    #[test]
    fn a_crate_without_floor_is_refused() {
        assert_eq!(check(&["dbtime-cellar".to_owned()], &[]).len(), 1);
    }

    #[test]
    fn edges_are_read_from_cargo() {
        let metadata = serde_json::json!({ "packages": [{ "name": "a", "dependencies": [
            { "name": "b", "kind": null }, { "name": "c", "kind": "dev" }] }] });
        let (crates, edges) = graph(&metadata).expect("metadata");
        assert_eq!(crates, ["a"]);
        assert_eq!(edges.iter().map(|edge| edge.is_dev).collect::<Vec<_>>(), [false, true]);
    }
}
