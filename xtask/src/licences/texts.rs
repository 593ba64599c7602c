//! The texts of a crate's licences, from the files beside its source.

use super::expression::choices;
use super::linked::LinkedCrate;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// How names of such files begin, in small letters.
const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "copyright", "unlicense", "notice"];

/// Texts of what a crate has from others, in folders of its own.
const BUNDLED: [(&str, &str); 5] = [
    ("libbpf-sys", "libbpf/LICENSE.BSD-2-Clause"),
    ("luajit-src", "luajit2/COPYRIGHT"),
    ("regex-syntax", "src/unicode_tables/LICENSE-UNICODE"),
    ("ring", "src/polyfill/once_cell/LICENSE-MIT"),
    ("ring", "third_party/fiat/LICENSE"),
];

/// Crates without a text, beside another of their repository that has it.
const SIBLINGS: [(&str, &str); 1] = [("mlua-sys", "mlua")];

/// The licence that has the same text for all, so that a crate without it can be given that.
const APACHE: &str = "Apache-2.0";

/// The texts of a crate, among all that are linked; `apache` is the text of Apache-2.0.
///
/// Errors: files that cannot be read; no text.
pub(super) fn of_crate(
    one: &LinkedCrate,
    all: &[LinkedCrate],
    apache: &str,
) -> Result<Vec<String>> {
    let mut texts = in_folder(&one.folder)?;
    for (_, file) in BUNDLED.iter().filter(|(name, _)| *name == one.name) {
        texts.push(of_file(&one.folder.join(file))?);
    }
    if texts.is_empty() {
        let sibling = SIBLINGS.iter().find(|(name, _)| *name == one.name);
        let sibling = sibling.and_then(|(_, name)| all.iter().find(|other| other.name == *name));
        match sibling {
            Some(sibling) => texts = in_folder(&sibling.folder)?,
            None if choices(&one.licence).any(|choice| choice == APACHE) => {
                texts.push(apache.to_owned());
            }
            None => {}
        }
    }
    ensure!(
        !texts.is_empty(),
        "{} {} has no text of its licence ({}): name a crate that has it in SIBLINGS of \
         xtask/src/licences/texts.rs",
        one.name,
        one.version,
        one.licence
    );
    Ok(texts)
}

/// A text without what differs between systems: blanks at the ends of lines, and of the whole.
pub(super) fn of_file(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(format!("{}\n", lines.join("\n").trim_matches('\n')))
}

fn in_folder(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.retain(|file| is_licence(file));
    files.sort();
    files.iter().map(PathBuf::as_path).map(of_file).collect()
}

/// Of a choice with a GPL the other licence is taken, and its text alone.
fn is_licence(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_named = BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_named && !name.contains("gpl") && !name.ends_with(".rs") && file.is_file()
}
