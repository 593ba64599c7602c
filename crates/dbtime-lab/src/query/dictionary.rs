//! Dictionaries of keys: lines of a file, rows of a query, texts of a template, or whole numbers.

use super::request::KeyDictionary;
use super::samples::failure_text;
use super::session::QuerySession;
use super::value_rows::ValueRows;
use crate::error::LabError;
use dbtime_load::keys::{Bijection, TextTemplate, WordOrder};
use dbtime_load::program::SqlValue;
use dbtime_load::random::{RandomStream, draw};
use dbtime_model::bounded_file::written_text;
use dbtime_sql::StatementOutline;
use std::path::Path;
use std::str::FromStr;

/// Lines of a file at most.
const MOST_LINES: usize = 1_000_000;

/// Rows of a query at most.
const MOST_ROWS: usize = 100_000;

/// What a dictionary can be, behind an error about one that is nothing of it.
const FORMS: &str = "a dictionary is a file, a SELECT, template:user%05d:1..5000 or range:1..1000";

/// Where the values of one parameter come from, or those of several that come together. Every draw
/// is a pure function of the seed and its number.
#[derive(Debug)]
pub(super) struct ValueDictionary {
    values: DictionaryValues,
    order: WordOrder,
    shuffle: Option<Bijection>,
    seed: u64,
    /// In words, without literals.
    source: String,
}

/// The values, of which there is one at least.
#[derive(Debug)]
enum DictionaryValues {
    Rows(ValueRows),
    Range { low: i64, high: i64 },
    Template { template: TextTemplate, first: u64, count: u64 },
}

impl ValueDictionary {
    /// Reads what `--dict` describes; the session is asked for the rows of a query.
    ///
    /// # Errors
    /// It is nothing that a dictionary can be, cannot be read, has no values or too many, or has
    /// another number of columns than the parameters that it is for.
    pub(super) fn read(
        given: &KeyDictionary,
        seed: u64,
        session: &mut QuerySession<'_>,
    ) -> Result<Self, LabError> {
        let (text, order) = without_order(given.text.trim());
        let (values, source) = if let Some(range) = text.strip_prefix("range:") {
            (numbers(given, range)?, "whole numbers of a range".to_owned())
        } else if let Some(template) = text.strip_prefix("template:") {
            (texts(given, template)?, "texts of a template".to_owned())
        } else if is_query(text) {
            (query_rows(given, text, session)?, "rows of a query".to_owned())
        } else {
            (file_rows(given, text)?, format!("lines of {text}"))
        };
        let shuffle = order.shuffle(values.count(), seed);
        let source = format!("{source}, {}", order_words(order));
        Ok(Self { values, order, shuffle, seed, source })
    }

    /// The values of draw `n`, one for each parameter.
    pub(super) fn draw(&self, n: u64) -> Vec<SqlValue> {
        let bits = || draw(self.seed, RandomStream::Parameters, n);
        let count = self.values.count();
        self.values.at(self.order.index(n, count, self.shuffle.as_ref(), bits))
    }

    /// The values in the middle of all.
    pub(super) fn middle(&self) -> Vec<SqlValue> {
        match &self.values {
            DictionaryValues::Rows(rows) => rows.middle().to_vec(),
            values => values.at(values.count() / 2),
        }
    }

    /// Values at the edges, some of them perhaps twice: such as are not in it, NULL, the least, the
    /// greatest, and of rows the most and the least frequent.
    pub(super) fn edges(&self) -> Vec<Vec<SqlValue>> {
        let last = self.values.count() - 1;
        let beyond = match &self.values {
            DictionaryValues::Rows(rows) => return rows.edges(),
            DictionaryValues::Range { low, high } => {
                let beyond = high.checked_add(1).or_else(|| low.checked_sub(1));
                beyond.map_or(SqlValue::Null, SqlValue::Integer)
            }
            DictionaryValues::Template { template, first, .. } => {
                written(template, first.saturating_add(last).saturating_add(1))
            }
        };
        vec![vec![beyond], vec![SqlValue::Null], self.values.at(0), self.values.at(last)]
    }

    /// Where its values come from, in words without literals.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// How many different values it has.
    pub(super) fn distinct(&self) -> u64 {
        match &self.values {
            DictionaryValues::Rows(rows) => rows.distinct(),
            values => values.count(),
        }
    }
}

impl DictionaryValues {
    fn count(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.count(),
            Self::Range { low, high } => high.abs_diff(*low).saturating_add(1),
            Self::Template { count, .. } => *count,
        }
    }

    fn at(&self, index: u64) -> Vec<SqlValue> {
        match self {
            Self::Rows(rows) => rows.row(index as usize).to_vec(),
            Self::Range { low, .. } => {
                vec![SqlValue::Integer(low.wrapping_add(index.cast_signed()))]
            }
            Self::Template { template, first, .. } => {
                vec![written(template, first.saturating_add(index))]
            }
        }
    }
}

fn written(template: &TextTemplate, number: u64) -> SqlValue {
    let mut text = String::new();
    template.write(number, &mut text);
    SqlValue::Text(text)
}

/// The text without the order at its end, at random where there is none.
fn without_order(text: &str) -> (&str, WordOrder) {
    match text.rsplit_once(':') {
        Some((text, "rand")) => (text, WordOrder::Random),
        Some((text, "seq")) => (text, WordOrder::Sequential),
        Some((text, "unique")) => (text, WordOrder::Unique),
        _ => (text, WordOrder::Random),
    }
}

fn order_words(order: WordOrder) -> &'static str {
    match order {
        WordOrder::Random => "at random",
        WordOrder::Sequential => "in order",
        WordOrder::Unique => "shuffled, each once",
    }
}

/// Whether a text is a statement that returns rows, and no path.
fn is_query(text: &str) -> bool {
    let is_verb_end = |c: char| c.is_whitespace() || c == '(';
    let verb = text.find(is_verb_end).map(|end| text[..end].to_ascii_lowercase());
    verb.is_some_and(|verb| matches!(verb.as_str(), "select" | "with" | "values" | "table"))
}

/// `1..1000`.
fn numbers(given: &KeyDictionary, range: &str) -> Result<DictionaryValues, LabError> {
    one_column(given)?;
    let unclear = "a range is written as range:1..1000, the least number first";
    let (low, high) = range_ends(range).ok_or_else(|| refused(given, unclear))?;
    Ok(DictionaryValues::Range { low, high })
}

/// Both ends of `1..1000`; `None`: it is no range.
fn range_ends<N: FromStr + PartialOrd>(range: &str) -> Option<(N, N)> {
    let (low, high) = range.split_once("..")?;
    let (low, high) = (low.parse::<N>().ok()?, high.parse::<N>().ok()?);
    (low <= high).then_some((low, high))
}

/// `user%05d:1..5000`.
fn texts(given: &KeyDictionary, text: &str) -> Result<DictionaryValues, LabError> {
    one_column(given)?;
    let unclear = "a template is written as template:user%05d:1..5000, the least number first";
    let (template, range) = text.rsplit_once(':').ok_or_else(|| refused(given, unclear))?;
    let template = TextTemplate::parse(template)
        .map_err(|found| refused(given, &format!("{found}: write one conversion such as %05d")))?;
    let (first, last): (u64, u64) = range_ends(range).ok_or_else(|| refused(given, unclear))?;
    let count = (last - first).saturating_add(1);
    Ok(DictionaryValues::Template { template, first, count })
}

fn one_column(given: &KeyDictionary) -> Result<(), LabError> {
    match given.parameters.len() {
        1 => Ok(()),
        more => Err(refused(given, &columns_differ("it has 1 column", more))),
    }
}

fn columns_differ(found: &str, parameters: usize) -> String {
    format!("{found}, and parameters are named: {parameters}; name one for each column")
}

fn query_rows(
    given: &KeyDictionary,
    sql: &str,
    session: &mut QuerySession<'_>,
) -> Result<DictionaryValues, LabError> {
    let outline = StatementOutline::of(sql, &session.place.lexical_rules());
    if outline.writes || outline.irrevocable.is_some() {
        let text = "its statement changes rows, or something else: write one that only reads";
        return Err(refused(given, text));
    }
    let table = session.given_table(sql).map_err(|failure| {
        let text = failure_text(session.place, sql, &failure);
        LabError::Target(format!("{}its query fails: {text}", prefix(given)))
    })?;
    let (columns, parameters) = (table.columns.len(), given.parameters.len());
    if columns != parameters {
        let found = format!("columns of its query: {columns}");
        return Err(refused(given, &columns_differ(&found, parameters)));
    }
    if table.rows.len() > MOST_ROWS {
        let text = format!("its query has more than {MOST_ROWS} rows: add LIMIT {MOST_ROWS}");
        return Err(refused(given, &text));
    }
    let rows = ValueRows::of(table.rows.into_iter().flatten().collect(), parameters);
    let none = "its query returns no rows: write one that returns values";
    rows.map(DictionaryValues::Rows).ok_or_else(|| refused(given, none))
}

/// Lines of a file, empty ones left out; `\N` is NULL.
fn file_rows(given: &KeyDictionary, path: &str) -> Result<DictionaryValues, LabError> {
    let width = given.parameters.len();
    let text = written_text(Path::new(path))
        .map_err(|error| refused(given, &format!("{path}: {error}; {FORMS}")))?;
    let cell = |text: &str| (text != "\\N").then(|| text.to_owned());
    let mut cells = Vec::new();
    // Editors of Windows begin a file with a mark.
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines();
    for (at, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        let before = cells.len();
        match width {
            1 => cells.push(cell(line)),
            _ => cells.extend(line.split('\t').map(cell)),
        }
        let columns = cells.len() - before;
        if columns != width {
            let found = format!("values in line {} of {path}, between tabs: {columns}", at + 1);
            return Err(refused(given, &columns_differ(&found, width)));
        }
        if cells.len() / width > MOST_LINES {
            let text = format!("{path} has more than {MOST_LINES} lines: give some of them");
            return Err(refused(given, &text));
        }
    }
    let rows = ValueRows::of(cells, width);
    let none = || refused(given, &format!("{path} has no values: write one a line"));
    rows.map(DictionaryValues::Rows).ok_or_else(none)
}

/// That a dictionary is of no use.
fn refused(given: &KeyDictionary, why: &str) -> LabError {
    LabError::Usage(format!("{}{why}", prefix(given)))
}

fn prefix(given: &KeyDictionary) -> String {
    format!("--dict {}: ", given.parameters.join(","))
}
