//! The statements of a workload, told to an engine before the run.

use dbtime_model::OperationId;

/// One statement: engines prepare it once per connection and execute it by its
/// [`dbtime_model::StatementId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The operation it belongs to; each operation has its own BEGIN and COMMIT, so that their
    /// times are told apart.
    pub operation: OperationId,
    /// Its name in reports: `fetch account`, `begin`, `commit`.
    pub name: String,
    /// What it is.
    pub kind: StatementKind,
}

/// What a statement is. The engine knows how its database writes the boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Starts a transaction. A writer says so at once, where the database has a form for it
    /// (BEGIN IMMEDIATE).
    Begin {
        /// Whether it will write.
        write: bool,
    },
    /// Ends a transaction well.
    Commit,
    /// Undoes a transaction.
    Rollback,
    /// SQL with its parameters as `?1`, `?2`, … in the order of
    /// [`crate::program::ProgramStep::Execute`]'s `parameters`.
    Sql(String),
}

impl StatementKind {
    /// The text, with its parameters as `?1`, `?2`, …
    pub fn text(&self) -> &str {
        match self {
            Self::Begin { .. } => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
            Self::Sql(sql) => sql,
        }
    }

    /// The text of [`Self::Sql`] between its placeholders, one piece more than there are of them,
    /// for databases that write placeholders their own way. Nothing for the others.
    pub fn pieces(&self) -> Vec<&str> {
        match self {
            Self::Sql(sql) => crate::workload::pieces(sql),
            _ => Vec::new(),
        }
    }
}
