//! Queries of a server over a connection that blocks, with its name in whatever it refuses.

use super::admin::AdminConnection;
use super::dialect::ServerDialect;
use super::error::{ServerError, is_lost};
use crate::socket::{
    ExchangeBound, Protocol, QueryTable as Rows, SocketClient, SocketSettings, TlsError,
};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::workload::WorkloadTable;
use dbtime_sql::{LexicalRules, StatementShapes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A connection to a server, and its name for errors.
pub struct AdminSession<'a> {
    /// As `--target` takes it, without password.
    pub target: &'a str,
    /// The connection.
    pub admin: &'a mut dyn AdminConnection,
}

impl AdminSession<'_> {
    /// Executes a statement and returns its rows.
    ///
    /// # Errors
    /// [`ServerError::Refused`], with the statement.
    pub fn query(&mut self, sql: &str) -> Result<Rows, ServerError> {
        match self.admin.query(sql) {
            Ok((rows, _)) => Ok(rows),
            Err(failure) => Err(self.failed(sql, failure)),
        }
    }

    /// Whether the server knows this connection by another number than the one it was given:
    /// whoever let it in is not the server. `sql` asks for that number.
    pub(crate) fn is_pooled(&mut self, sql: &str) -> bool {
        let given = self.admin.number();
        let known = self.admin.query(sql).ok();
        // MariaDB's greeting has the lower half of it.
        let known = known.and_then(|(rows, _)| rows.value()?.parse::<u64>().ok());
        given.zip(known).is_some_and(|(given, known)| given != known as u32)
    }

    /// Executes a statement that builds or moves data, as long as it takes.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn build(&mut self, sql: &str) -> Result<(), ServerError> {
        match self.admin.build(sql) {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.failed(sql, failure)),
        }
    }

    /// The value of each of these settings that the server knows; `sql` is the query up to the list
    /// of their names.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub(crate) fn settings(
        &mut self,
        sql: &str,
        names: &[&str],
    ) -> Result<BTreeMap<String, String>, ServerError> {
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let rows = self.query(&format!("{sql} IN ({})", names.join(", ")))?.rows;
        let pair = |row: Vec<Option<String>>| {
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            Some((values.next()?, values.next()?))
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    /// Bytes of tables with their indexes; `sql` is the query up to the list of their names.
    /// `None`: there are no tables, or the server does not tell.
    pub(crate) fn table_bytes(
        &mut self,
        tables: &[WorkloadTable],
        dialect: &dyn ServerDialect,
        sql: &str,
    ) -> Result<Option<u64>, ServerError> {
        if tables.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = tables.iter().map(|table| dialect.text(&table.name)).collect();
        let rows = self.query(&format!("{sql} IN ({})", names.join(", ")))?;
        Ok(rows.value().and_then(|text| text.parse().ok()))
    }

    /// That the server refuses a statement of a workload, or has not said whether it does.
    pub(crate) fn unfit(
        &self,
        name: &str,
        sql: &str,
        failure: Box<DatabaseFailure>,
    ) -> ServerError {
        let (what, failure) = refusal(self.target, name, sql, failure);
        self.refused(what, failure)
    }

    /// That the server does not take rows of a table.
    pub(crate) fn not_loaded(
        &self,
        table: &WorkloadTable,
        mut failure: Box<DatabaseFailure>,
    ) -> ServerError {
        failure.message = load_message(self.target, table, &failure);
        self.refused(format!("cannot load table {}", table.name), failure)
    }

    fn failed(&self, sql: &str, mut failure: Box<DatabaseFailure>) -> ServerError {
        failure.message = own_message(self.target, sql, &failure);
        self.refused(format!("`{sql}` failed"), failure)
    }

    /// That the server refuses what was attempted.
    pub(crate) fn refused(&self, what: String, failure: Box<DatabaseFailure>) -> ServerError {
        ServerError::Refused { target: self.target.to_owned(), what, failure }
    }
}

/// What is said of a statement that a server refuses, and the failure: the text of one that may
/// have a password without quotes is left out, and so is what the server repeats of it.
fn refusal(
    target: &str,
    name: &str,
    sql: &str,
    mut failure: Box<DatabaseFailure>,
) -> (String, Box<DatabaseFailure>) {
    let shapes = StatementShapes::of([sql], &LexicalRules::of_protocol(None)).with_names(target);
    let text = shapes.in_parentheses(sql);
    let verdict = if is_lost(&failure) { "could not be checked" } else { "is refused" };
    failure.message = shapes.without_repeated(&failure.code, &failure.message).into_owned();
    (format!("statement `{name}`{text} {verdict}"), failure)
}

/// What is said of a statement of dbtime's own, without names that neither it nor the target has: a
/// trigger or a view may have made them of values.
fn own_message(target: &str, sql: &str, failure: &DatabaseFailure) -> String {
    let shapes = StatementShapes::of([sql], &LexicalRules::of_protocol(None)).with_names(sql);
    shapes.with_names(target).without_repeated(&failure.code, &failure.message).into_owned()
}

/// The same of rows that are loaded into a table.
fn load_message(target: &str, table: &WorkloadTable, failure: &DatabaseFailure) -> String {
    let columns = table.columns.iter().map(|column| column.name.as_str());
    let names = columns.chain([table.name.as_str(), target]);
    let shapes = names.fold(StatementShapes::unknown(), StatementShapes::with_names);
    shapes.without_unknown_names(&failure.code, &failure.message).into_owned()
}

/// Makes a connection for loading and looking.
///
/// # Errors
/// When it cannot be encrypted as asked for, when the server cannot be reached or does not let us
/// in, and when `bound` ends it.
pub(crate) fn client<P: Protocol>(
    target: String,
    shared: P::Shared,
    sockets: Result<SocketSettings, TlsError>,
    bound: &ExchangeBound,
) -> Result<SocketClient<P>, ServerError> {
    match sockets {
        Ok(sockets) => SocketClient::connect(Arc::new(shared), Arc::new(sockets), bound.clone())
            .map_err(|failure| ServerError::Connect { target, failure }),
        Err(source) => Err(ServerError::Tls { target, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_s_words_on_a_refused_statement_have_no_passwords_and_literals() {
        let told_of = |code: &str, sql: &str, message: &str| {
            let failure = DatabaseFailure::statement(code, "42000", message);
            let (what, failure) = refusal("mysql://u@h/shop", "s", sql, failure.into());
            format!("{what}: {}", failure.message)
        };
        let told = |sql: &str, message: &str| told_of("1064", sql, message);
        let misspelt = "ALTER USER u IDENTIFED BY hush";
        assert_eq!(told(misspelt, "near 'hush' at line 1"), "statement `s` is refused: near ***");
        let select = "SELECT a FROMM t WHERE a = 'hush'";
        let expected = format!("statement `s` ({select}) is refused: near 't WHERE a = ?' at");
        assert_eq!(told(select, "near 't WHERE a = 'hush'' at"), expected);
        let missing = told_of("1146", "CALL p()", "Table 'shop.hush' doesn't exist");
        assert!(missing.ends_with(": Table 'shop.?' doesn't exist"), "{missing}");
    }

    #[test]
    fn a_server_s_words_on_what_is_made_and_loaded_have_no_names_of_others() {
        let table = WorkloadTable {
            name: "account".to_owned(),
            rows: 1,
            per_scale: false,
            columns: Vec::new(),
            indexes: Vec::new(),
        };
        for (code, message, expected) in [
            ("1146", "Table 'shop.hush' doesn't exist", "Table 'shop.?' doesn't exist"),
            ("42P01", "relation \"hush\" does not exist", "relation \"?\" does not exist"),
            ("42P07", "relation \"account\" already exists", ""),
            ("42501", "permission denied for schema public", ""),
            ("1205", "Lock wait timeout exceeded", ""),
        ] {
            let expected = if expected.is_empty() { message } else { expected };
            let failure = DatabaseFailure::statement(code, "42000", message);
            let target = "mysql://u@h/shop";
            let sql = "CREATE TABLE \"account\" (\"id\" BIGINT)";
            assert_eq!(own_message(target, sql, &failure), expected);
            assert_eq!(load_message(target, &table, &failure), expected);
        }
    }
}
