//! What a page alone has: the charts, and single transactions to be opened one by one.

use super::RunView;
use crate::document::ReportDocument;
use crate::html;

pub(super) fn charts(view: &RunView<'_>, document: &mut ReportDocument) {
    document.heading("Charts");
    document.markup(html::charts(view.run));
}

pub(super) fn transactions(view: &RunView<'_>, document: &mut ReportDocument) {
    if let Some(markup) = html::transactions(view.run) {
        document.heading("Single transactions");
        document.markup(markup);
    }
}
