//! The blocks of a document, as data.

use crate::format::{clean, counted};
use crate::repeat;
use crate::terminal::{ForestText, ReportTable, SHORT_FACT_LINES, TextCell, TextRole};

/// More rows of a table with a limit no page has: some have thousands, and a page is to be mailed.
pub(crate) const PAGE_ROWS: usize = 50;

/// A piece of a document.
#[derive(Clone, Debug)]
pub(super) enum DocumentBlock {
    /// What the blocks behind it are about.
    Heading(String),
    /// Names, and what there is to say about each.
    Facts(Vec<DocumentFact>),
    /// A name, and a table beside it.
    FactTable {
        name: String,
        rows: ReportTable,
    },
    /// Running text.
    Paragraph {
        text: String,
        role: TextRole,
    },
    /// What must be known before any figure.
    Callout(String),
    /// Running text about all of it.
    Remark {
        text: String,
        role: TextRole,
    },
    /// Rows under headings.
    Table(DocumentTable),
    /// An empty line of text: what follows stands apart.
    Gap,
    Drawing(DocumentDrawing),
    /// What a page alone has: markup of our making.
    Markup(String),
    /// A command to be pasted into a shell.
    Command(DocumentCommand),
    /// Further blocks, which a page folds up.
    Folded(FoldedBlocks),
}

/// A name and what there is to say about it; without a name it goes on with the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentFact {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) role: TextRole,
    /// A short text has so many lines of it.
    pub(crate) short_lines: usize,
}

impl DocumentFact {
    pub(crate) fn new(name: &str, text: String) -> Self {
        let (name, short_lines) = (name.to_owned(), SHORT_FACT_LINES);
        Self { name, text, role: TextRole::Plain, short_lines }
    }

    /// The answer itself, or that there is none.
    pub(crate) fn verdict(name: &str, text: String) -> Self {
        Self { role: TextRole::Bold, ..Self::new(name, text) }
    }
}

/// A table, and how much of it is shown.
#[derive(Clone, Debug)]
pub(super) struct DocumentTable {
    /// What a page has above the headings.
    pub(super) caption: String,
    pub(super) rows: ReportTable,
    pub(super) limit: Option<RowLimit>,
}

impl DocumentTable {
    /// The table within its limit, and what stands below it.
    pub(super) fn limited(&self) -> (ReportTable, Option<&str>) {
        match &self.limit {
            Some(limit) => limit.applied(&self.rows),
            None => (self.rows.clone(), None),
        }
    }

    /// What a page has of it.
    pub(super) fn paged(&self) -> PagedTable {
        let Some(limit) = &self.limit else {
            return PagedTable { rows: self.rows.clone(), last: 0, rest: None };
        };
        let last = limit.last();
        let rest = limit.on_page.clone().unwrap_or_else(|| {
            let further = self.rows.height().saturating_sub(PAGE_ROWS + last);
            format!("{}, left out for the size of the page", counted(further as u64, "further row"))
        });
        let page_limit = RowLimit::new(PAGE_ROWS, RestOfRows::LastRows(last, rest));
        let (rows, rest) = page_limit.applied(&self.rows);
        PagedTable { rows, last, rest: rest.map(str::to_owned) }
    }
}

/// A table as a page has it.
pub(super) struct PagedTable {
    pub(super) rows: ReportTable,
    /// So many of the last rows are never a click away.
    pub(super) last: usize,
    /// What stands for the rows that it has not.
    pub(super) rest: Option<String>,
}

/// How many rows of a table text and Markdown show; a page has at most [`PAGE_ROWS`] of it.
#[derive(Clone, Debug)]
pub(crate) struct RowLimit {
    /// So many.
    most: usize,
    /// What stands for the others.
    rest: RestOfRows,
    /// What a page says of those behind its own; `None`: how many there are.
    on_page: Option<String>,
}

impl RowLimit {
    /// So many rows in text and Markdown, and what stands for the others there.
    pub(crate) fn new(most: usize, rest: RestOfRows) -> Self {
        Self { most, rest, on_page: None }
    }

    /// All rows in text and Markdown.
    pub(crate) fn of_page_alone() -> Self {
        Self::new(usize::MAX, RestOfRows::Text(String::new()))
    }

    /// The same with what a page says of the rows behind its first [`PAGE_ROWS`].
    pub(crate) fn on_page(self, text: String) -> Self {
        Self { on_page: Some(text), ..self }
    }

    /// How many of the last rows are always shown.
    fn last(&self) -> usize {
        match &self.rest {
            RestOfRows::LastRows(last, _) => *last,
            RestOfRows::Cells(_) | RestOfRows::Text(_) => 0,
        }
    }

    /// The rows within it, and what stands below them.
    fn applied(&self, table: &ReportTable) -> (ReportTable, Option<&str>) {
        if table.height() <= self.most.saturating_add(self.last()) {
            return (table.clone(), None);
        }
        let mut rows = table.first_rows(self.most);
        match &self.rest {
            RestOfRows::Text(text) => return (rows, Some(text)),
            RestOfRows::Cells(cells) => rows.row(cells.clone()),
            RestOfRows::LastRows(last, text) => {
                let all = &table.rows;
                rows.rows.extend_from_slice(&all[all.len().saturating_sub(*last)..]);
                return (rows, Some(text));
            }
        }
        (rows, None)
    }

    pub(super) fn cleaned(self) -> Self {
        let rest = match self.rest {
            RestOfRows::Text(text) => RestOfRows::Text(clean(&text)),
            RestOfRows::LastRows(last, text) => RestOfRows::LastRows(last, clean(&text)),
            RestOfRows::Cells(cells) => {
                let cell = |cell: &TextCell| TextCell::new(clean(&cell.text), cell.ink);
                RestOfRows::Cells(cells.iter().map(cell).collect())
            }
        };
        Self { rest, on_page: self.on_page.map(|text| clean(&text)), ..self }
    }
}

/// What stands for the rows that are not shown.
#[derive(Clone, Debug)]
pub(crate) enum RestOfRows {
    /// A row of their sums.
    Cells(Vec<TextCell>),
    /// A sentence below the table.
    Text(String),
    /// So many of the last rows, which have one line each, and a sentence about the others.
    LastRows(usize, String),
}

/// What is drawn: of signs, or as charts where there can be any.
#[derive(Clone, Debug)]
pub(crate) struct DocumentDrawing {
    /// Above the lines.
    pub(crate) title: String,
    /// As they stand in a terminal; without any it is a chart or nothing.
    pub(crate) lines: DrawnLines,
    /// Titles and SVG of our making, which a page has in place of the lines.
    pub(crate) charts: Vec<(String, String)>,
}

impl DocumentDrawing {
    pub(super) fn cleaned(self) -> Self {
        Self { title: clean(&self.title), ..self }
    }
}

/// The lines of a drawing.
#[derive(Clone, Debug)]
pub(crate) enum DrawnLines {
    /// As they stand, whatever the width.
    Fixed(Vec<String>),
    /// As wide as there is room.
    Forest(ForestText),
    /// A table whose first cells draw a tree, so that their blanks have to stay.
    Tree(ReportTable),
}

impl DrawnLines {
    /// Those for so many columns, without what drives a terminal.
    pub(super) fn within(&self, columns: usize) -> Vec<String> {
        let lines = match self {
            Self::Fixed(lines) => lines.clone(),
            Self::Forest(forest) => forest.lines(columns),
            Self::Tree(table) => tree_lines(table, columns),
        };
        lines.iter().map(|line| clean(line)).collect()
    }
}

/// The lines of a table, indented as other tables are.
fn tree_lines(table: &ReportTable, columns: usize) -> Vec<String> {
    let lines = table.lines(columns.saturating_sub(2), |text, _| text.to_owned());
    lines.iter().map(|line| format!("  {line}")).collect()
}

/// A command, below a heading.
#[derive(Clone, Debug)]
pub(super) struct DocumentCommand {
    pub(super) command: String,
    /// Where it was given.
    pub(super) folder: String,
}

impl DocumentCommand {
    /// Its lines, of at most `columns` columns but for longer words.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        repeat::command(&self.command, &self.folder, columns)
    }
}

/// Further blocks under a title of their own.
#[derive(Clone, Debug)]
pub(super) struct FoldedBlocks {
    pub(super) title: String,
    /// Whether a page shows them at once, and text at all.
    pub(super) open: bool,
    pub(super) blocks: Vec<DocumentBlock>,
}
