//! The licences of all crates that are linked into dbtime, as one text for packages.
//!
//! It is made of what `cargo metadata` knows and of the texts beside the sources that cargo has
//! fetched: without a network, and the same for the same lock file.

mod expression;
mod linked;
mod texts;

use crate::metadata::metadata;
use crate::tree;
use anyhow::{Context, Result, bail, ensure};
use linked::{LinkedCrate, linked};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// What stands between two texts.
const RULE: &str =
    "================================================================================\n";

/// Writes the licences into the file that the arguments name.
///
/// Errors: no file or several, crates that cargo has not fetched, a crate without a licence,
/// without its text, or with none but a GPL.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [file] = arguments else { bail!("name one file to write: licences FILE") };
    let text = of_workspace()?;
    fs::write(file, text).with_context(|| format!("cannot write {file}"))
}

fn of_workspace() -> Result<String> {
    let root = tree::root()?;
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let crates = linked(&metadata(&root, &["--filter-platform", &platform])?)?;
    third_party(&crates, &texts::of_file(&root.join("LICENSE-APACHE"))?)
}

/// The crates with their licences, and each text once with the crates that it is of.
fn third_party(crates: &[LinkedCrate], apache: &str) -> Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in crates {
        let LinkedCrate { name, version, licence, .. } = one;
        let label = format!("{name} {version}");
        ensure!(
            expression::is_permitted(licence),
            "{label} is licensed by {licence} alone: no GPL may be linked; use another crate"
        );
        let _ = writeln!(list, "{label:<40} {licence}");
        for text in texts::of_crate(one, crates, apache)? {
            texts.entry(text).or_default().insert(label.clone());
        }
    }
    let mut texts: Vec<(BTreeSet<String>, String)> =
        texts.into_iter().map(|(text, labels)| (labels, text)).collect();
    texts.sort();
    let mut out = format!("dbtime is linked with these crates:\n\n{list}");
    for (labels, text) in texts {
        let labels: Vec<String> = labels.into_iter().collect();
        let _ = write!(out, "\n{RULE}{}\n{RULE}\n{text}", labels.join("\n"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A crate in a folder of its own, with a file of this name and text where there is one.
    fn made(at: &Path, name: &str, licence: &str, file: Option<(&str, &str)>) -> LinkedCrate {
        let folder = at.join(name);
        fs::create_dir(&folder).expect("a folder");
        if let Some((file, text)) = file {
            fs::write(folder.join(file), text).expect("a file");
        }
        let (name, licence) = (name.to_owned(), licence.to_owned());
        LinkedCrate { name, version: "1.0.0".to_owned(), licence, folder }
    }

    #[test]
    fn each_text_stands_there_once_with_its_crates() {
        let at = tempfile::tempdir().expect("a folder");
        let crates = [
            made(at.path(), "a", "MIT", Some(("LICENSE-MIT", "be free \r\n"))),
            made(at.path(), "b", "MIT OR GPL-3.0", Some(("COPYING", "\nbe free\n"))),
            made(at.path(), "c", "MIT OR Apache-2.0", None),
        ];
        let text = third_party(&crates, "as Apache\n").expect("a text");
        assert_eq!(text.matches("be free\n").count(), 1, "{text}");
        assert!(text.contains(&format!("{RULE}a 1.0.0\nb 1.0.0\n{RULE}\nbe free\n")), "{text}");
        assert!(text.ends_with(&format!("{RULE}c 1.0.0\n{RULE}\nas Apache\n")), "{text}");
        assert_eq!(third_party(&crates, "as Apache\n").expect("the same"), text);
    }

    #[test]
    fn a_crate_without_a_text_or_with_a_gpl_alone_is_refused() {
        let at = tempfile::tempdir().expect("a folder");
        let bare = made(at.path(), "bare", "MIT", Some(("README.md", "MIT")));
        let error = third_party(&[bare], "").expect_err("no text").to_string();
        assert!(error.contains("bare 1.0.0") && error.contains("no text"), "{error}");
        let bound = made(at.path(), "bound", "LGPL-2.1-only", Some(("LICENSE", "x")));
        let error = third_party(&[bound], "").expect_err("a GPL").to_string();
        assert!(error.starts_with("bound 1.0.0 is licensed by LGPL-2.1-only alone"), "{error}");
    }

    #[test]
    fn the_crates_of_this_workspace_have_their_licences() {
        let text = of_workspace().expect("all of them");
        for expected in [
            "\nserde ",
            "\nluajit-src ",
            "\nmlua-sys ",
            "Mike Pall",
            "fiat-crypto authors",
            "Permission is",
        ] {
            assert!(text.contains(expected), "no {expected}");
        }
        assert!(!text.contains("\nxtask ") && !text.contains("\ninsta "), "not linked");
    }

    #[test]
    fn one_file_has_to_be_named() {
        assert!(run(&[]).expect_err("none").to_string().contains("licences FILE"));
    }
}
