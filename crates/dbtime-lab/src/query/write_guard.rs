//! What keeps executions from leaving anything behind that is to be rolled back.
//!
//! A text shows what it writes itself, and not what its functions, views and triggers do. So the
//! server refuses to write for as long as no form is known to; of one that is, each execution is a
//! transaction.

use super::form_text::FormText;
use super::session::QuerySession;
use crate::error::LabError;
use dbtime_engines::server::StatementAnswer;
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::Product;
use dbtime_model::plain_text::legible;
use dbtime_model::units::counted;
use dbtime_observe::counters::ServerVersion;
use dbtime_sql::{StatementOutline, StatementVerb};
use std::cell::Cell;
use std::rc::Rc;

/// Tables of MySQL and MariaDB that no rollback changes back.
const LASTING_TABLES: &str = "SELECT t.TABLE_NAME, t.ENGINE FROM information_schema.TABLES t \
     JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE WHERE e.TRANSACTIONS = 'NO' \
     AND t.TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')";

/// MySQL's warning that a rollback has left changes of tables without transactions.
const NOT_ROLLED_BACK: &str = "1196";

/// Codes of a write in a transaction that only reads: of PostgreSQL, of MySQL and MariaDB.
const READ_ONLY_CODES: [&str; 2] = ["25006", "1792"];

/// How a session that does not commit deals with what is written.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteGuard {
    /// Whether the server refuses to write.
    refuses: bool,
    /// Whether each execution is a transaction that is rolled back.
    undoes: bool,
    /// Whether a form was found to write that does not show it.
    has_found: bool,
    /// That something could not be rolled back; nothing is executed from then on.
    lasting: Option<Box<DatabaseFailure>>,
    /// Executions of a session that commits and of those beside it, without those that are rolled
    /// back all the same.
    committed: Rc<Cell<u64>>,
    /// Whether what is under way is rolled back.
    is_undoing: bool,
    /// What is to be known of all this.
    pub(super) notes: Vec<String>,
}

/// Refuses forms of which something would stay although it is to be rolled back, and prepares the
/// session for the others.
///
/// # Errors
/// [`LabError`]: a form is refused, or the connection is lost.
pub(super) fn guard_writes(
    session: &mut QuerySession<'_>,
    texts: &[FormText],
    outlines: &[StatementOutline],
) -> Result<(), LabError> {
    if session.commits {
        return Ok(());
    }
    for (text, outline) in texts.iter().zip(outlines) {
        let why = outline.irrevocable.clone().or_else(|| session.lasting_table(text));
        if let Some(why) = why {
            return Err(LabError::Usage(format!(
                "{} cannot be rolled back: {why}; --commit executes it all the same, each time for \
                 good",
                text.source
            )));
        }
    }
    // A copy has no functions, and is changed by what is tried on it.
    if session.product == Product::Sqlite || session.place.copy_of().is_some() {
        return Ok(());
    }
    if outlines.iter().any(uses_numbers) {
        session.guard.notes.push(
            "numbers of sequences and AUTO_INCREMENT columns that an execution has used stay used \
             when it is rolled back"
                .to_owned(),
        );
    }
    let is_shown = outlines.iter().any(|outline| outline.writes || outline.locks);
    let target = session.place.url();
    session.refuse_writes(is_shown).map_err(|failure| LabError::Refused { target, failure })
}

/// Whether a statement makes rows, which may be numbered.
fn uses_numbers(outline: &StatementOutline) -> bool {
    use StatementVerb::{Insert, Merge, Replace, With};
    outline.writes && matches!(outline.verb, Insert | Merge | Replace | With)
}

impl WriteGuard {
    /// That of another session which is set alike.
    pub(super) fn beside(&self) -> Self {
        Self { notes: Vec::new(), ..self.clone() }
    }
}

impl QuerySession<'_> {
    /// Has the server refuse to write; where it cannot, or a form is shown to write or to lock,
    /// each execution is rolled back.
    fn refuse_writes(&mut self, is_shown: bool) -> StatementAnswer<()> {
        let can_refuse = !is_shown && self.is_direct();
        let setting = read_only(self.product, self.version).filter(|_| can_refuse);
        if let Some([on, _]) = setting {
            match self.set(on) {
                Ok(()) => self.guard.refuses = true,
                Err(failure) if self.connection.is_given_up() => return Err(failure),
                Err(_) => {}
            }
        }
        self.guard.undoes = !self.guard.refuses;
        Ok(())
    }

    /// Whether the server itself is at the other end, and no pooler, through which others would
    /// find what is set.
    pub(super) fn is_direct(&mut self) -> bool {
        let question = match self.product.speaks_mysql() {
            true => "SELECT CONNECTION_ID()",
            false => "SELECT pg_backend_pid()",
        };
        let answer = self.table(question).unwrap_or_default();
        let found: Option<u32> = answer.value().and_then(|number| number.parse().ok());
        found.is_some() && found == self.connection.number()
    }

    /// Whether a failure is the guard's own.
    pub(super) fn is_refused_write(&self, failure: &DatabaseFailure) -> bool {
        // In a snapshot nothing can be set until it ends.
        self.guard.refuses && !self.has_snapshot && READ_ONLY_CODES.contains(&failure.code.as_str())
    }

    /// Lets the server write again, as its own settings allow, and has each execution rolled back.
    ///
    /// # Errors
    /// What the database says.
    pub(super) fn undo_writes(&mut self) -> StatementAnswer<()> {
        let Some([_, off]) = read_only(self.product, self.version) else { return Ok(()) };
        self.set(off)?;
        self.guard.refuses = false;
        self.guard.undoes = true;
        self.guard.has_found = true;
        self.guard.notes.push(
            "the statement writes by a function, or a view with one: each execution is rolled \
             back; numbers of sequences that it has used stay used"
                .to_owned(),
        );
        Ok(())
    }

    /// Whether each execution is a transaction that is rolled back.
    pub(super) fn undoes_writes(&self) -> bool {
        self.guard.undoes
    }

    /// Whether an execution of a form is rolled back now.
    pub(super) fn is_undone(&self, form: &FormText) -> bool {
        let writes = form.writes || self.undoes_writes();
        writes && !self.commits && !self.has_snapshot
    }

    /// Whether a form writes although its text does not show it.
    pub(super) fn has_found_write(&self) -> bool {
        self.guard.has_found
    }

    /// An execution has ended, and `has_succeeded` or not.
    pub(super) fn count_committed(&self, has_succeeded: bool) {
        let is_kept = self.commits && !self.has_snapshot && !self.guard.is_undoing;
        let committed = &self.guard.committed;
        committed.set(committed.get() + u64::from(has_succeeded && is_kept));
    }

    /// How often what was to be committed was, outside of what is measured, too.
    pub(super) fn committed_note(&self) -> Option<String> {
        self.commits.then(|| {
            let executions = counted(self.guard.committed.get(), "execution");
            format!("committed: {executions}, with those that are not measured")
        })
    }

    /// Begins what [`Self::roll_back`] ends.
    ///
    /// # Errors
    /// What the database says; something has stayed before.
    pub(super) fn begin_undone(&mut self) -> StatementAnswer<()> {
        if let Some(failure) = &self.guard.lasting {
            return Err(failure.clone());
        }
        self.table("BEGIN")?;
        self.guard.is_undoing = true;
        Ok(())
    }

    /// Takes back what was done since.
    ///
    /// # Errors
    /// What the database says; something of it stays.
    pub(super) fn roll_back(&mut self) -> StatementAnswer<()> {
        self.guard.is_undoing = false;
        self.table("ROLLBACK")?;
        if self.commits || !self.product.speaks_mysql() {
            return Ok(());
        }
        let warnings = self.table("SHOW WARNINGS").unwrap_or_default();
        let code = |row: &Vec<Option<String>>| row.get(1).cloned().flatten();
        if warnings.rows.iter().filter_map(code).any(|code| code == NOT_ROLLED_BACK) {
            let failure = Box::new(DatabaseFailure::statement(
                NOT_ROLLED_BACK,
                "HY000",
                "an execution has changed a table without transactions, and could not be rolled \
                 back: no other followed",
            ));
            self.guard.lasting = Some(failure.clone());
            return Err(failure);
        }
        Ok(())
    }

    /// The rows of a query that was given, of which nothing stays either.
    ///
    /// # Errors
    /// What the database says.
    pub(super) fn given_table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        if !self.undoes_writes() {
            return self.table(sql);
        }
        self.begin_undone()?;
        let answer = self.table(sql);
        if !self.connection.is_given_up() {
            self.roll_back()?;
        }
        answer
    }

    /// Why what a form writes stays: it names a table without transactions.
    fn lasting_table(&mut self, form: &FormText) -> Option<String> {
        if !form.writes || !self.product.speaks_mysql() {
            return None;
        }
        // Where the server does not answer this, it shows after the first execution.
        let tables = self.table(LASTING_TABLES).ok()?;
        tables.rows.iter().find_map(|row| {
            let [Some(name), Some(engine)] = row.as_slice() else { return None };
            let (shown, engine) = (legible(name), legible(engine));
            let is_named = is_named(&form.given, name);
            is_named.then(|| format!("table {shown} has no transactions ({engine})"))
        })
    }
}

/// How a server is made to refuse writes, and to do as it is set up to again; `None`: it has no
/// such setting.
fn read_only(product: Product, version: ServerVersion) -> Option<[&'static str; 2]> {
    let at_least = |major, minor| version >= ServerVersion { major, minor };
    match product {
        Product::Postgres => {
            Some(["SET default_transaction_read_only = on", "RESET default_transaction_read_only"])
        }
        Product::Mysql if at_least(8, 0) => Some([
            "SET SESSION TRANSACTION READ ONLY",
            "SET SESSION transaction_read_only = DEFAULT",
        ]),
        Product::Mysql if at_least(5, 6) => {
            Some(["SET SESSION TRANSACTION READ ONLY", "SET SESSION tx_read_only = DEFAULT"])
        }
        Product::Mariadb if at_least(10, 0) => {
            Some(["SET SESSION TRANSACTION READ ONLY", "SET SESSION tx_read_only = DEFAULT"])
        }
        Product::Mariadb | Product::Mysql | Product::Sqlite => None,
    }
}

/// Whether a text has a name as a word of its own.
fn is_named(sql: &str, table: &str) -> bool {
    let (sql, table) = (sql.to_lowercase(), table.to_lowercase());
    let is_of_word = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$');
    sql.match_indices(table.as_str()).any(|(at, found)| {
        !sql[..at].ends_with(is_of_word) && !sql[at + found.len()..].starts_with(is_of_word)
    })
}

#[cfg(test)]
mod tests;
