//! From the text of a workload file to a checked workload.
//!
//! Order: dictionaries, tables (names and rows), their data, shared keys, operations. Whatever a
//! part refers to has been read before it.

mod dictionary;
mod key;
mod operation;
mod order;
mod scale;
mod table;

pub(super) use scale::check_scale;

use super::document::{DocumentNode, DocumentResult, DocumentSection, TomlDocument};
use super::script::{ScriptDocument, ScriptStep, WorkloadScripts};
use super::{Operation, Workload, WorkloadError, WorkloadLimit, sql};
use crate::session::RetryPolicy;
use crate::statement::{Statement, StatementKind};
use dbtime_model::{OperationId, StatementId};
use std::path::Path;

/// Reads a workload file.
pub(super) fn workload(text: &str, path: &Path) -> DocumentResult<Workload> {
    let document = TomlDocument { path, text };
    let root = document.parse()?;
    let section = DocumentSection::root(document, root.get_ref());
    section.allow(&[
        "name",
        "description",
        "limits",
        "think",
        "retry",
        "dictionaries",
        "table",
        "keys",
        "operation",
    ])?;
    let name = section.need("name", "the workload's name in quotes")?;
    let dictionaries = dictionary::read(&section)?;
    let tables = table::read(&section)?;
    let data = table::read_data(&section, &tables, &dictionaries)?;
    let things = key::KeyContext::new(&tables, &dictionaries);
    let program = operation::read(&section, &things)?;
    Ok(Workload {
        name: identifier(&name)?.to_owned(),
        description: section.text("description")?.unwrap_or_default().trim().to_owned(),
        source: text.to_owned(),
        limits: limits(&section)?,
        tables,
        operations: program.operations,
        statements: program.statements,
        scripts: program.scripts,
        data,
        script: None,
    })
}

/// A workload of one statement.
pub(super) fn from_sql(text: &str) -> DocumentResult<Workload> {
    let document = TomlDocument { path: Path::new("query"), text };
    let refuse = |error: sql::SqlError| document.unexpected(0, error.found, error.expected);
    let compiled = sql::compile(text).map_err(refuse)?;
    if let Some(name) = compiled.names.first() {
        return Err(document.unexpected(
            0,
            format!("parameter `:{name}`"),
            "a query without parameters; a workload file gives them keys",
        ));
    }
    let operation = Operation {
        name: "query".to_owned(),
        weight: 1.0,
        think: None,
        retry: RetryPolicy::default(),
        limits: Vec::new(),
    };
    let kind = StatementKind::Sql(compiled.text);
    let statement = Statement { operation: OperationId(0), name: "query".to_owned(), kind };
    let steps = vec![ScriptStep::plain(StatementId(0))];
    let script = ScriptDocument { start: Vec::new(), steps };
    Ok(Workload {
        name: "query".to_owned(),
        description: "One statement, again and again.".to_owned(),
        source: text.to_owned(),
        tables: Vec::new(),
        operations: vec![operation],
        statements: vec![statement],
        limits: Vec::new(),
        scripts: WorkloadScripts { keys: Vec::new(), operations: vec![script] },
        data: Vec::new(),
        script: None,
    })
}

/// The limits of the run or of an operation.
fn limits(section: &DocumentSection<'_, '_>) -> DocumentResult<Vec<WorkloadLimit>> {
    let Some(node) = section.get("limits") else { return Ok(Vec::new()) };
    let limit = |node: DocumentNode<'_, '_>| {
        let text = node.text()?;
        let limit = text.parse::<WorkloadLimit>();
        limit.map_err(|error| node.unexpected(error.expected))
    };
    node.list()?.into_iter().map(limit).collect()
}

/// A name: short, and of characters that need no quoting in reports, flags and most SQL.
fn identifier<'t>(node: &DocumentNode<'t, '_>) -> DocumentResult<&'t str> {
    const LENGTH_MAX: usize = 63;
    let name = node.text()?;
    let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let sound = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    if first && name.chars().all(sound) && name.len() <= LENGTH_MAX && !name.ends_with(' ') {
        return Ok(name);
    }
    Err(node
        .unexpected("a name: a letter, then letters, digits, `_`, `-`, `.` or blanks, 63 bytes"))
}

/// A name that SQL takes without quotes: a table, column, index or key.
fn sql_name<'t>(node: &DocumentNode<'t, '_>) -> DocumentResult<&'t str> {
    let name = identifier(node)?;
    if is_sql_name(name) {
        return Ok(name);
    }
    Err(node.unexpected("a name for SQL: ASCII letters, digits and `_` only"))
}

fn is_sql_name(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.len() <= 63 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Refuses a name that is among the earlier ones.
fn distinct<'a>(
    node: &DocumentNode<'_, '_>,
    kind: &'static str,
    name: &str,
    mut earlier: impl Iterator<Item = &'a str>,
) -> DocumentResult<()> {
    if earlier.any(|other| other == name) {
        return Err(WorkloadError::Duplicate { place: node.place(), kind, name: name.to_owned() });
    }
    Ok(())
}
