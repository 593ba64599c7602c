//! A connection with what is known of its database, and the forms that it executes.

use super::form_text::FormText;
use super::place::QueryPlace;
use super::write_guard::WriteGuard;
use crate::error::LabError;
use dbtime_engines::server::{
    ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer, StatementBound,
    StatementConnection,
};
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::{Product, SqlDialect};
use dbtime_observe::counters::ServerVersion;

/// A connection to a place.
pub(crate) struct QuerySession<'a> {
    pub(crate) place: &'a dyn QueryPlace,
    pub(crate) connection: Box<dyn StatementConnection>,
    /// Which product answers: `mysql://` may be MariaDB.
    pub(crate) product: Product,
    pub(crate) version: ServerVersion,
    /// Product and version: `MariaDB 10.11.19`.
    pub(crate) title: String,
    /// What was set for the session, in order.
    pub(crate) settings: Vec<String>,
    /// Whether what writes is committed.
    pub(crate) commits: bool,
    /// What keeps what is written from staying, where nothing is committed.
    pub(super) guard: WriteGuard,
    bound: StatementBound,
    /// Whether a transaction is open that sees one state of the data.
    pub(super) has_snapshot: bool,
}

/// A form that is prepared on a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionForm {
    pub(crate) text: FormText,
    /// `None`: the database prepares no such statement, which has no parameters then.
    pub(crate) prepared: Option<PreparedForm>,
}

impl<'a> QuerySession<'a> {
    /// Connects, and asks who is there.
    ///
    /// # Errors
    /// When the database cannot be reached, does not let us in, or does not say its version.
    pub(crate) fn open(
        place: &'a dyn QueryPlace,
        bound: &StatementBound,
        commits: bool,
    ) -> Result<Self, LabError> {
        let mut connection = place.connect(bound)?;
        let dialect = place.dialect();
        let answer = connection.table(version_query(dialect));
        let answer = answer.map_err(|failure| refused(place, failure))?;
        let text = answer.value().unwrap_or_default();
        let version = ServerVersion::parse(text).unwrap_or_default();
        let product = product_of(dialect, text);
        let number = text.split([' ', '-']).next().unwrap_or_default();
        let title = format!("{} {number}", product.title());
        Ok(Self {
            place,
            connection,
            product,
            version,
            title,
            settings: Vec::new(),
            commits,
            guard: WriteGuard::default(),
            bound: bound.clone(),
            has_snapshot: false,
        })
    }

    /// Another session on the same place, set as this one is. Where the database is in this
    /// process, its connection measures where the time of executions goes.
    ///
    /// # Errors
    /// When no other connection is to be had, or it refuses a setting.
    pub(crate) fn beside(&self) -> Result<Self, LabError> {
        let place = self.place;
        let mut connection: Box<dyn StatementConnection> = match place.sqlite() {
            Some(target) => Box::new(target.measured_statements(&self.bound)?),
            None => place.connect(&self.bound)?,
        };
        for sql in &self.settings {
            connection.table(sql).map_err(|failure| refused(place, failure))?;
        }
        Ok(Self {
            place,
            connection,
            product: self.product,
            version: self.version,
            title: self.title.clone(),
            settings: self.settings.clone(),
            commits: self.commits,
            guard: self.guard.beside(),
            bound: self.bound.clone(),
            has_snapshot: false,
        })
    }

    /// Ends in the server what is not waited for any more: it would go on with that.
    pub(crate) fn end_given_up(&self) {
        if self.connection.is_given_up()
            && let Some(number) = self.connection.number()
        {
            self.place.end_statement(number);
        }
    }

    /// Sets something for the session and remembers it. Returns why it was refused.
    pub(crate) fn set(&mut self, sql: &str) -> Result<(), Box<DatabaseFailure>> {
        self.connection.table(sql)?;
        self.settings.push(sql.to_owned());
        Ok(())
    }

    /// The rows of a question of dbtime's own.
    pub(crate) fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        self.connection.table(sql)
    }

    /// Prepares a form, while its switch is on.
    ///
    /// # Errors
    /// What the database says of it.
    pub(crate) fn prepare(&mut self, text: &FormText) -> StatementAnswer<SessionForm> {
        match self.under_switch(text, |session| session.prepare_now(text))? {
            // MariaDB refuses it here already.
            Err(failure) if self.is_refused_write(&failure) => {
                self.undo_writes()?;
                self.under_switch(text, |session| session.prepare_now(text))?
            }
            answer => answer,
        }
    }

    fn prepare_now(&mut self, text: &FormText) -> StatementAnswer<SessionForm> {
        match self.connection.prepare(&text.native) {
            Ok(prepared) => Ok(SessionForm { text: text.clone(), prepared: Some(prepared) }),
            // 1295: This command is not supported in the prepared statement protocol yet.
            Err(failure) if failure.code == "1295" && text.order.is_empty() => {
                Ok(SessionForm { text: text.clone(), prepared: None })
            }
            Err(failure) => Err(failure),
        }
    }

    /// Forgets a form that was prepared.
    pub(crate) fn forget(&mut self, form: SessionForm) {
        if let Some(prepared) = form.prepared {
            self.connection.forget(prepared);
        }
    }

    /// Does something while the switch of a form is on.
    ///
    /// # Errors
    /// When the switch is refused.
    pub(crate) fn under_switch<T>(
        &mut self,
        form: &FormText,
        work: impl FnOnce(&mut Self) -> T,
    ) -> StatementAnswer<T> {
        let Some(switch) = &form.switch else { return Ok(work(self)) };
        for sql in &switch.before {
            self.connection.table(sql)?;
        }
        let done = work(self);
        if !self.connection.is_given_up() {
            for sql in &switch.after {
                self.connection.table(sql)?;
            }
        }
        Ok(done)
    }

    /// Executes a form with a key, which has a value for each of its parameters. What it writes is
    /// taken back, unless the session commits; the instants are those of the statement alone.
    ///
    /// # Errors
    /// What the database says.
    pub(crate) fn execute(
        &mut self,
        form: &SessionForm,
        key: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        match self.execute_once(form, key, rows) {
            Err(failure) if self.is_refused_write(&failure) => {
                self.undo_writes()?;
                self.execute_once(form, key, rows)
            }
            answer => answer,
        }
    }

    fn execute_once(
        &mut self,
        form: &SessionForm,
        key: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let is_undone = self.is_undone(&form.text);
        if is_undone {
            self.begin_undone()?;
        }
        let answer = self.under_switch(&form.text, |session| session.plain(form, key, rows));
        if is_undone && !self.connection.is_given_up() {
            self.roll_back()?;
        }
        self.count_committed(matches!(answer, Ok(Ok(_))));
        answer?
    }

    fn plain(
        &mut self,
        form: &SessionForm,
        key: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let Some(prepared) = &form.prepared else {
            return self.connection.run_text(&form.text.native, rows);
        };
        let value = |at: &usize| key.get(*at).cloned().unwrap_or_default();
        let parameters: Vec<SqlValue> = form.text.order.iter().map(value).collect();
        self.connection.execute(prepared, &parameters, rows)
    }

    /// Begins a transaction in which all executions see one state of the data. Returns how the
    /// database calls it.
    ///
    /// # Errors
    /// What the database says.
    pub(crate) fn begin_snapshot(&mut self) -> StatementAnswer<&'static str> {
        let (statements, name): (&[&str], _) = match self.product.dialect() {
            SqlDialect::Postgres => (&["BEGIN ISOLATION LEVEL REPEATABLE READ"], "REPEATABLE READ"),
            SqlDialect::Mysql => (
                &[
                    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                ],
                "CONSISTENT SNAPSHOT",
            ),
            SqlDialect::Sqlite => (&["BEGIN"], "a read transaction"),
        };
        for sql in statements {
            self.connection.table(sql)?;
        }
        self.has_snapshot = true;
        Ok(name)
    }

    /// Ends it; nothing that happened in it stays.
    pub(crate) fn end_snapshot(&mut self) {
        self.has_snapshot = false;
        if !self.connection.is_given_up() {
            // Where the connection is gone, so is the transaction.
            let _ = self.connection.table("ROLLBACK");
        }
    }
}

fn version_query(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Mysql => "SELECT VERSION()",
        SqlDialect::Postgres => "SHOW server_version",
        SqlDialect::Sqlite => "SELECT sqlite_version()",
    }
}

/// The product that says this of its version.
fn product_of(dialect: SqlDialect, version: &str) -> Product {
    match dialect {
        SqlDialect::Postgres => Product::Postgres,
        SqlDialect::Sqlite => Product::Sqlite,
        SqlDialect::Mysql if version.contains("MariaDB") => Product::Mariadb,
        SqlDialect::Mysql => Product::Mysql,
    }
}

/// That a place answers nothing.
fn refused(place: &dyn QueryPlace, failure: Box<DatabaseFailure>) -> LabError {
    LabError::Refused { target: place.url(), failure }
}

#[cfg(test)]
mod tests {
    use super::super::fake_place::FakePlace;
    use super::*;
    use dbtime_model::Nanos;

    fn text(native: &str, order: &[usize]) -> FormText {
        let (given, native) = (native.to_owned(), native.to_owned());
        FormText { given, native, order: order.to_vec(), ..FormText::default() }
    }

    #[test]
    fn what_is_not_prepared_is_executed_as_a_text() {
        let place = FakePlace::new(SqlDialect::Mysql, |_, _, _| Ok(Nanos::from_micros(7)));
        let (check, find) = ("CHECK TABLE t", "SELECT a FROM t WHERE id = ?");
        place.refuse_to_prepare(check);
        place.refuse_to_prepare(find);
        let mut session = place.session();
        let form = session.prepare(&text(check, &[])).expect("a form");
        assert_eq!(form.prepared, None);
        let instants = session.execute(&form, &[], &mut ()).expect("an execution");
        assert_eq!(instants.done - instants.sent, Nanos::from_micros(7));
        assert_eq!(place.executed(), [(check.to_owned(), Vec::new())]);
        session.forget(form);
        // A text has no place for values.
        let refusal = session.prepare(&text(find, &[0])).expect_err("no form");
        assert_eq!(refusal.code, "1295");
    }
}
