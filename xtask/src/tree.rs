//! The files of the workspace as text, and what can be wrong with them.

use anyhow::{Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold results, not sources; the same as in `.gitignore`.
const NOT_SOURCES: [&str; 6] =
    [".git", "target", "dbtime-demo", "dbtime-runs", "fuzz/artifacts", "fuzz/corpus"];

/// Files that are read as text, by the end of their name.
const TEXT: [&str; 15] = [
    ".rs",
    ".md",
    ".toml",
    ".sh",
    ".bash",
    ".py",
    ".css",
    ".js",
    ".html",
    ".c",
    ".h",
    ".snap",
    "Makefile",
    ".ci/run",
    ".gitignore",
];

/// Something that is not as it should be.
#[derive(Clone, Debug)]
pub(crate) struct TidyProblem {
    /// Path from the root of the workspace.
    pub(crate) path: String,
    /// Line, from 1; 0 stands for the whole file.
    pub(crate) line: usize,
    /// What is wrong and what to do about it.
    pub(crate) text: String,
    /// Worth knowing, but no failure.
    pub(crate) is_advice: bool,
}

impl TidyProblem {
    /// Wrong at a line.
    pub(crate) fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into(), is_advice: false }
    }

    /// Wrong as a whole.
    pub(crate) fn of(path: &str, text: impl Into<String>) -> Self {
        Self::at(path, 0, text)
    }

    /// The same as mere advice.
    pub(crate) fn advice(self) -> Self {
        Self { is_advice: true, ..self }
    }
}

impl fmt::Display for TidyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_advice { "advice: " } else { "" };
        match self.line {
            0 => write!(f, "{}: {kind}{}", self.path, self.text),
            line => write!(f, "{}:{line}: {kind}{}", self.path, self.text),
        }
    }
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Path from the root of the workspace, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl SourceFile {
    /// The name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The name without folders and without the last extension.
    pub(crate) fn stem(&self) -> &str {
        self.name().rsplit_once('.').map_or(self.name(), |(stem, _)| stem)
    }

    /// Lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Where the workspace is that this program was built from.
pub(crate) fn root() -> Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?)
}

/// Every text file of the workspace, sorted by path.
#[derive(Clone, Debug)]
pub(crate) struct SourceTree {
    /// Where the workspace is.
    pub(crate) root: PathBuf,
    /// Its files.
    pub(crate) files: Vec<SourceFile>,
}

impl SourceTree {
    /// Reads the workspace this program was built from.
    pub(crate) fn read() -> Result<Self> {
        let mut tree = Self { root: root()?, files: Vec::new() };
        tree.read_folder("")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// The file at a path.
    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Files whose path ends so.
    pub(crate) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        self.files.iter().filter(move |file| file.path.ends_with(end))
    }

    /// Files directly in a folder.
    pub(crate) fn within<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        let inside = move |file: &&SourceFile| {
            let rest = file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|rest| !rest.contains('/'))
        };
        self.files.iter().filter(inside)
    }

    fn read_folder(&mut self, folder: &str) -> Result<()> {
        let entries = fs::read_dir(self.root.join(folder)).context(folder.to_owned())?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let is_result = NOT_SOURCES.contains(&path.as_str()) || path.starts_with("target-");
            let kind = entry.file_type()?;
            if kind.is_dir() && !is_result {
                self.read_folder(&path)?;
            } else if kind.is_file() && TEXT.iter().any(|end| path.ends_with(end)) {
                // A file may go while others work in the tree.
                if let Ok(bytes) = fs::read(entry.path()) {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    self.files.push(SourceFile { path, text });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) fn of(files: &[(&str, &str)]) -> SourceTree {
    let file = |&(path, text): &(&str, &str)| SourceFile { path: path.into(), text: text.into() };
    SourceTree { root: PathBuf::from("nowhere"), files: files.iter().map(file).collect() }
}
