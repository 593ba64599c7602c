//! Where a document goes: a page to its file; Markdown or text to wherever the command prints.

use crate::cli::DocumentArgs;
use crate::commands::report::write_page;
use crate::exit::CommandFailure;
use dbtime_report::ReportDocument;

impl DocumentArgs {
    /// Writes the page, where one is wanted.
    ///
    /// Errors: it cannot be written, or something that is no file stands in its place.
    pub(crate) fn write(&self, document: &ReportDocument) -> Result<(), CommandFailure> {
        match &self.html {
            Some(path) => write_page(path, &document.html()),
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
            Some(path) if written.is_ok() => format!("Report: {}\n", path.display()),
            _ => text(),
        };
        (shown, written)
    }
}
