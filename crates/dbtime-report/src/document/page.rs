//! A document as one HTML file.

use super::ReportDocument;
use super::block::{
    DocumentBlock, DocumentCommand, DocumentDrawing, DocumentFact, DocumentTable, FoldedBlocks,
};
use crate::charts::escape;
use crate::format::{NONE, percent};
use crate::html::{HtmlCell, HtmlHeading, HtmlTable, frame};
use crate::terminal::{COLUMNS, ReportTable, TextCell, TextColumn, TextRole, TextRow};
use std::fmt::Write;

pub(super) fn page(document: &ReportDocument) -> String {
    let (command, title) = (document.command, escape(&document.title));
    let head = format!("<header><p class=\"kicker\">{command}</p><h1>{title}</h1></header>\n");
    frame(document.tab.as_ref().unwrap_or(&document.title), &(head + &sections(document)))
}

pub(super) fn sections(document: &ReportDocument) -> String {
    let mut body = DocumentPage { out: String::new(), is_in_section: false };
    body.blocks(&document.blocks);
    body.end_section();
    body.out
}

/// The body in the making.
struct DocumentPage {
    out: String,
    is_in_section: bool,
}

impl DocumentPage {
    fn blocks(&mut self, blocks: &[DocumentBlock]) {
        blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &DocumentBlock) {
        match block {
            DocumentBlock::Heading(title) => self.begin_section(title),
            DocumentBlock::Facts(facts) => self.out += &dl(facts),
            DocumentBlock::FactTable { name, rows } => self.fact_table(name, rows),
            DocumentBlock::Paragraph { text, role } => self.out += &paragraph(text, *role),
            DocumentBlock::Callout(text) => self.apart("callout invalid", text),
            DocumentBlock::Remark { text, role: TextRole::Plain } => self.apart("callout", text),
            DocumentBlock::Remark { text, role } => {
                self.end_section();
                self.out += &paragraph(text, *role);
            }
            DocumentBlock::Table(table) => self.table(table),
            DocumentBlock::Gap => {}
            DocumentBlock::Drawing(drawing) => self.drawing(drawing),
            DocumentBlock::Markup(markup) => self.out += markup,
            DocumentBlock::Command(command) => self.command(command),
            DocumentBlock::Folded(folded) => self.folded(folded),
        }
    }

    fn begin_section(&mut self, title: &str) {
        self.end_section();
        // Writing into a `String` cannot fail, here and below.
        let _ = writeln!(self.out, "<section><h2>{}</h2>", escape(title));
        self.is_in_section = true;
    }

    fn end_section(&mut self) {
        if self.is_in_section {
            self.out.push_str("</section>\n");
        }
        self.is_in_section = false;
    }

    /// A paragraph that is of no section.
    fn apart(&mut self, class: &str, text: &str) {
        self.end_section();
        let _ = writeln!(self.out, "<p class=\"{class}\">{}</p>", escape(text));
    }

    fn table(&mut self, table: &DocumentTable) {
        let paged = table.paged();
        self.out += &html_table(&table.caption, &paged.rows, paged.last);
        if let Some(rest) = &paged.rest {
            self.out += &paragraph(rest, TextRole::Dim);
        }
    }

    fn fact_table(&mut self, name: &str, rows: &ReportTable) {
        let (name, rows) = (escape(name), html_table("", rows, 0));
        let _ = writeln!(self.out, "<dl class=\"facts\"><dt>{name}</dt><dd>{rows}</dd></dl>");
    }

    fn command(&mut self, command: &DocumentCommand) {
        let _ = writeln!(self.out, "<pre>{}</pre>", escaped_lines(&command.lines(COLUMNS)));
    }

    fn drawing(&mut self, drawing: &DocumentDrawing) {
        if drawing.charts.is_empty() {
            self.begin_section(&drawing.title);
            let lines = escaped_lines(&drawing.lines.within(COLUMNS));
            // Lines of a drawing mean nothing where they are broken.
            let _ = writeln!(self.out, "<pre class=\"drawn\" tabindex=\"0\">{lines}</pre>");
        }
        for (title, svg) in &drawing.charts {
            self.begin_section(title);
            self.out += svg;
        }
        self.end_section();
    }

    fn folded(&mut self, folded: &FoldedBlocks) {
        self.end_section();
        let open = if folded.open { " open=\"open\"" } else { "" };
        let title = escape(&folded.title);
        let _ = writeln!(self.out, "<details{open}><summary>{title}</summary>");
        self.blocks(&folded.blocks);
        self.end_section();
        self.out.push_str("</details>\n");
    }
}

fn class(role: TextRole) -> &'static str {
    match role {
        TextRole::Plain => "",
        TextRole::Bold => "strong",
        TextRole::Dim => "dim",
        TextRole::Good => "good",
        TextRole::Warn => "warned",
        TextRole::Bad => "bad",
    }
}

fn paragraph(text: &str, role: TextRole) -> String {
    let class = match role {
        TextRole::Plain => String::new(),
        TextRole::Dim => " class=\"dim note\"".to_owned(),
        role => format!(" class=\"{}\"", class(role)),
    };
    format!("<p{class}>{}</p>\n", escape(text))
}

fn dl(facts: &[DocumentFact]) -> String {
    let mut out = "<dl class=\"facts\">".to_owned();
    for one in facts.chunk_by(|_, next| next.name.is_empty()) {
        let texts: Vec<String> = one.iter().map(inked).collect();
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(&one[0].name), texts.join("<br/>"));
    }
    out + "</dl>\n"
}

fn inked(fact: &DocumentFact) -> String {
    let text = escape(&fact.text);
    match class(fact.role) {
        "" => text,
        class => format!("<span class=\"{class}\">{text}</span>"),
    }
}

/// All these rows, of which the last ones are never a click away.
fn html_table(caption: &str, table: &ReportTable, last: usize) -> String {
    let heads = table.columns.iter().map(HtmlHeading::from).collect();
    let mut shown = HtmlTable::new(caption, heads);
    for row in &table.rows {
        match row {
            TextRow::Cells(cells) => shown.row(cells.iter().map(html_cell).collect()),
            TextRow::More(cells) => shown.more(cells.iter().map(html_cell).collect()),
            TextRow::Group(text) => shown.group(text),
            TextRow::Title(text) => shown.above(text, "sql"),
            TextRow::Detail(text) if text.is_empty() => {}
            TextRow::Detail(text) => shown.below(text, "sql dim"),
        }
    }
    shown.keeping(last).finish()
}

impl<'a> From<&'a TextColumn> for HtmlHeading<'a> {
    fn from(column: &'a TextColumn) -> Self {
        match column.right {
            true => Self::Figure(&column.heading),
            false => Self::Text(&column.heading),
        }
    }
}

fn html_cell(cell: &TextCell) -> HtmlCell {
    let shown = match (&cell.markup, cell.bar) {
        (Some(markup), _) => HtmlCell::html(markup.clone()),
        (None, Some(drawn)) => return bar(drawn.filled()),
        (None, None) if cell.text.trim_end() == NONE => return HtmlCell::none(),
        (None, None) => HtmlCell::html(indented(&cell.text)),
    };
    shown.class(class(cell.ink))
}

/// A text with its indentation, which a page would leave out.
fn indented(text: &str) -> String {
    let bare = text.trim_start_matches(' ');
    "&#160;".repeat(2 * (text.len() - bare.len())) + &escape(bare)
}

/// A bar that is as wide as its cell for all of the whole.
fn bar(filled: Option<f64>) -> HtmlCell {
    let Some(share) = filled else { return HtmlCell::text("") };
    let (length, text) = (100.0 * share, escape(&percent(100.0 * share)));
    let svg = format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" width=\"100%\" \
         height=\"12\" role=\"img\" aria-label=\"{text}\"><title>{text}</title>\
         <desc>{text} of the whole</desc>\
         <rect class=\"heat\" width=\"{length:.1}\" height=\"10\"/></svg>"
    );
    HtmlCell::html(svg).class("bar-cell")
}

fn escaped_lines(lines: &[String]) -> String {
    lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\n")
}
