//! A document as Markdown, in GitHub's dialect.

use super::ReportDocument;
use super::block::{DocumentBlock, DocumentDrawing, DocumentFact, DocumentTable, FoldedBlocks};
use crate::terminal::{COLUMNS, ReportTable, TextRole, TextRow};
use std::fmt::Write;

/// The level of the first headings below the title.
const FIRST_LEVEL: usize = 3;

pub(super) fn markdown(document: &ReportDocument) -> String {
    let out = format!("## {}\n", escaped(&document.title));
    let mut text = DocumentMarkdown { out, level: FIRST_LEVEL };
    text.blocks(&document.blocks);
    text.out
}

/// The text in the making.
struct DocumentMarkdown {
    out: String,
    level: usize,
}

impl DocumentMarkdown {
    fn blocks(&mut self, blocks: &[DocumentBlock]) {
        blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &DocumentBlock) {
        match block {
            DocumentBlock::Heading(title) => self.heading(title),
            DocumentBlock::Facts(facts) => self.apart(&list(facts)),
            DocumentBlock::FactTable { name, rows: table } => {
                self.apart(&format!("- {}:\n", escaped(name)));
                self.apart(&rows(table));
            }
            DocumentBlock::Paragraph { text, role } | DocumentBlock::Remark { text, role } => {
                self.paragraph(text, *role);
            }
            DocumentBlock::Callout(text) => self.paragraph(text, TextRole::Bad),
            DocumentBlock::Table(table) => self.table(table),
            DocumentBlock::Gap | DocumentBlock::Markup(_) => {}
            DocumentBlock::Drawing(drawing) => self.drawing(drawing),
            DocumentBlock::Command(command) => self.indented(&command.lines(COLUMNS)),
            DocumentBlock::Folded(folded) => self.folded(folded),
        }
    }

    /// A block, which ends with a line end, behind an empty line.
    fn apart(&mut self, block: &str) {
        self.out.push('\n');
        self.out.push_str(block);
    }

    fn heading(&mut self, title: &str) {
        self.apart(&format!("{} {}\n", "#".repeat(self.level), escaped(title)));
    }

    fn paragraph(&mut self, text: &str, role: TextRole) {
        self.apart(&format!("{}\n", inked(&sentence(text), role)));
    }

    fn table(&mut self, table: &DocumentTable) {
        let (shown, rest) = table.limited();
        self.apart(&rows(&shown));
        if let Some(rest) = rest {
            self.paragraph(rest, TextRole::Dim);
        }
    }

    /// The lines behind a heading, which ends whatever they could be taken for a part of, and
    /// indented: nothing in them is markup then.
    fn drawing(&mut self, drawing: &DocumentDrawing) {
        let lines = drawing.lines.within(COLUMNS);
        if !lines.is_empty() {
            self.heading(&drawing.title);
            self.indented(&lines);
        }
    }

    /// Lines as they stand, of which one may hold several.
    fn indented(&mut self, lines: &[String]) {
        let lines = lines.iter().flat_map(|line| line.split('\n'));
        self.apart(&lines.map(|line| format!("    {line}\n")).collect::<String>());
    }

    fn folded(&mut self, folded: &FoldedBlocks) {
        self.heading(&folded.title);
        self.level += 1;
        self.blocks(&folded.blocks);
        self.level -= 1;
    }
}

fn list(facts: &[DocumentFact]) -> String {
    let (mut text, mut last) = (String::new(), "");
    for fact in facts {
        // What goes on with the fact before is part of it.
        let name = if fact.name.is_empty() { last } else { fact.name.as_str() };
        let shown = inked(&sentence(&fact.text), fact.role);
        // Writing into a `String` cannot fail.
        let _ = match name {
            name if name == last && !text.is_empty() => writeln!(text, "  - {shown}"),
            "" => writeln!(text, "- {shown}"),
            name => writeln!(text, "- {}: {shown}", escaped(name)),
        };
        last = name;
    }
    text
}

/// What is to be looked at stands out.
fn inked(escaped: &str, role: TextRole) -> String {
    match role {
        TextRole::Bold | TextRole::Bad if !escaped.is_empty() => format!("**{escaped}**"),
        _ => escaped.to_owned(),
    }
}

fn rows(table: &ReportTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let columns = table.columns.iter();
    let names = columns.clone().map(|column| escaped(&column.heading));
    let rules = columns.map(|column| if column.right { "--:" } else { "---" }.to_owned());
    let mut text = line(names.collect()) + &line(rules.collect());
    // What stands across all columns has the first cell, of which Markdown has no wider ones.
    let across = |text: String| {
        let rest = vec![String::new(); table.columns.len().saturating_sub(1)];
        line([text].into_iter().chain(rest).collect())
    };
    for row in &table.rows {
        text += &match row {
            TextRow::Cells(cells) | TextRow::More(cells) => {
                line(cells.iter().map(|c| escaped(&c.text)).collect())
            }
            TextRow::Group(text) | TextRow::Title(text) => {
                across(inked(&escaped(text), TextRole::Bold))
            }
            TextRow::Detail(text) if text.is_empty() => String::new(),
            TextRow::Detail(text) => across(escaped(text)),
        };
    }
    text
}

/// A text in which nothing is markup, on one line.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

/// The same at the beginning of a line, where more signs mean something, some behind a number.
fn sentence(text: &str) -> String {
    let text = escaped(text);
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let means_something = match number {
        "" => rest.starts_with(['-', '+', '=']),
        _ => rest.starts_with(". ") || rest.starts_with(") "),
    };
    match means_something {
        true => format!("{number}\\{rest}"),
        false => text,
    }
}
