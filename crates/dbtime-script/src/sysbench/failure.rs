//! What a script is told of a failed statement, and what is done about it: the rules of sysbench's
//! drivers.

use super::options::IgnoredErrors;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::{ErrorClass, SqlDialect};

impl IgnoredErrors {
    /// Reads the option's value: codes between commas, or `all`.
    pub(super) fn parse(text: &str) -> Self {
        let mut words = text.split(',').map(str::trim);
        if words.clone().any(|word| word == "all") {
            return Self::All;
        }
        Self::Codes(words.by_ref().filter_map(|word| word.parse().ok()).collect())
    }

    fn has(&self, code: u32) -> bool {
        match self {
            Self::All => true,
            Self::Codes(codes) => codes.contains(&code),
        }
    }
}

/// A failure as a script sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassifiedError {
    /// `sql_errno`.
    pub(super) number: u32,
    /// `sql_state`.
    pub(super) state: String,
    /// `sql_errmsg`.
    pub(super) message: String,
    /// The event starts again; else the script's hook is asked, and without its word the run ends.
    pub(super) is_ignorable: bool,
    /// The connection is gone.
    pub(super) is_lost: bool,
    /// A transaction is open and has to be rolled back before anything else.
    pub(super) needs_rollback: bool,
}

/// The codes of MySQL's client for a connection that is gone.
const CONNECTION_LOST_CODES: [u32; 4] = [2013, 2006, 2011, 2055];

/// What the system calls a server that is not there: MySQL's client has a code of its own for it.
const CONNECT_FAILED_CODES: [&str; 4] = ["ECONNREFUSED", "ENOENT", "EHOSTUNREACH", "ETIMEDOUT"];

/// What the rules say about a failure.
pub(super) fn judge(
    failure: &DatabaseFailure,
    driver: SqlDialect,
    ignored: &IgnoredErrors,
) -> ClassifiedError {
    let number = number(failure, driver);
    let is_lost =
        failure.class == ErrorClass::Connection || CONNECTION_LOST_CODES.contains(&number);
    let (is_ignorable, needs_rollback) = match driver {
        SqlDialect::Mysql => (ignored.has(number), false),
        SqlDialect::Sqlite => (ignored.has(number), !failure.undone),
        SqlDialect::Postgres => {
            let is_known = matches!(failure.state.as_str(), "40P01" | "40001" | "23505");
            (is_known, !is_lost)
        }
    };
    ClassifiedError {
        number,
        state: state(failure, driver).to_owned(),
        message: failure.own_words().to_owned(),
        is_ignorable,
        is_lost,
        needs_rollback,
    }
}

/// What MySQL's client calls the state of an error of its own.
pub(super) const STATELESS: &str = "HY000";

fn state(failure: &DatabaseFailure, driver: SqlDialect) -> &str {
    let is_clients_own = driver == SqlDialect::Mysql && failure.state.is_empty();
    if is_clients_own { STATELESS } else { &failure.state }
}

/// The database's number, or that of MySQL that means the same.
fn number(failure: &DatabaseFailure, driver: SqlDialect) -> u32 {
    if let (SqlDialect::Mysql, Ok(number)) = (driver, failure.code.parse()) {
        return number;
    }
    match (driver, failure.class) {
        (SqlDialect::Postgres, _) => 0,
        (_, ErrorClass::Connection) if CONNECT_FAILED_CODES.contains(&failure.code.as_str()) => {
            2003
        }
        (_, ErrorClass::Connection) => 2013,
        (_, ErrorClass::Busy) => 1205,
        (_, ErrorClass::Conflict) => 1213,
        (_, ErrorClass::Constraint) => 1062,
        (_, ErrorClass::Full) => 1114,
        (_, ErrorClass::ReadOnly) => 1290,
        (_, ErrorClass::Timeout) => 3024,
        _ => 1105,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: ErrorClass, code: &str, state: &str) -> DatabaseFailure {
        DatabaseFailure { class, ..DatabaseFailure::statement(code, state, "m") }
    }

    #[test]
    fn listed_codes_are_ignored_and_others_are_not() {
        let listed = IgnoredErrors::parse("1213, 1020,1205");
        let of =
            |code: &str| judge(&failure(ErrorClass::Other, code, ""), SqlDialect::Mysql, &listed);
        assert!(of("1213").is_ignorable && of("1205").is_ignorable);
        assert!(!of("1062").is_ignorable && !of("1213").needs_rollback);
        assert!(of("2006").is_lost && !of("2006").is_ignorable);
        let all = IgnoredErrors::parse("all");
        assert!(judge(&failure(ErrorClass::Other, "1", ""), SqlDialect::Mysql, &all).is_ignorable);
        let lost =
            judge(&DatabaseFailure::connection("ECONNRESET", "gone"), SqlDialect::Mysql, &all);
        assert_eq!((lost.number, lost.is_lost, &*lost.state), (2013, true, "HY000"));
        let absent =
            judge(&DatabaseFailure::connection("ECONNREFUSED", "no"), SqlDialect::Mysql, &all);
        assert_eq!((absent.number, absent.is_lost), (2003, true));
    }

    #[test]
    fn scripts_read_the_databases_own_words() {
        let failure = DatabaseFailure {
            message: "Too many connections (use fewer)".to_owned(),
            own_length: 20,
            ..failure(ErrorClass::Connection, "1040", "08004")
        };
        let judged = judge(&failure, SqlDialect::Mysql, &IgnoredErrors::parse(""));
        assert_eq!((&*judged.message, &*judged.state), ("Too many connections", "08004"));
    }

    #[test]
    fn postgres_rolls_back_and_goes_by_the_state() {
        let ignored = IgnoredErrors::parse("all");
        for (state, is_ignorable) in
            [("40P01", true), ("40001", true), ("23505", true), ("42P01", false)]
        {
            let judged =
                judge(&failure(ErrorClass::Other, state, state), SqlDialect::Postgres, &ignored);
            assert_eq!((judged.is_ignorable, judged.needs_rollback), (is_ignorable, true));
            assert_eq!((judged.number, judged.state.as_str()), (0, state));
        }
    }

    #[test]
    fn a_busy_sqlite_is_a_lock_wait_that_timed_out() {
        let ignored = IgnoredErrors::parse("1213,1020,1205");
        let busy = failure(ErrorClass::Busy, "SQLITE_BUSY", "");
        let judged = judge(&busy, SqlDialect::Sqlite, &ignored);
        assert_eq!((judged.number, judged.is_ignorable, judged.needs_rollback), (1205, true, true));
        let constraint = failure(ErrorClass::Constraint, "SQLITE_CONSTRAINT", "");
        assert!(!judge(&constraint, SqlDialect::Sqlite, &ignored).is_ignorable);
    }
}
