//! A document as text for a terminal.

use super::ReportDocument;
use super::block::{
    DocumentBlock, DocumentCommand, DocumentDrawing, DocumentFact, DocumentTable, FoldedBlocks,
};
use crate::format::wrap;
use crate::terminal::{COLUMNS, PageStyle, ReportPage, ReportTable, TextRole};

/// The least room for the last column of a wide table: with less the line is wider than the
/// terminal.
const MIN_LAST_COLUMNS: usize = 16;

/// What tables and remarks have room in.
#[derive(Clone, Copy)]
enum TextRoom {
    /// The page, indented.
    Page,
    /// The whole line of so many columns; `None`: as many as it takes.
    Line(Option<usize>),
}

pub(super) fn text(document: &ReportDocument, style: PageStyle) -> String {
    shown(document, style, TextRoom::Page)
}

pub(super) fn wide_text(
    document: &ReportDocument,
    style: PageStyle,
    room: Option<usize>,
) -> String {
    shown(document, style, TextRoom::Line(room))
}

fn shown(document: &ReportDocument, style: PageStyle, room: TextRoom) -> String {
    let page = ReportPage::new(style);
    let page = if document.is_short { page.shortened() } else { page };
    let mut text = DocumentText { page, room };
    if document.has_titled_text {
        text.page.title(&document.title);
    }
    text.blocks(&document.blocks);
    text.page.finish()
}

/// The text in the making.
struct DocumentText {
    page: ReportPage,
    room: TextRoom,
}

impl DocumentText {
    fn blocks(&mut self, blocks: &[DocumentBlock]) {
        blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &DocumentBlock) {
        match block {
            DocumentBlock::Heading(title) => self.page.heading(title),
            DocumentBlock::Facts(facts) => facts.iter().for_each(|fact| self.fact(fact)),
            DocumentBlock::FactTable { name, rows } => self.page.fact_table(name, rows),
            DocumentBlock::Paragraph { text, role } => self.page.text(text, *role),
            DocumentBlock::Callout(text) => self.page.callout(text),
            DocumentBlock::Remark { text, role } => self.remark(text, *role),
            DocumentBlock::Table(table) => self.limited(table),
            DocumentBlock::Gap => self.page.line(""),
            DocumentBlock::Drawing(drawing) => self.drawing(drawing),
            DocumentBlock::Markup(_) => {}
            DocumentBlock::Command(command) => self.command(command),
            DocumentBlock::Folded(folded) => self.folded(folded),
        }
    }

    fn fact(&mut self, fact: &DocumentFact) {
        self.page.fact_within(fact.short_lines, &fact.name, &fact.text, fact.role);
    }

    fn remark(&mut self, text: &str, role: TextRole) {
        self.page.line("");
        match self.room {
            TextRoom::Page => self.page.text(text, role),
            TextRoom::Line(room) => {
                for line in wrap(text, room.unwrap_or(COLUMNS).min(self.page.columns())) {
                    let line = self.page.paint(&line, role);
                    self.page.line(&line);
                }
            }
        }
    }

    fn limited(&mut self, table: &DocumentTable) {
        let (rows, rest) = table.limited();
        self.table(&rows);
        if let Some(rest) = rest {
            self.page.text(rest, TextRole::Dim);
        }
    }

    fn table(&mut self, rows: &ReportTable) {
        let TextRoom::Line(room) = self.room else { return self.page.table(rows) };
        let room = room.unwrap_or(usize::MAX).max(rows.least(MIN_LAST_COLUMNS));
        for line in rows.lines(room, |text, ink| self.page.paint(text, ink)) {
            self.page.line(&line);
        }
    }

    fn drawing(&mut self, drawing: &DocumentDrawing) {
        let lines = drawing.lines.within(self.page.columns());
        if !lines.is_empty() {
            self.page.heading(&drawing.title);
            lines.iter().for_each(|line| self.page.line(line));
        }
    }

    fn command(&mut self, command: &DocumentCommand) {
        for line in command.lines(self.page.columns().saturating_sub(2)) {
            self.page.line(&format!("  {line}"));
        }
    }

    fn folded(&mut self, folded: &FoldedBlocks) {
        if folded.open {
            self.page.heading(&folded.title);
            self.blocks(&folded.blocks);
        }
    }
}
