//! The names of a workload's operations and statements, also where a script makes them on the way.

use super::execution_row::ExecutionRow;
use dbtime_load::workload::Workload;
use std::sync::Arc;

/// The names behind the numbers of rows.
pub(super) struct StatementNames {
    workload: Arc<Workload>,
    statements: Vec<String>,
}

impl StatementNames {
    pub(super) fn new(workload: Arc<Workload>) -> Self {
        Self { workload, statements: Vec::new() }
    }

    /// Learns the names of these rows: a script adds statements while it runs.
    pub(super) fn learn(&mut self, rows: &[ExecutionRow]) {
        let last = rows.iter().filter_map(|row| row.statement).max();
        if last.is_some_and(|last| usize::from(last.0) >= self.statements.len()) {
            let statements = self.workload.executed_statements();
            self.statements = statements.into_iter().map(|one| one.name.to_string()).collect();
        }
    }

    pub(super) fn operation(&self, row: &ExecutionRow) -> Option<&str> {
        let operation = self.workload.operations.get(usize::from(row.operation.0))?;
        Some(&operation.name)
    }

    pub(super) fn statement(&self, row: &ExecutionRow) -> Option<&str> {
        self.statements.get(usize::from(row.statement?.0)).map(String::as_str)
    }
}
