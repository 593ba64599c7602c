//! Flags of commands whose report is a document.

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::PathBuf;

/// What a report is written as, where that is not text.
#[derive(Args, Debug)]
pub(crate) struct DocumentArgs {
    /// Write an HTML file instead of text.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(page_path))]
    pub(crate) html: Option<PathBuf>,

    /// Print Markdown instead of text, for a comment or a wiki.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

impl DocumentArgs {
    /// Whether a page or Markdown is wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.html.is_some() || self.markdown
    }
}

/// Reads the place of a page.
fn page_path(path: PathBuf) -> Result<PathBuf, String> {
    match path.as_os_str() == "-" {
        true => Err("a page is written to a file: name one, such as report.html".to_owned()),
        false => Ok(path),
    }
}
