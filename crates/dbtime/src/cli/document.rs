//! Flags of commands whose report is a document.

use clap::Args;
use std::path::PathBuf;

/// What a report is written as, where that is not text.
#[derive(Args, Debug)]
pub(crate) struct DocumentArgs {
    /// Write an HTML file instead of text.
    #[arg(long, value_name = "FILE")]
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
