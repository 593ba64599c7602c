//! The names of a workload's operations and statements, also where a script makes them on the way.

use super::execution_row::ExecutionRow;
use dbtime_load::workload::Workload;
use dbtime_model::driven_file::DrivenNames;
use std::sync::Arc;

/// The names behind the numbers of rows.
pub(crate) struct StatementNames {
    operations: Vec<String>,
    statements: Vec<String>,
    /// Where there may come to be more.
    workload: Option<Arc<Workload>>,
}

impl StatementNames {
    /// Those of a workload that is run.
    pub(super) fn new(workload: Arc<Workload>) -> Self {
        let operations = workload.operations.iter().map(|one| one.name.clone()).collect();
        Self { operations, statements: Vec::new(), workload: Some(workload) }
    }

    /// Those of one that was run.
    pub(crate) fn recorded(names: &DrivenNames) -> Self {
        let statements = names.statements.iter().map(|one| one.name.clone()).collect();
        Self { operations: names.operations.clone(), statements, workload: None }
    }

    /// Learns the names of these rows: a script adds statements while it runs.
    pub(super) fn learn(&mut self, rows: &[ExecutionRow]) {
        let Some(workload) = &self.workload else { return };
        let last = rows.iter().filter_map(|row| row.statement).max();
        if last.is_some_and(|last| usize::from(last.0) >= self.statements.len()) {
            let statements = workload.executed_statements();
            self.statements = statements.into_iter().map(|one| one.name.to_string()).collect();
        }
    }

    pub(super) fn operation(&self, row: &ExecutionRow) -> Option<&str> {
        self.operations.get(usize::from(row.operation.0)).map(String::as_str)
    }

    pub(super) fn statement(&self, row: &ExecutionRow) -> Option<&str> {
        self.statements.get(usize::from(row.statement?.0)).map(String::as_str)
    }
}
