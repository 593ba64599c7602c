//! The statements that a script's programs have executed, numbered as they come.
//!
//! A script may make its statements up as it goes, so they are told apart by their fingerprint:
//! the text without its literals. All threads share one book; each keeps a copy of what it has
//! looked up.

use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::{OperationId, StatementId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Statements that are told apart; what comes beyond them is booked under one name.
pub(crate) const MOST: usize = 1000;

/// What the rest is booked under.
const REST: &str = "(other statements)";

/// The book that all threads share.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatementRegistry(Arc<Mutex<RegistryState>>);

#[derive(Debug, Default)]
struct RegistryState {
    statements: Vec<Statement>,
    ids: HashMap<(OperationId, String), StatementId>,
}

impl StatementRegistry {
    /// The number of a statement of an operation. Of the same text it is always the same.
    pub(crate) fn number(&self, operation: OperationId, fingerprint: &str) -> StatementId {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (operation, fingerprint.to_owned());
        if let Some(&id) = pages.ids.get(&key) {
            return id;
        }
        let is_full = pages.statements.len() >= MOST;
        let key = if is_full { (OperationId(0), REST.to_owned()) } else { key };
        if let Some(&id) = pages.ids.get(&key) {
            return id;
        }
        let id = StatementId(pages.statements.len() as u16);
        let kind = StatementKind::Sql(key.1.clone());
        pages.statements.push(Statement { operation: key.0, name: name(&key.1), kind });
        pages.ids.insert(key, id);
        id
    }

    /// All statements so far, by number.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).statements.clone()
    }
}

/// Its name: the text in one line, as far as people read on.
fn name(fingerprint: &str) -> String {
    const LONGEST: usize = 120;
    let words = fingerprint.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_number_and_the_rest_shares_one() {
        let book = StatementRegistry::default();
        let first = book.number(OperationId(0), "SELECT ?");
        assert_eq!(book.number(OperationId(0), "SELECT ?"), first);
        assert_ne!(book.number(OperationId(1), "SELECT ?"), first);
        for index in 0..MOST + 5 {
            book.number(OperationId(0), &format!("SELECT ? FROM t{index}"));
        }
        let statements = book.statements();
        assert_eq!(statements.len(), MOST + 1);
        assert_eq!(statements[MOST].name, REST);
        assert_eq!(book.number(OperationId(0), "new"), book.number(OperationId(0), "newer"));
    }
}
