//! What an SQLSTATE means for a client, and what to do about it.
//!
//! Source: PostgreSQL manual, appendix "PostgreSQL Error Codes".

use crate::failure::Failure;
use dbtime_model::ErrorClass;
use dbtime_wire::Malformed;
use dbtime_wire::postgres::ServerError;

/// The class of an SQLSTATE.
pub(super) fn class(code: &str) -> ErrorClass {
    match code {
        "40001" | "40P01" => ErrorClass::Conflict,
        "55P03" => ErrorClass::Busy,
        "53100" => ErrorClass::Full,
        "25006" => ErrorClass::ReadOnly,
        "57014" | "25P04" => ErrorClass::Timeout,
        "53300" | "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" => {
            ErrorClass::Connection
        }
        "XX001" | "XX002" => ErrorClass::Corrupt,
        _ => match code.get(..2) {
            Some("23") => ErrorClass::Constraint,
            Some("08" | "28" | "3D") => ErrorClass::Connection,
            Some("0A" | "21" | "22" | "25" | "26" | "34" | "3F" | "42" | "54") => {
                ErrorClass::Statement
            }
            Some("58") => ErrorClass::Io,
            _ => ErrorClass::Other,
        },
    }
}

/// What to do about an error, where its own words do not say.
fn remedy(code: &str) -> Option<&'static str> {
    Some(match code {
        "28P01" => "check user and password in the target, PGPASSWORD and ~/.pgpass",
        "28000" => "check user and host in the target, and the server's pg_hba.conf",
        "3D000" => "create the database, or name another one in the target",
        "53300" => "raise max_connections, or use fewer --connections",
        "57P01" => "the server shuts down, or somebody ended this connection",
        "57P02" => "another process of the server crashed: see its log",
        "57P03" => "the server is starting, stopping or recovering: try again in a moment",
        "25006" => "the server or session only reads: use a primary, or a workload that only reads",
        "26000" | "42P05" => "a pooler mixes connections up: use --protocol text",
        "42501" => "let the user do that with GRANT, or name another user in the target",
        "53100" => "free space on the server's file system",
        _ => return None,
    })
}

/// The failure of a statement. `undone`: the server has no transaction open any more.
pub(super) fn failure(error: &ServerError, undone: bool) -> Failure {
    let mut message = error.message.clone();
    for more in [error.detail.as_str(), error.hint.as_str()] {
        if !more.is_empty() {
            message = format!("{message}; {more}");
        }
    }
    if let Some(remedy) = remedy(&error.code) {
        message = format!("{message} ({remedy})");
    }
    let mut class = class(&error.code);
    if error.is_fatal() && matches!(class, ErrorClass::Other | ErrorClass::Statement) {
        class = ErrorClass::Connection;
    }
    let undone = undone || error.is_fatal();
    let (code, state) = (error.code.clone(), error.code.clone());
    Failure { class, code, state, message, undone }
}

/// Why the server does not let us in.
pub(super) fn refusal(error: &ServerError) -> Failure {
    Failure { class: ErrorClass::Connection, ..failure(error, true) }
}

/// Something came that makes no sense.
pub(super) fn malformed(error: &Malformed) -> Failure {
    Failure::connection("protocol", format!("{error}: is it a PostgreSQL server?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_classes() {
        let cases = [
            ("40001", ErrorClass::Conflict),
            ("40P01", ErrorClass::Conflict),
            ("55P03", ErrorClass::Busy),
            ("23505", ErrorClass::Constraint),
            ("53100", ErrorClass::Full),
            ("25006", ErrorClass::ReadOnly),
            ("08006", ErrorClass::Connection),
            ("28P01", ErrorClass::Connection),
            ("57P01", ErrorClass::Connection),
            ("53300", ErrorClass::Connection),
            ("57014", ErrorClass::Timeout),
            ("42P01", ErrorClass::Statement),
            ("22012", ErrorClass::Statement),
            ("58030", ErrorClass::Io),
            ("XX001", ErrorClass::Corrupt),
            ("XX000", ErrorClass::Other),
            ("", ErrorClass::Other),
        ];
        for (code, wanted) in cases {
            assert_eq!(class(code), wanted, "{code}");
        }
    }

    #[test]
    fn failures_say_what_to_do() {
        let error = |severity: &str, code: &str| ServerError {
            severity: severity.to_owned(),
            code: code.to_owned(),
            message: "no".to_owned(),
            hint: "ask".to_owned(),
            ..ServerError::default()
        };
        let full = failure(&error("FATAL", "53300"), false);
        assert_eq!(full.message, "no; ask (raise max_connections, or use fewer --connections)");
        assert!(full.undone, "nothing outlives its connection");
        let fatal = failure(&error("FATAL", "XX000"), false);
        assert_eq!(fatal.class, ErrorClass::Connection);
        let deadlock = failure(&error("ERROR", "40P01"), false);
        assert_eq!((deadlock.class, deadlock.undone), (ErrorClass::Conflict, false));
    }
}
