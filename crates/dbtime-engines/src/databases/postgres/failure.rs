//! What an SQLSTATE means for a client, and what to do about it.
//!
//! Source: PostgreSQL manual, appendix "PostgreSQL Error Codes".

use crate::socket::ServerAddress;
use dbtime_load::excerpt::excerpt;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::ErrorClass;
use dbtime_model::plain_text::{legible, legible_within};
use dbtime_sql::{PostgresWords, internal_query, without_context_values};
use dbtime_wire::MalformedMessage;
use dbtime_wire::postgres::PostgresError;

/// Characters of each of a report's texts that are kept.
const REPORT_CHARS: usize = 2000;

/// The SQLSTATE of a setting that the server does not know.
const UNKNOWN_SETTING: &str = "42704";

/// The class of an SQLSTATE. `is_fatal`: the connection does not go on.
fn class(code: &str, is_fatal: bool) -> ErrorClass {
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
            Some("58") => ErrorClass::Io,
            _ if is_fatal => ErrorClass::Connection,
            // Words about connections, of one that goes on: of a Bind without values, for instance.
            Some("08" | "28" | "3D") => ErrorClass::Statement,
            Some("0A" | "21" | "22" | "25" | "26" | "34" | "3F" | "42" | "54") => {
                ErrorClass::Statement
            }
            _ => ErrorClass::Other,
        },
    }
}

/// What to do about an error, where its own words do not say.
fn remedy(error: &PostgresError) -> Option<&'static str> {
    let is_plain = ["no encryption", "SSL off"].iter().any(|words| error.message.contains(words));
    Some(match error.code.as_str() {
        "28000" if is_plain => {
            "check user and host, and the server's pg_hba.conf: one that it lets in \
             encrypted alone (hostssl) needs sslmode=require"
        }
        "28000" if error.message.contains("client certificate") => {
            "name the certificate with sslcert and sslkey"
        }
        "28P01" => "check user and password, also in PGPASSWORD and ~/.pgpass",
        "28000" => "check user and host, and the server's pg_hba.conf",
        "3D000" => "create the database, or name another one",
        "53300" => "raise max_connections, or use fewer connections",
        "57P01" => "the server shuts down, or this connection was terminated",
        "57P02" => "another process of the server crashed: see its log",
        "57P03" => "the server is starting, stopping or recovering: try again in a moment",
        "25006" => "the server or session only reads: use a primary, or a workload that only reads",
        "26000" | "42P05" => "a pooler mixes connections up: use --protocol text",
        "42501" => "let the user do that with GRANT, or name another user",
        "53100" => "free space on the server's file system",
        _ => return None,
    })
}

/// The failure of a statement. `undone`: the server has no transaction open any more.
pub(super) fn failure(error: &PostgresError, undone: bool) -> DatabaseFailure {
    let kind = words_of(error);
    let words = DatabaseFailure::words_of(&kind.message(&error.message));
    let own_length = DatabaseFailure::length_of(&words);
    let mut message = words;
    for more in [legible(&kind.detail(&error.detail)), legible(kind.hint(&error.hint))] {
        if !more.is_empty() {
            message = format!("{message}; {more}");
        }
    }
    if let Some(remedy) = remedy(error) {
        message = format!("{message} ({remedy})");
    }
    let class = class(&error.code, error.is_fatal());
    let undone = undone || error.is_fatal();
    let code = legible(&error.code);
    let state = code.clone();
    let report = report(error).into();
    let position = error.position;
    DatabaseFailure { class, code, state, message, own_length, report, position, undone }
}

/// What the words of an error may have in them.
fn words_of(error: &PostgresError) -> PostgresWords {
    // Of a login the options are not of a statement, which would show them as names.
    if error.is_fatal() && error.code == UNKNOWN_SETTING {
        return PostgresWords::Values;
    }
    let is_placed = error.position > 0 || error.internal_position > 0;
    PostgresWords::of(&error.code, (&error.file, &error.function), is_placed)
}

/// An error as PostgreSQL's own client shows it, but for the place in the statement, whose text is
/// the caller's, and for values. Each of its texts is one line: a server must not make up others.
fn report(error: &PostgresError) -> String {
    let (severity, kind) = (legible(&error.severity), words_of(error));
    let message = legible_within(&kind.message(&error.message), REPORT_CHARS);
    let mut report = format!("{severity}:  {message}");
    let query = internal_query(&error.internal_query, &error.context);
    // Without its literals its characters are others.
    let is_whole = query == error.internal_query;
    let lines = excerpt(&error.internal_query, error.internal_position as usize);
    if let Some(lines) = lines.filter(|_| is_whole) {
        report = format!("{report}\n{lines}");
    }
    let more = [
        ("DETAIL", kind.detail(&error.detail)),
        ("HINT", kind.hint(&error.hint).into()),
        ("QUERY", query),
        ("CONTEXT", without_context_values(&error.context)),
    ];
    for (label, text) in more.into_iter().filter(|(_, text)| !text.is_empty()) {
        report += &format!("\n{label}:  {}", legible_within(&text, REPORT_CHARS));
    }
    report
}

/// Why the server does not let us in, or on.
pub(super) fn refusal(error: &PostgresError) -> DatabaseFailure {
    DatabaseFailure { class: ErrorClass::Connection, ..failure(error, true) }
}

/// Begins what is told of a server that lets nobody in as PostgreSQL's own client does: with the
/// place, and with the address where a name was given.
///
/// Source: `emitHostIdentityInfo` of libpq 15 (fe-connect.c).
pub(super) fn name_server(failure: &mut DatabaseFailure, address: &ServerAddress, nth: usize) {
    if failure.report.is_empty() {
        return;
    }
    let place = match address {
        ServerAddress::Unix(path) => format!("on socket \"{}\"", path.display()),
        ServerAddress::Tcp { host, port, resolved } => {
            let found = resolved.get(nth).map(|at| at.ip().to_string());
            let found = found.filter(|found| found != host);
            let found = found.map_or(String::new(), |found| format!(" ({found})"));
            format!("at \"{host}\"{found}, port {port}")
        }
    };
    failure.report = format!("connection to server {place} failed: {}", failure.report).into();
}

/// What answers is something else.
pub(super) fn no_postgres(service: &str) -> DatabaseFailure {
    let text = format!("{service} answers there, not PostgreSQL: check host, port and scheme");
    DatabaseFailure::connection("protocol", text)
}

/// Something came that makes no sense.
pub(super) fn malformed(error: &MalformedMessage) -> DatabaseFailure {
    DatabaseFailure::connection("protocol", format!("{error}: is it a PostgreSQL server?"))
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
        for (code, expected) in cases {
            assert_eq!(class(code, false), expected, "{code}");
        }
        for code in ["08006", "28P01", "3D000", "42P01", "XX000", "53300"] {
            assert_eq!(class(code, true), ErrorClass::Connection, "{code}");
        }
        for code in ["40001", "53100", "58030", "23505", "57014"] {
            assert_eq!(class(code, true), class(code, false), "{code}");
        }
    }

    #[test]
    fn what_must_come_in_encrypted_learns_how() {
        let message_of = |message: &str| {
            let (code, message) = ("28000".to_owned(), message.to_owned());
            failure(&PostgresError { code, message, ..PostgresError::default() }, true).message
        };
        let entry = "no pg_hba.conf entry for host \"10.0.0.1\", user \"u\", database \"d\", ";
        assert!(message_of(&format!("{entry}no encryption")).contains("sslmode=require"));
        assert!(message_of(&format!("{entry}SSL off")).contains("sslmode=require"));
        assert!(!message_of(&format!("{entry}SSL encryption")).contains("sslmode"));
        assert!(message_of("connection requires a valid client certificate").contains("sslcert"));
    }

    #[test]
    fn servers_are_named_as_their_own_client_names_them() {
        let named = |address: &ServerAddress, nth| {
            let mut failure =
                DatabaseFailure { report: "FATAL:  no".into(), ..no_postgres("HTTP") };
            name_server(&mut failure, address, nth);
            failure.report
        };
        let resolved = vec![([10, 0, 0, 1], 5432).into(), ([10, 0, 0, 2], 5432).into()];
        let host = |host: &str| ServerAddress::Tcp {
            host: host.to_owned(),
            port: 5432,
            resolved: resolved.clone(),
        };
        let [by_name, by_address] = [host("db"), host("10.0.0.1")];
        let socket = ServerAddress::Unix("/run/.s.PGSQL.5432".into());
        for (address, nth, place) in [
            (&by_name, 1, "at \"db\" (10.0.0.2), port 5432"),
            (&by_address, 0, "at \"10.0.0.1\", port 5432"),
            (&socket, 0, "on socket \"/run/.s.PGSQL.5432\""),
        ] {
            let expected = format!("connection to server {place} failed: FATAL:  no");
            assert_eq!(&*named(address, nth), expected);
        }
        let mut plain = no_postgres("HTTP");
        name_server(&mut plain, &socket, 0);
        assert_eq!(plain, no_postgres("HTTP"), "there are no words of a server's");
    }

    #[test]
    fn an_unknown_option_of_a_login_is_in_no_failure() {
        let error = PostgresError {
            severity: "FATAL".to_owned(),
            code: "42704".to_owned(),
            message: "unrecognized configuration parameter \"hush\"".to_owned(),
            ..PostgresError::default()
        };
        let failed = refusal(&error);
        assert_eq!(failed.message, "unrecognized configuration parameter \"?\"");
        assert_eq!(&*failed.report, "FATAL:  unrecognized configuration parameter \"?\"");
    }

    #[test]
    fn what_was_to_be_in_a_row_is_in_no_failure() {
        let twice = PostgresError {
            severity: "ERROR".to_owned(),
            code: "23505".to_owned(),
            message: "duplicate key value violates unique constraint \"t_pkey\"".to_owned(),
            detail: "Key (id)=(hush) already exists.".to_owned(),
            context: "SQL statement \"INSERT INTO t VALUES ('hush')\"".to_owned(),
            ..PostgresError::default()
        };
        let failed = failure(&twice, false);
        let words = "duplicate key value violates unique constraint \"t_pkey\"";
        assert_eq!(failed.message, format!("{words}; Key (id)=(?) already exists."));
        assert_eq!((&*failed.code, failed.own_words()), ("23505", words));
        let detail = "DETAIL:  Key (id)=(?) already exists.\nCONTEXT:  SQL statement \"?";
        assert_eq!(&*failed.report, format!("ERROR:  {words}\n{detail}"));
        let raised = PostgresError {
            message: "account of hush".to_owned(),
            function: "exec_stmt_raise".to_owned(),
            ..twice.clone()
        };
        // What a text that was put together had in it, and where its error was.
        let dynamic = PostgresError {
            code: "42703".to_owned(),
            detail: String::new(),
            internal_query: "SELECT 'hush', x".to_owned(),
            internal_position: 16,
            context: "PL/pgSQL function f() line 1 at EXECUTE".to_owned(),
            ..twice
        };
        for error in [raised, dynamic] {
            let failed = failure(&error, false);
            let shown = format!("{} {}", failed.message, failed.report);
            assert!(!shown.contains("hush") && !shown.contains("LINE"), "{shown}");
        }
    }

    #[test]
    fn failures_say_what_to_do() {
        let error = |severity: &str, code: &str| PostgresError {
            severity: severity.to_owned(),
            code: code.to_owned(),
            message: "no".to_owned(),
            hint: "ask".to_owned(),
            ..PostgresError::default()
        };
        let full = failure(&error("FATAL", "53300"), false);
        assert_eq!(full.message, "no; ask (raise max_connections, or use fewer connections)");
        assert_eq!(&*full.report, "FATAL:  no\nHINT:  ask");
        assert_eq!(full.own_words(), "no");
        let much = "x\n".repeat(1 << 17);
        let long = PostgresError {
            message: much.clone(),
            detail: much.clone(),
            context: much,
            ..error("ERROR", "42P01")
        };
        let long = failure(&long, false);
        assert!(long.message.len() < 1500 && !long.message.contains('\n'), "{}", long.message);
        assert!(long.message.contains(" more bytes read); x x") && long.report.len() < 8000);
        let forged = PostgresError {
            message: "no\npgbench: error: more\u{1b}[2J".to_owned(),
            context: "a\nerror: b".to_owned(),
            ..error("ERROR", "\n\u{1b}[2J")
        };
        let forged = failure(&forged, false);
        let told = "ERROR:  no pgbench: error: more\u{fffd}[2J\nHINT:  ask\nCONTEXT:  a error: ?";
        assert_eq!((&*forged.report, &*forged.code), (told, "\u{fffd}[2J"));
        let cut = PostgresError { message: String::new(), ..error("ERROR", "42P01") };
        assert!(failure(&cut, false).message.starts_with("the server's error was cut"));
        assert!(full.undone, "nothing outlives its connection");
        let fatal = failure(&error("FATAL", "XX000"), false);
        assert_eq!(fatal.class, ErrorClass::Connection);
        for code in ["08P01", "28000", "3D000"] {
            let living = failure(&error("ERROR", code), false);
            assert_eq!((living.class, living.undone), (ErrorClass::Statement, false), "{code}");
            assert_eq!(failure(&error("FATAL", code), false).class, ErrorClass::Connection);
            assert_eq!(refusal(&error("ERROR", code)).class, ErrorClass::Connection);
        }
        let deadlock = failure(&error("ERROR", "40P01"), false);
        assert_eq!((deadlock.class, deadlock.undone), (ErrorClass::Conflict, false));
    }
}
