//! The names of a workload's statements, by their numbers and by their texts.

use crate::summary::fingerprint_of;
use dbtime_load::workload::Workload;
use dbtime_model::OperationId;
use dbtime_model::StatementId;
use dbtime_model::driven_file::{DrivenNames, DrivenStatementName};
use dbtime_sql::LexicalRules;
use rustc_hash::FxHashMap;

/// What a workload calls its operations and statements, those included that a script has made;
/// texts are read by these rules.
pub(crate) fn driven_names(workload: &Workload, rules: &LexicalRules) -> DrivenNames {
    let statements = workload.executed_statements();
    let name = |one: &dbtime_load::statement::Statement| DrivenStatementName {
        operation: one.operation.0,
        name: one.name.to_string(),
        fingerprint: fingerprint_of(&one.kind, rules),
    };
    DrivenNames {
        operations: workload.operations.iter().map(|one| one.name.clone()).collect(),
        statements: statements.iter().map(name).collect(),
    }
}

/// Names such as `withdraw: commit`.
pub(crate) struct WorkloadNames {
    statements: Vec<String>,
    operations: Vec<String>,
    by_fingerprint: FxHashMap<String, usize>,
}

impl From<DrivenNames> for WorkloadNames {
    fn from(names: DrivenNames) -> Self {
        let by_fingerprint = {
            let mut places = FxHashMap::default();
            for (index, statement) in names.statements.iter().enumerate() {
                // The same text in several operations is that of none of them.
                let place = places.entry(statement.fingerprint.clone());
                place.and_modify(|at| *at = usize::MAX).or_insert(index);
            }
            places
        };
        let operation = |one: &DrivenStatementName| {
            names.operations.get(usize::from(one.operation)).map_or("", String::as_str)
        };
        let name = |one: &DrivenStatementName| format!("{}: {}", operation(one), one.name);
        Self {
            statements: names.statements.iter().map(name).collect(),
            by_fingerprint,
            operations: names.operations,
        }
    }
}

impl WorkloadNames {
    pub(crate) fn of(workload: &Workload, rules: &LexicalRules) -> Self {
        driven_names(workload, rules).into()
    }

    /// The name of a statement; `None` where it has no place in the workload.
    pub(crate) fn statement(&self, id: StatementId) -> Option<&str> {
        self.statements.get(usize::from(id.0)).map(String::as_str)
    }

    /// The name of a statement; that of its operation where it has no place in the workload.
    pub(crate) fn name(&self, operation: OperationId, statement: Option<StatementId>) -> String {
        let name = statement.and_then(|id| self.statement(id)).map(str::to_owned);
        let operation = || self.operations.get(usize::from(operation.0)).cloned();
        name.or_else(operation).unwrap_or_default()
    }

    /// The name of the statement with this fingerprint; where it is none of the workload's, or that
    /// of several, the fingerprint.
    pub(crate) fn of_fingerprint<'a>(&'a self, fingerprint: &'a str) -> &'a str {
        let name = self.by_fingerprint.get(fingerprint).and_then(|at| self.statements.get(*at));
        name.map_or(fingerprint, String::as_str)
    }
}
