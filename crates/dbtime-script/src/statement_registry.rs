//! The statements that a script's programs have executed, numbered as they come.
//!
//! A script may make its statements up as it goes, so they are told apart by their fingerprint:
//! the text without its literals. All threads share one registry; each keeps a copy of what it has
//! looked up.

use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::{OperationId, StatementId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Statements that are told apart; what comes beyond them is booked under one name.
pub(crate) const MAX_STATEMENTS: usize = 1000;

/// What the rest is booked under.
const OTHER_STATEMENTS: &str = "(other statements)";

/// The registry that all threads share.
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
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (operation, fingerprint.to_owned());
        if let Some(&id) = state.ids.get(&key) {
            return id;
        }
        let is_full = state.statements.len() >= MAX_STATEMENTS;
        let key = if is_full { (OperationId(0), OTHER_STATEMENTS.to_owned()) } else { key };
        if let Some(&id) = state.ids.get(&key) {
            return id;
        }
        let id = StatementId(state.statements.len() as u16);
        let kind = StatementKind::Sql(key.1.clone());
        state.statements.push(Statement { operation: key.0, name: name(&key.1), kind });
        state.ids.insert(key, id);
        id
    }

    /// All statements so far, by number.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).statements.clone()
    }
}

/// Its name: the text in one line, as far as people read on.
fn name(fingerprint: &str) -> String {
    const MAX_NAME_CHARS: usize = 120;
    let words = fingerprint.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_number_and_the_rest_shares_one() {
        let registry = StatementRegistry::default();
        let first = registry.number(OperationId(0), "SELECT ?");
        assert_eq!(registry.number(OperationId(0), "SELECT ?"), first);
        assert_ne!(registry.number(OperationId(1), "SELECT ?"), first);
        for index in 0..MAX_STATEMENTS + 5 {
            registry.number(OperationId(0), &format!("SELECT ? FROM t{index}"));
        }
        let statements = registry.statements();
        assert_eq!(statements.len(), MAX_STATEMENTS + 1);
        assert_eq!(statements[MAX_STATEMENTS].name, OTHER_STATEMENTS);
        assert_eq!(
            registry.number(OperationId(0), "new"),
            registry.number(OperationId(0), "newer")
        );
    }
}
