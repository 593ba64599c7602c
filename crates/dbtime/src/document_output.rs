//! Where a document goes: a page to its file; Markdown or text to wherever the command prints.

use crate::cli::DocumentArgs;
use crate::exit::CommandFailure;
use crate::output_file::{begin_page, write_named};
use crate::read_files::refuse_clashes;
use dbtime_model::plain_text::legible_path;
use dbtime_report::ReportDocument;
use std::path::PathBuf;

impl DocumentArgs {
    /// Begins the page, where one is wanted, before anything is measured: none of before is taken
    /// for it, and nothing is measured in vain.
    ///
    /// Errors: as [`DocumentArgs::write`], or it is a file of these, which the command reads.
    pub(crate) fn begin<'a>(
        &'a self,
        command: &'static str,
        read: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), CommandFailure> {
        refuse_clashes(&self.html, read)?;
        begin_page(self.html.as_deref(), command)
    }

    /// Writes the page, where one is wanted.
    ///
    /// Errors: it cannot be written, or what stands in its place is not written to.
    pub(crate) fn write(&self, document: &ReportDocument) -> Result<(), CommandFailure> {
        match &self.html {
            Some(path) => write_named(path, &document.html()),
            None => Ok(()),
        }
    }

    /// Writes the page, where one is wanted, and returns what is to be printed first, and whether
    /// it could be written: Markdown, else where the page is, else the text. What was measured is
    /// not lost with a page that cannot be written.
    pub(crate) fn shown(
        &self,
        document: &ReportDocument,
        text: impl FnOnce() -> String,
    ) -> (String, Result<(), CommandFailure>) {
        let written = self.write(document);
        let shown = match &self.html {
            _ if self.markdown => document.markdown(),
            Some(path) if written.is_ok() => format!("Report: {}\n", legible_path(path)),
            _ => text(),
        };
        (shown, written)
    }
}
