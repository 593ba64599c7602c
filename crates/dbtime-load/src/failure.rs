//! What a failed statement or connection looks like, whatever the database.

use dbtime_model::ErrorClass;

/// Why a statement failed, or a connection could not be made or was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What a client can do about it.
    pub class: ErrorClass,
    /// The database's own code, such as `SQLITE_BUSY`, `1213` or `40P01`; the system's name of an
    /// error such as `ECONNREFUSED`.
    pub code: String,
    /// SQLSTATE, five characters; empty where the database gave none.
    pub state: String,
    /// The database's own words.
    pub message: String,
    /// The database has rolled the transaction back by itself.
    pub undone: bool,
}

impl Failure {
    /// A connection that could not be made or was lost: whatever was open on it is undone.
    pub fn connection(code: &str, message: impl Into<String>) -> Self {
        Self {
            class: ErrorClass::Connection,
            code: code.to_owned(),
            state: String::new(),
            message: message.into(),
            undone: true,
        }
    }
}
