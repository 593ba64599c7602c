//! The names of a workload's statements, by their numbers and by their texts.

#[cfg(feature = "trace")]
use crate::summary::fingerprint_of;
use dbtime_load::workload::Workload;
#[cfg(feature = "trace")]
use dbtime_model::OperationId;
use dbtime_model::StatementId;
#[cfg(feature = "trace")]
use rustc_hash::FxHashMap;

/// Names such as `withdraw: commit`.
pub(crate) struct WorkloadNames {
    statements: Vec<String>,
    #[cfg(feature = "trace")]
    operations: Vec<String>,
    #[cfg(feature = "trace")]
    by_fingerprint: FxHashMap<String, usize>,
}

impl WorkloadNames {
    pub(crate) fn of(workload: &Workload) -> Self {
        let statements = workload.executed_statements();
        #[cfg(feature = "trace")]
        let by_fingerprint = {
            let mut places = FxHashMap::default();
            for (index, statement) in statements.iter().enumerate() {
                // The same text in several operations is that of none of them.
                let place = places.entry(fingerprint_of(&statement.kind));
                place.and_modify(|at| *at = usize::MAX).or_insert(index);
            }
            places
        };
        let operation = |index: u16| &workload.operations[usize::from(index)].name;
        let names = statements.iter().map(|one| (operation(one.operation.0), &one.name));
        Self {
            statements: names.map(|(operation, name)| format!("{operation}: {name}")).collect(),
            #[cfg(feature = "trace")]
            operations: workload.operations.iter().map(|one| one.name.clone()).collect(),
            #[cfg(feature = "trace")]
            by_fingerprint,
        }
    }

    /// The name of a statement; `None` where it has no place in the workload.
    pub(crate) fn statement(&self, id: StatementId) -> Option<&str> {
        self.statements.get(usize::from(id.0)).map(String::as_str)
    }

    /// The name of a statement; that of its operation where it has no place in the workload.
    #[cfg(feature = "trace")]
    pub(crate) fn name(&self, operation: OperationId, statement: Option<StatementId>) -> String {
        let name = statement.and_then(|id| self.statement(id)).map(str::to_owned);
        let operation = || self.operations.get(usize::from(operation.0)).cloned();
        name.or_else(operation).unwrap_or_default()
    }

    /// The name of the statement with this text; where it is none of the workload's, or that of
    /// several, the text without its literals.
    #[cfg(feature = "trace")]
    pub(crate) fn of_text(&self, text: &str) -> String {
        let mut fingerprint = String::new();
        dbtime_sql::fingerprint(text, &mut fingerprint);
        let name = self.by_fingerprint.get(&fingerprint).and_then(|at| self.statements.get(*at));
        name.cloned().unwrap_or(fingerprint)
    }
}
