//! A form of a statement as it is executed, and the key that it takes.

use dbtime_model::Product;

/// A form's text in the writing of its database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormText {
    /// `A` or `B`, or how a trial calls it.
    pub(crate) name: String,
    /// Where its text comes from.
    pub(crate) source: String,
    /// The text as it was given, without a `;` at its end.
    pub(crate) given: String,
    /// The text with the database's own placeholders.
    pub(crate) native: String,
    /// The names of its parameters, each once, in the order of their first places: `id`, `1`.
    pub(crate) parameters: Vec<String>,
    /// For each placeholder of `native` the index of its parameter among `parameters`.
    pub(crate) order: Vec<usize>,
    /// Whether it changes rows.
    pub(crate) writes: bool,
    /// What is set before each execution and taken back behind it, outside of its time.
    pub(crate) switch: Option<PlanSwitch>,
}

/// Statements around an execution, which steer the planner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanSwitch {
    /// Before it.
    pub(crate) before: Vec<String>,
    /// Behind it, which undo that.
    pub(crate) after: Vec<String>,
}

/// How a product writes the `n`th placeholder, from 1.
pub(crate) fn placeholder(product: Product, n: usize) -> String {
    match product {
        Product::Postgres => format!("${n}"),
        Product::Mariadb | Product::Mysql | Product::Sqlite => "?".to_owned(),
    }
}
