//! A login that finds out who holds what others wait for, without ever making its caller wait.
//!
//! What to ask and what answers mean is in `dbtime_observe::lock_waits`; here is the connection. It
//! is made once and for all: whoever watches a server gives up the right to open another one.

use crate::counters::unreadable_version;
use crate::error::LabError;
use crate::targets::{server_of, traced_pid_of};
use dbtime_engines::server::{AdminConnection, Server};
use dbtime_engines::socket::{ExchangeBound, QueryTable};
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::Product;
use dbtime_model::lock_picture::{LockPicture, ServerSession};
use dbtime_model::{ErrorClass, MonoNanos, Nanos, WireProtocol};
use dbtime_observe::counters::ServerVersion;
use dbtime_observe::lock_waits::{
    LockSurvey, SurveyAnswer, SurveyRefusal, listed_sessions, session_lists,
};

/// How long a server may take for each of the first words, before the watching begins.
const LIST_TIMEOUT: Nanos = Nanos::from_secs(5);

/// How long it may take for one of the others. Nobody waits for it, and a server that stands still
/// says most when it goes on.
const SURVEY_TIMEOUT: Nanos = Nanos::from_secs(600);

/// How long the caller waits at most: most answers come within, and nobody notices on a screen.
const POLL_TIMEOUT: Nanos = Nanos::from_millis(10);

/// The code of a connection that was given up because an answer did not come.
const GIVEN_UP: &str = "timeout";

/// Classes of failure after which a statement may succeed the next time.
const PASSING: [ErrorClass; 3] = [ErrorClass::Timeout, ErrorClass::Busy, ErrorClass::Conflict];

/// Where the server of a login is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginPlace {
    Process(u32),
    /// On this machine, as far as its address says; which process it is was not found.
    Here,
    /// On another one, as far as can be seen.
    Elsewhere,
}

impl LoginPlace {
    /// To be found with the rights that looking at others' processes takes.
    fn of(server: &dyn Server) -> Self {
        match traced_pid_of(server) {
            Some(process) => Self::Process(process),
            None if server.address().is_local() => Self::Here,
            None => Self::Elsewhere,
        }
    }
}

/// A connection that is asked who holds what others wait for.
pub struct HolderLogin {
    admin: Box<dyn AdminConnection>,
    target: String,
    place: LoginPlace,
    product: Product,
    version: ServerVersion,
    survey: LockSurvey,
    /// When the picture that is being made was begun, or the list.
    begun: Option<MonoNanos>,
    /// The statement that lists sessions here, once one has.
    list: Option<&'static str>,
    /// Whether the answer that is due is such a list.
    is_listing: bool,
    /// The last one that came.
    listed: Option<Vec<ServerSession>>,
}

impl HolderLogin {
    /// Logs in to a server, named as `--target` takes it.
    ///
    /// Errors: [`LabError::Usage`] for a text that names no server, [`LabError::Target`] for one
    /// that cannot be reached, does not let us in, does not answer, or is older than what can be
    /// asked.
    pub fn connect(url: &str) -> Result<Self, LabError> {
        let server = server_of(url).map_err(|error| match error {
            error if error.is_usage() => LabError::Usage(format!("--login: {error}")),
            error => error,
        })?;
        let target = server.to_string();
        let mut admin = server.connect(&ExchangeBound::within(SURVEY_TIMEOUT))?;
        let (product, version) = identified(&*server, &mut *admin)?;
        let survey = LockSurvey::new(product, version);
        for sql in survey.settings() {
            // Older servers lack some of them.
            let _ = first_words(&mut *admin, &target, sql)?;
        }
        let (list, listed) = (None, None);
        Ok(Self {
            admin,
            target,
            place: LoginPlace::of(&*server),
            product,
            version,
            survey,
            begun: None,
            list,
            is_listing: false,
            listed,
        })
    }

    /// Where the server is.
    pub(crate) fn place(&self) -> LoginPlace {
        self.place
    }

    /// The server, as `--target` takes it, without password.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// What its clients speak.
    pub(crate) fn protocol(&self) -> WireProtocol {
        // Only servers are logged in to.
        self.product.wire_protocol().unwrap_or(WireProtocol::Mysql)
    }

    /// Whether the kernel sees which waits of this server are for locks. PostgreSQL before 14
    /// writes that down where nobody else finds it.
    pub(crate) fn shows_lock_waits(&self) -> bool {
        self.product != Product::Postgres || self.version.major >= 14
    }

    /// The sessions that the server has now; waits for the answer. None where the login may not see
    /// them.
    ///
    /// Errors: [`LabError::Target`] when the connection is lost, or does not answer.
    pub(crate) fn sessions(&mut self) -> Result<Vec<ServerSession>, LabError> {
        for sql in session_lists(self.product, self.version) {
            if let Ok(QueryTable { columns, rows }) =
                first_words(&mut *self.admin, &self.target, sql)?
            {
                self.list = Some(*sql);
                return Ok(listed_sessions(SurveyAnswer { columns: &columns, rows: &rows }));
            }
        }
        Ok(Vec::new())
    }

    /// Since when the server owes an answer.
    pub(crate) fn begun(&self) -> Option<MonoNanos> {
        self.begun
    }

    /// Begins to make a picture, unless one is being made.
    pub fn begin(&mut self) {
        if self.begun.is_none()
            && let Some(sql) = self.survey.next_statement()
        {
            self.begun = Some(now());
            self.admin.send(&sql);
        }
    }

    /// Begins to ask for the sessions again, unless something is being asked.
    pub(crate) fn begin_list(&mut self) {
        if self.begun.is_none()
            && let Some(sql) = self.list
        {
            (self.begun, self.is_listing) = (Some(now()), true);
            self.admin.send(sql);
        }
    }

    /// Whether the login may see what sessions the server has, as far as was tried.
    pub(crate) fn lists_sessions(&self) -> bool {
        self.list.is_some()
    }

    /// The list that has come since the last time, by [`go_on`](Self::go_on).
    pub(crate) fn take_list(&mut self) -> Option<Vec<ServerSession>> {
        self.listed.take()
    }

    /// Goes on with the picture as far as that takes no more than a moment. Returns it when it is
    /// whole.
    ///
    /// Errors: [`LabError::Target`] when the connection is lost; nothing can be asked any more.
    pub fn go_on(&mut self) -> Result<Option<LockPicture>, LabError> {
        let until = now() + POLL_TIMEOUT;
        while self.begun.is_some()
            && let Some(answer) = self.admin.answer_by(until)
        {
            let answer = unless_lost(&self.target, answer)?;
            if std::mem::take(&mut self.is_listing) {
                self.begun = None;
                self.take_sessions(answer);
                break;
            }
            self.take(answer);
            match self.survey.next_statement() {
                Some(sql) => self.admin.send(&sql),
                None => {
                    self.begun = None;
                    return Ok(Some(self.survey.finish()));
                }
            }
        }
        Ok(None)
    }

    /// Whoever may not see them any more is not asked again for them.
    fn take_sessions(&mut self, answer: LoginAnswer) {
        match answer {
            Ok(QueryTable { columns, rows }) => {
                let answer = SurveyAnswer { columns: &columns, rows: &rows };
                self.listed = Some(listed_sessions(answer));
            }
            Err(failure) if PASSING.contains(&failure.class) => {}
            Err(_) => self.list = None,
        }
    }

    fn take(&mut self, answer: LoginAnswer) {
        match answer {
            Ok(QueryTable { columns, rows }) => {
                self.survey.take(Ok(SurveyAnswer { columns: &columns, rows: &rows }));
            }
            Err(failure) => self.survey.take(Err(SurveyRefusal {
                code: &failure.code,
                message: &failure.message,
                is_passing: PASSING.contains(&failure.class),
            })),
        }
    }
}

/// What a server is.
fn identified(
    server: &dyn Server,
    admin: &mut dyn AdminConnection,
) -> Result<(Product, ServerVersion), LabError> {
    let target = server.to_string();
    let sql = server.dialect().version_query();
    let table = first_words(admin, &target, sql)?.map_err(|why| refused(&target, &why))?;
    let version = table.value().unwrap_or_default();
    let product = server.wire_protocol().product(version);
    let parsed =
        ServerVersion::parse(version).ok_or_else(|| unreadable_version(version, product))?;
    let oldest = if product == Product::Postgres { (9, 6) } else { (5, 5) };
    if (parsed.major, parsed.minor) < oldest {
        return Err(LabError::Target(format!(
            "{target} is {} {version}, which does not show who holds locks: that takes {}.{}; \
             leave out --login",
            product.title(),
            oldest.0,
            oldest.1
        )));
    }
    Ok((product, parsed))
}

/// What a statement was answered.
type LoginAnswer = Result<QueryTable, Box<DatabaseFailure>>;

/// Waits for the answer to a statement, but not for ever.
fn first_words(
    admin: &mut dyn AdminConnection,
    target: &str,
    sql: &str,
) -> Result<LoginAnswer, LabError> {
    admin.send(sql);
    let until = now() + LIST_TIMEOUT;
    while now() < until {
        if let Some(answer) = admin.answer_by(until) {
            return unless_lost(target, answer);
        }
    }
    let text = format!("{target} has not answered `{sql}` for {LIST_TIMEOUT}: leave out --login");
    Err(LabError::Target(text))
}

/// What a statement was answered, where the connection is still there.
fn unless_lost(
    target: &str,
    answer: Result<(QueryTable, u64), Box<DatabaseFailure>>,
) -> Result<LoginAnswer, LabError> {
    match answer {
        Err(failure) if is_lost(&failure) => Err(refused(target, &failure)),
        answer => Ok(answer.map(|(table, _)| table)),
    }
}

/// Whether nothing can be asked any more. A statement that the server itself ends for its time ends
/// no connection.
fn is_lost(failure: &DatabaseFailure) -> bool {
    failure.class == ErrorClass::Connection || failure.code == GIVEN_UP
}

fn refused(target: &str, failure: &DatabaseFailure) -> LabError {
    LabError::Target(format!("{target}: {} ({})", failure.message, failure.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_was_given_up_is_lost_and_one_whose_statement_was_ended_is_not() {
        let timed =
            |failure: DatabaseFailure| DatabaseFailure { class: ErrorClass::Timeout, ..failure };
        assert!(is_lost(&DatabaseFailure::connection("closed", "gone")));
        assert!(is_lost(&timed(DatabaseFailure::connection(GIVEN_UP, "no answer"))));
        let ended = DatabaseFailure::statement("1969", "70100", "max_statement_time exceeded");
        assert!(!is_lost(&timed(ended)));
    }
}
