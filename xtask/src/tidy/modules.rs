//! A rule for public modules: what no other crate, test, benchmark, example or fuzz target names is
//! no part of a crate's interface, and the compiler finds what is dead only behind a private `mod`.
//!
//! Paths are followed through `use`, its braces and its aliases. Scopes are not: a name that means
//! two things counts for both, so the rule refuses too little before it refuses too much.

use crate::tree::{SourceFile, SourceTree, TidyProblem};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A path within a crate, by its segments.
type ModulePath = Vec<String>;

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let library = |file: &SourceFile| {
        let name = file.path.strip_prefix("crates/")?.strip_suffix("/src/lib.rs")?;
        Some(name.to_owned())
    };
    let libraries = tree.files.iter().filter_map(library);
    libraries.flat_map(|name| of_crate(tree, &name)).collect()
}

fn of_crate(tree: &SourceTree, name: &str) -> Vec<TidyProblem> {
    let folder = format!("crates/{name}/src/");
    let uses = CrateUses::read(tree, &folder, &name.replace('-', "_"));
    let own = tree.ending(".rs").filter(|file| file.path.starts_with(&folder));
    let mut problems = Vec::new();
    for file in own {
        let parent = module_path(&file.path[folder.len()..]);
        for (line, module) in public_modules(file).filter(|(_, m)| !uses.has(&parent, m)) {
            let text = format!("nothing outside of the crate names `{module}`: make it private");
            problems.push(TidyProblem::at(&file.path, line, text));
        }
    }
    problems
}

/// What is used of a crate.
#[derive(Debug, Default)]
struct CrateUses {
    /// Paths that are named outside of it.
    named: BTreeSet<ModulePath>,
    /// Names that it hands on itself, which only public modules can be.
    reexported: BTreeSet<String>,
}

impl CrateUses {
    fn read(tree: &SourceTree, folder: &str, name: &str) -> Self {
        let mut uses = Self::default();
        for file in tree.ending(".rs") {
            let mut text = Cow::from(&file.text);
            if file.path.starts_with(folder) {
                uses.add_reexports(&text);
                // What a crate's macros name is named where they are used.
                text = text.replace("$crate::", &format!("{name}::")).into();
            }
            // Within a crate its own name stands in doctests only, which are outside of it.
            if text.contains(name) {
                uses.add_named(&text, name);
            }
        }
        uses
    }

    /// Whether a module of `parent` has to be public.
    fn has(&self, parent: &ModulePath, module: &str) -> bool {
        let below = |last: &str| parent.iter().cloned().chain([last.to_owned()]).collect();
        let path: ModulePath = below(module);
        let glob: ModulePath = below("*");
        self.named.contains(&path) || self.named.contains(&glob) || self.reexported.contains(module)
    }

    fn add_reexports(&mut self, text: &str) {
        for tree in statements(text, "pub use ") {
            let mut leaves = Vec::new();
            expand(tree, &ModulePath::new(), &mut leaves);
            self.reexported.extend(leaves.into_iter().filter_map(|(mut path, _)| path.pop()));
        }
    }

    /// Adds the paths of the crate that a text names.
    fn add_named(&mut self, text: &str, name: &str) {
        let mut aliases = BTreeMap::from([(name.to_owned(), vec![ModulePath::new()])]);
        for tree in statements(text, "use ") {
            let Some(inside) = tree.trim_start_matches("::").strip_prefix(name) else { continue };
            let mut leaves = Vec::new();
            expand(inside.trim_start_matches("::"), &ModulePath::new(), &mut leaves);
            for (path, alias) in leaves {
                self.add(&path);
                aliases.entry(alias).or_default().push(path);
            }
        }
        for path in paths(text) {
            for known in path.first().and_then(|first| aliases.get(*first)).into_iter().flatten() {
                let rest = path[1..].iter().map(|segment| (*segment).to_owned());
                self.add(&known.iter().cloned().chain(rest).collect::<ModulePath>());
            }
        }
    }

    /// Adds a path and everything above it.
    fn add(&mut self, path: &[String]) {
        self.named.extend((1..=path.len()).map(|length| path[..length].to_vec()));
    }
}

/// The public modules that a file declares at its top level, with their lines.
fn public_modules(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    file.lines().filter_map(|(line, text)| {
        let rest = text.strip_prefix("pub mod ")?;
        Some((line, rest.trim_end_matches([';', ' ', '{'])))
    })
}

/// The module that a file is, by its path below `src/`.
fn module_path(inside: &str) -> ModulePath {
    let path = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|segment| *segment != "lib").map(Into::into).collect()
}

/// What stands between a keyword and the next semicolon.
fn statements<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    let after = text.match_indices(keyword).map(|(at, _)| &text[at + keyword.len()..]);
    after.filter_map(|rest| rest.split(';').next())
}

/// The leaves of a `use` tree below a path, each with the name that it has from then on.
fn expand(tree: &str, above: &ModulePath, leaves: &mut Vec<(ModulePath, String)>) {
    for branch in branches(tree) {
        if let Some((path, braces)) = branch.split_once('{') {
            let below = above.iter().cloned().chain(segments(path)).collect();
            expand(braces.rsplit_once('}').map_or(braces, |(inside, _)| inside), &below, leaves);
            continue;
        }
        let (path, alias) = match branch.strip_prefix("as ") {
            Some(alias) => ("", alias),
            None => branch.split_once(" as ").unwrap_or((branch, "")),
        };
        let mut path: ModulePath = above.iter().cloned().chain(segments(path)).collect();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let last = path.last().cloned().unwrap_or_default();
        leaves.push((path, if alias.is_empty() { last } else { alias.trim().to_owned() }));
    }
}

/// The branches of a `use` tree: what stands between commas, outside of deeper braces.
fn branches(tree: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_comma = move |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    tree.split(at_comma).map(str::trim).filter(|branch| !branch.is_empty()).collect()
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    path.split("::").map(|segment| segment.trim().to_owned()).filter(|s| !s.is_empty())
}

/// Every path of at least two segments in a text.
fn paths(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let words = text.split(|c: char| !is_word(c) && c != ':');
    let pathlike = words.filter(|word| word.contains("::"));
    pathlike.map(|word| word.split("::").filter(|segment| !segment.is_empty()).collect())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    const LIB: (&str, &str) = ("crates/a-b/src/lib.rs", "pub mod c;\npub mod d;\nmod e;\n");

    /// What is refused of a crate with the modules `c`, `d` and `d::f` where `outside` uses it.
    fn refused(outside: &str) -> Vec<String> {
        let inside = ("crates/a-b/src/d/mod.rs", "pub mod f;\nuse crate::c::X;\n");
        let tree = tree::of(&[LIB, inside, ("crates/a-b/tests/t.rs", outside)]);
        let word = |problem: TidyProblem| problem.text.split('`').nth(1).map(str::to_owned);
        check(&tree).into_iter().filter_map(word).collect()
    }

    #[test]
    fn modules_that_nobody_outside_names_are_refused() {
        assert_eq!(refused(""), ["c", "d", "f"]);
        assert_eq!(refused("use other::c::X; fn d() { c::f() }"), ["c", "d", "f"]);
        assert_eq!(refused("fn g() { a_b::d::g() }"), ["c", "f"]);
    }

    #[test]
    fn names_are_followed_through_braces_and_aliases() {
        assert!(refused("use a_b::{\n    c::{self, X},\n    d::f::Y,\n};\n").is_empty());
        assert!(refused("use a_b::{c as x, d}; fn g() { d::f::g() }").is_empty());
        assert_eq!(refused("use a_b as z; fn g() { z::d::f::g() }"), ["c"]);
        assert_eq!(refused("use a_b::d::*; use a_b::c;"), [""; 0]);
    }

    #[test]
    fn doctests_macros_and_what_is_handed_on_count() {
        let doctest = ("crates/a-b/src/c.rs", "//! use a_b::c::X;\n");
        let inside = ("crates/a-b/src/d/mod.rs", "macro_rules! m { () => { $crate::d::g() } }\n");
        assert!(check(&tree::of(&[LIB, doctest, inside])).is_empty());
        let handing = ("crates/a-b/src/e.rs", "pub use crate::{c::X, d::{f}};\n");
        assert_eq!(check(&tree::of(&[LIB, handing])).len(), 2);
        let handing = ("crates/a-b/src/e.rs", "pub use crate::{c, d};\n");
        assert!(check(&tree::of(&[LIB, handing])).is_empty());
    }
}
