//! Which crates are linked into dbtime, by the graph of `cargo metadata`.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The program whose crates count.
const PROGRAM: &str = "dbtime";

/// How names end of crates that hold the source of a library, for build scripts to compile.
const SOURCE: &str = "-src";

/// A crate from elsewhere that is linked into dbtime.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkedCrate {
    pub(super) name: String,
    pub(super) version: String,
    /// An expression of SPDX.
    pub(super) licence: String,
    /// Where its source is.
    pub(super) folder: PathBuf,
}

impl LinkedCrate {
    fn of(package: &Value) -> Result<Self> {
        let text = |field: &str| package[field].as_str().map(str::to_owned);
        let name = text("name").context("a crate without a name")?;
        let licence = text("license").with_context(|| format!("{name} names no licence"))?;
        // Older crates have a slash for `OR`.
        let licence = licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        let manifest = text("manifest_path").with_context(|| format!("{name} has no manifest"))?;
        let mut folder = PathBuf::from(manifest);
        folder.pop();
        let version = text("version").with_context(|| format!("{name} has no version"))?;
        Ok(Self { name, version, licence, folder })
    }
}

/// The crates from elsewhere that the program is made of, by name and version: neither macros nor
/// what tests and build scripts need, but what build scripts compile.
///
/// Errors: a document that is none of `cargo metadata`; a crate that names no licence.
pub(super) fn linked(metadata: &Value) -> Result<Vec<LinkedCrate>> {
    let packages = by_id(&metadata["packages"])?;
    let nodes = by_id(&metadata["resolve"]["nodes"])?;
    let program = packages.iter().find(|(_, package)| package["name"] == PROGRAM);
    let (program, _) = program.with_context(|| format!("there is no package {PROGRAM}"))?;
    let (mut found, mut open) = (BTreeSet::from([*program]), vec![*program]);
    while let Some(id) = open.pop() {
        let node = nodes.get(id).with_context(|| format!("{id} is not in the graph"))?;
        for below in below(node, &packages) {
            if found.insert(below) {
                open.push(below);
            }
        }
    }
    let found = found.into_iter().map(|id| packages[id]);
    let foreign = found.filter(|package| !package["source"].is_null());
    let mut crates = foreign.map(LinkedCrate::of).collect::<Result<Vec<LinkedCrate>>>()?;
    crates.sort();
    Ok(crates)
}

/// Packages or nodes by their identities.
fn by_id(all: &Value) -> Result<BTreeMap<&str, &Value>> {
    let all = all.as_array().context("no document of cargo metadata")?;
    all.iter().map(|one| Some((one["id"].as_str()?, one))).collect::<Option<_>>().context("no id")
}

/// The identities of what is linked with a package directly.
fn below<'a>(node: &'a Value, packages: &BTreeMap<&str, &Value>) -> Vec<&'a str> {
    let is_linked = |edge: &&Value| {
        let package = edge["pkg"].as_str().and_then(|id| packages.get(id));
        let kinds = items(&edge["dep_kinds"]);
        package.is_some_and(|package| {
            let is_source = package["name"].as_str().is_some_and(|name| name.ends_with(SOURCE));
            let counts = |kind: &Value| kind.is_null() || (is_source && kind == "build");
            !is_macro(package) && kinds.iter().any(|kind| counts(&kind["kind"]))
        })
    };
    items(&node["deps"]).iter().filter(is_linked).filter_map(|edge| edge["pkg"].as_str()).collect()
}

fn is_macro(package: &Value) -> bool {
    let mut kinds = items(&package["targets"]).iter().flat_map(|target| items(&target["kind"]));
    kinds.any(|kind| kind == "proc-macro")
}

/// What is in a list; nothing where it is none.
fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, kind: &str, source: Option<&str>) -> Value {
        json!({
            "id": name, "name": name, "version": "1.0.0", "license": "MIT / Apache-2.0",
            "manifest_path": format!("/src/{name}/Cargo.toml"), "source": source,
            "targets": [{ "kind": [kind] }],
        })
    }

    #[test]
    fn what_is_linked_is_neither_of_tests_nor_a_macro() {
        let foreign = Some("registry");
        let edge = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("dbtime", "bin", None), package("z", "lib", foreign),
                package("own", "lib", None), package("test", "lib", foreign),
                package("macro", "proc-macro", foreign), package("build", "lib", foreign),
                package("lua-src", "lib", foreign), package("below", "lib", foreign),
            ],
            "resolve": { "nodes": [
                { "id": "dbtime", "deps": [
                    edge("own", None), edge("z", None), edge("test", Some("dev")),
                    edge("macro", None), edge("build", Some("build")),
                ] },
                { "id": "own", "deps": [edge("z", None), edge("lua-src", Some("build"))] },
                { "id": "z", "deps": [edge("below", None)] },
                { "id": "lua-src", "deps": [] }, { "id": "below", "deps": [] },
            ] },
        });
        let found = linked(&metadata).expect("a graph");
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["below", "lua-src", "z"]);
        assert_eq!(found[0].licence, "MIT OR Apache-2.0");
        assert_eq!(found[0].folder, PathBuf::from("/src/below"));
        assert!(linked(&json!({})).is_err());
    }
}
