//! What a command shows, as blocks (headings, facts, texts, tables, drawings), and the three forms
//! of it: text for a terminal, a page of HTML, and Markdown.
//!
//! A report is a list of sections, each of which adds its blocks; none of them knows how they are
//! shown. How many rows a table has is a property of it: text and Markdown keep to the limit, and a
//! page has at most fifty rows of a table with one. The reports of sweeps are not made of
//! blocks.

mod block;
mod markdown;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use block::{
    DocumentDrawing, DocumentFact, DrawnLines, PAGE_ROWS, RestOfRows, RowLimit,
};

use crate::format::clean;
use crate::terminal::{COLUMNS, PageStyle, ReportTable, SCREEN_LINES, SHORT_FACT_LINES, TextRole};
use block::{DocumentBlock, DocumentCommand, DocumentTable, FoldedBlocks};

/// How many times a document that is too long for a screen is made anew with fewer rows.
const MOST_CUTS: usize = 8;

/// What a command shows, in blocks. Shape: no text in it has a sign that drives a terminal.
#[derive(Clone, Debug)]
pub struct ReportDocument {
    /// The command, which a page has above its title.
    command: &'static str,
    title: String,
    /// The name of the page's tab, where it is not the title.
    tab: Option<String>,
    /// Whether text begins with the title, which the others always do.
    has_titled_text: bool,
    /// Whether text has the first lines of each fact alone.
    is_short: bool,
    blocks: Vec<DocumentBlock>,
}

/// The forms of a document.
impl ReportDocument {
    /// As text for a terminal.
    ///
    /// Shape: lines of at most `style.columns` columns, the last one ended; no escapes unless
    /// `style.color`.
    pub fn text(&self, style: PageStyle) -> String {
        text::text(self, style)
    }

    /// As text whose tables are not indented and take the whole width of a terminal; `None`: what
    /// they need.
    ///
    /// Shape: lines, the last one ended; within `room` columns unless the figures alone take more.
    pub fn wide_text(&self, style: PageStyle, room: Option<usize>) -> String {
        text::wide_text(self, style, room)
    }

    /// As a self-contained page.
    ///
    /// Shape: as [`crate::html::report`]; all rows of tables without a limit, fifty of others.
    pub fn html(&self) -> String {
        page::page(self)
    }

    /// The blocks of the page alone, for one that has more.
    pub(crate) fn sections(&self) -> String {
        page::sections(self)
    }

    /// As Markdown, for a comment, the summary of a CI job, or a wiki.
    ///
    /// Shape: blocks with an empty line between, the last line ended; GitHub's dialect (tables).
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }
}

/// Adding blocks.
impl ReportDocument {
    /// A document of this command, whose title says what is in it.
    pub(crate) fn new(command: &'static str, title: &str) -> Self {
        let (title, blocks) = (clean(title), Vec::new());
        Self { command, title, tab: None, has_titled_text: true, is_short: false, blocks }
    }

    /// The same with a title that a terminal does without.
    pub(crate) fn untitled(command: &'static str, title: &str) -> Self {
        Self { has_titled_text: false, ..Self::new(command, title) }
    }

    /// The same in a text that fits on a screen, with the first lines of each fact.
    pub(crate) fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    /// The first of several documents that fits on a screen as text: `made` takes how many rows
    /// each table has to do without. Where none fits it is the last, with [`MOST_CUTS`].
    pub(crate) fn on_screen(made: impl Fn(usize) -> Self) -> Self {
        Self::fitting(&[PageStyle::default()], made)
    }

    /// The same of which the narrowest text fits too, whose facts take more lines.
    pub(crate) fn on_any_screen(made: impl Fn(usize) -> Self) -> Self {
        Self::fitting(&[PageStyle::default(), PageStyle::default().within(0)], made)
    }

    fn fitting(styles: &[PageStyle], made: impl Fn(usize) -> Self) -> Self {
        let is_short = |document: &Self, style: &PageStyle| {
            document.text(*style).lines().count() <= SCREEN_LINES
        };
        let fits = |document: &Self| styles.iter().all(|style| is_short(document, style));
        (0..MOST_CUTS).map(&made).find(fits).unwrap_or_else(|| made(MOST_CUTS))
    }

    /// The same with another name of the page's tab.
    pub(crate) fn tabbed(self, tab: &str) -> Self {
        Self { tab: Some(clean(tab)), ..self }
    }

    /// What the blocks behind it are about.
    pub(crate) fn heading(&mut self, title: &str) {
        self.blocks.push(DocumentBlock::Heading(clean(title)));
    }

    /// A name and what there is to say about it; without a name it goes on with the one before.
    pub(crate) fn fact(&mut self, name: &str, text: &str, role: TextRole) {
        self.fact_within(SHORT_FACT_LINES, name, text, role);
    }

    /// The same, of which a short text has no more than so many lines.
    pub(crate) fn fact_within(
        &mut self,
        short_lines: usize,
        name: &str,
        text: &str,
        role: TextRole,
    ) {
        let fact = DocumentFact { name: clean(name), text: clean(text), role, short_lines };
        match self.blocks.last_mut() {
            Some(DocumentBlock::Facts(facts)) => facts.push(fact),
            _ => self.blocks.push(DocumentBlock::Facts(vec![fact])),
        }
    }

    /// Several of them.
    pub(crate) fn facts(&mut self, facts: &[DocumentFact]) {
        for fact in facts {
            self.fact_within(fact.short_lines, &fact.name, &fact.text, fact.role);
        }
    }

    /// A name and a table beside it.
    pub(crate) fn fact_table(&mut self, name: &str, rows: &ReportTable) {
        let (name, rows) = (clean(name), rows.cleaned());
        self.blocks.push(DocumentBlock::FactTable { name, rows });
    }

    /// Running text.
    pub(crate) fn paragraph(&mut self, text: &str, role: TextRole) {
        self.blocks.push(DocumentBlock::Paragraph { text: clean(text), role });
    }

    /// What must be known before any figure.
    pub(crate) fn callout(&mut self, text: &str) {
        self.blocks.push(DocumentBlock::Callout(clean(text)));
    }

    /// Running text about all of it, apart from the section before.
    pub(crate) fn remark(&mut self, text: &str, role: TextRole) {
        self.blocks.push(DocumentBlock::Remark { text: clean(text), role });
    }

    /// A table; nothing where it has no rows.
    pub(crate) fn table(&mut self, table: &ReportTable) {
        self.limited_table(table, None);
    }

    /// The same of which not all rows may be shown.
    pub(crate) fn limited_table(&mut self, table: &ReportTable, limit: Option<RowLimit>) {
        self.captioned_table("", table, limit);
    }

    /// The same with what a page says above it.
    pub(crate) fn captioned_table(
        &mut self,
        caption: &str,
        table: &ReportTable,
        limit: Option<RowLimit>,
    ) {
        if !table.is_empty() {
            let (rows, limit) = (table.cleaned(), limit.map(RowLimit::cleaned));
            let caption = clean(caption);
            self.blocks.push(DocumentBlock::Table(DocumentTable { caption, rows, limit }));
        }
    }

    /// An empty line of text: what follows stands apart.
    pub(crate) fn gap(&mut self) {
        self.blocks.push(DocumentBlock::Gap);
    }

    /// A drawing of signs, or the charts that a page has in its place; nothing without either.
    pub(crate) fn drawing(&mut self, drawing: DocumentDrawing) {
        if !(drawing.lines.within(COLUMNS).is_empty() && drawing.charts.is_empty()) {
            self.blocks.push(DocumentBlock::Drawing(drawing.cleaned()));
        }
    }

    /// What a page alone has: markup of our making, in which every foreign text is escaped.
    pub(crate) fn markup(&mut self, markup: String) {
        self.blocks.push(DocumentBlock::Markup(markup));
    }

    /// A command that was given in a folder, to be pasted into a shell; it stands below a heading.
    pub(crate) fn command(&mut self, command: &str, folder: &str) {
        let [command, folder] = [command, folder].map(str::to_owned);
        self.blocks.push(DocumentBlock::Command(DocumentCommand { command, folder }));
    }

    /// The blocks of another document, which a page folds up unless they are `open`; text has only
    /// open ones.
    pub(crate) fn fold(&mut self, title: &str, open: bool, inner: Self) {
        let (title, blocks) = (clean(title), inner.blocks);
        self.blocks.push(DocumentBlock::Folded(FoldedBlocks { title, open, blocks }));
    }
}
