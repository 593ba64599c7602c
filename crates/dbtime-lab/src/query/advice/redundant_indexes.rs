//! Indexes that another one makes superfluous: every write pays for them.

use super::indexes::drop_index;
use super::{AdviceInput, AdviceProposal, IndexFacts, ProposedTrial, TableFacts};
use super::{is_same_name, untried};
use dbtime_model::{Product, SqlDialect};

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let of_table = |table| redundant(input, table).map(move |(one, by)| (table, one, by));
    let pairs = input.scene.tables.iter().flat_map(of_table);
    pairs.map(|(table, one, by)| proposal(input, table, one, by)).collect()
}

/// The redundant indexes of a table, each with the one that does for both.
fn redundant<'t>(
    input: &AdviceInput<'_>,
    table: &'t TableFacts,
) -> impl Iterator<Item = (&'t IndexFacts, &'t IndexFacts)> {
    // InnoDB's have the columns of the primary key behind their own anyway.
    let primary = table.indexes.iter().find(|index| index.is_primary);
    let primary = primary.filter(|_| input.dialect() == SqlDialect::Mysql);
    let indexes = table.indexes.iter().enumerate();
    indexes.filter(|(_, one)| !one.is_unique && !one.is_primary).filter_map(move |(at, one)| {
        let own = own_columns(one, primary);
        let by = table.indexes.iter().enumerate().find(|(other_at, other)| {
            let is_longer = own_columns(other, primary).len() > own.len();
            // Of two that are the same the later one is to go.
            let is_kept = is_longer || other.is_unique || other_at < &at;
            *other_at != at && begins_with(&other.columns, own) && is_kept
        });
        by.map(|(_, by)| (one, by))
    })
}

/// The columns of an index without those of the primary key at its end.
fn own_columns<'t>(index: &'t IndexFacts, primary: Option<&IndexFacts>) -> &'t [String] {
    let columns = index.columns.as_slice();
    let key = primary.map(|primary| primary.columns.as_slice()).unwrap_or_default();
    let own = columns.len().saturating_sub(key.len());
    if own > 0 && begins_with(&columns[own..], key) { &columns[..own] } else { columns }
}

fn begins_with(columns: &[String], first: &[String]) -> bool {
    let mut pairs = columns.iter().zip(first);
    columns.len() >= first.len() && pairs.all(|(one, other)| is_same_name(one, other))
}

fn proposal(
    input: &AdviceInput<'_>,
    table: &TableFacts,
    one: &IndexFacts,
    by: &IndexFacts,
) -> AdviceProposal {
    let list = |index: &IndexFacts| format!("{} ({})", index.name, index.columns.join(", "));
    let finding = format!("{} of {} has nothing that {} lacks", one.name, table.name, by.name);
    let evidence = vec![list(one), list(by)];
    let sql = drop_index(input.dialect(), &quoted(input, one), &table.name);
    let caveats = vec![
        "a foreign key or a hint may want it by its name".to_owned(),
        "it is smaller, and may be faster to read from one end to the other".to_owned(),
    ];
    AdviceProposal {
        advice: untried("redundant-index", finding, evidence, vec![sql], caveats),
        trial: hidden(input, table, one),
        share: 0.0,
    }
}

/// The index hidden from the planner, where that can be done without dropping it; on a copy alone,
/// because others would do without it too.
fn hidden(input: &AdviceInput<'_>, table: &TableFacts, index: &IndexFacts) -> ProposedTrial {
    let version = (input.scene.version.major, input.scene.version.minor);
    let (hide, show) = match input.scene.product {
        Product::Mysql if version >= (8, 0) => ("INVISIBLE", "VISIBLE"),
        Product::Mariadb if version >= (10, 6) => ("IGNORED", "NOT IGNORED"),
        _ => return ProposedTrial::None,
    };
    if !input.scene.is_copy {
        return ProposedTrial::None;
    }
    let name = quoted(input, index);
    let alter = |word: &str| format!("ALTER TABLE {} ALTER INDEX {name} {word}", table.name);
    ProposedTrial::Statements { run: vec![alter(hide)], undo: vec![alter(show)] }
}

/// The name as no other one is read.
fn quoted(input: &AdviceInput<'_>, index: &IndexFacts) -> String {
    let quote = match input.dialect() {
        SqlDialect::Mysql => "`",
        SqlDialect::Postgres | SqlDialect::Sqlite => "\"",
    };
    format!("{quote}{}{quote}", index.name.replace(quote, &quote.repeat(2)))
}
