//! What `dbtime query` shows: the answer in a sentence or two, both forms beside each other,
//! whether their rows are the same, where they go different ways, and what was tried to make them
//! faster.

mod advice;
mod answer;
mod counters;
mod document;
mod forms;
mod plan_tree;
mod ratio_text;
mod rows;
#[cfg(test)]
mod tests;
mod tournament;

pub use document::{QueryReportOptions, query_document};
