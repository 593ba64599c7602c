//! What a MySQL or MariaDB error number means for a client.
//!
//! Source: MySQL reference manual, "Server Error Message Reference"; MariaDB knowledge base,
//! "MariaDB Error Code Reference".

use dbtime_load::failure::DatabaseFailure;
use dbtime_model::ErrorClass;
use dbtime_model::plain_text::legible;
use dbtime_sql::without_mysql_values;
use dbtime_wire::MalformedMessage;
use dbtime_wire::mysql::MysqlError;

/// The class of an error.
pub(super) fn class(error: &MysqlError) -> ErrorClass {
    match error.code {
        1205 | 3572 => ErrorClass::Busy,
        1020 | 1213 | 1613 => ErrorClass::Conflict,
        1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1557 | 1586 | 1761 | 1762
        | 3819 | 4025 => ErrorClass::Constraint,
        1021 | 1114 => ErrorClass::Full,
        1002..=1005 | 1009..=1019 | 1023..=1026 | 1030 => ErrorClass::Io,
        1033..=1035 | 1194 | 1195 => ErrorClass::Corrupt,
        1036 | 1290 | 1792 | 1836 | 1874 => ErrorClass::ReadOnly,
        1040..=1045
        | 1049
        | 1053
        | 1077..=1079
        | 1129
        | 1130
        | 1152..=1161
        | 1184
        | 1203
        | 1226
        | 1251
        | 1698
        | 1820
        | 1862
        | 1927
        | 3159
        | 2000..=2099
        | 4031 => ErrorClass::Connection,
        1317 | 1907 | 1969 | 3024 => ErrorClass::Timeout,
        _ => match error.state.get(..2) {
            Some("23") => ErrorClass::Constraint,
            Some("40") => ErrorClass::Conflict,
            Some("42" | "22" | "21" | "3D" | "HY") => ErrorClass::Statement,
            Some("08") => ErrorClass::Connection,
            _ => ErrorClass::Other,
        },
    }
}

/// What to do about an error, where its own words do not say.
fn remedy(code: u16) -> Option<&'static str> {
    Some(match code {
        1040 => "raise max_connections, or use fewer connections",
        1044 | 1045 | 1698 => "check user and password, also in ~/.my.cnf and MYSQL_PWD",
        1049 => "create the database, or name another one",
        1129 => "too many broken connections from here: FLUSH HOSTS",
        1130 => "this user may not come from this host: see mysql.user",
        1203 | 1226 => "raise the user's limit of connections, or use fewer of them",
        1290 | 1792 | 1836 => "the server only reads: use a primary, or a workload that only reads",
        1461 => "raise max_prepared_stmt_count, or use --protocol text",
        3159 => "use ssl-mode=required",
        1820 | 1862 => "the password has expired: set a new one first",
        _ => return None,
    })
}

/// The failure of a statement.
pub(super) fn failure(error: &MysqlError) -> DatabaseFailure {
    let class = class(error);
    let words = without_mysql_values(error.code, &error.state, &error.message);
    let words = DatabaseFailure::words_of(&words);
    let own_length = DatabaseFailure::length_of(&words);
    let message = match remedy(error.code) {
        Some(remedy) => format!("{words} ({remedy})"),
        None => words,
    };
    // A deadlock's victim is rolled back whole; a lock wait that took too long is not, unless
    // innodb_rollback_on_timeout says so, and then one more ROLLBACK does no harm.
    let undone = error.code == 1213 || class == ErrorClass::Connection;
    let code = error.code.to_string();
    let plain = DatabaseFailure::statement(&code, &legible(&error.state), message);
    DatabaseFailure { class, own_length, undone, ..plain }
}

/// The failure of a connection on which something came that makes no sense.
pub(super) fn malformed(error: &MalformedMessage) -> DatabaseFailure {
    DatabaseFailure::connection("protocol", format!("{error}: is it a MySQL or MariaDB server?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_not_among_the_servers_own_words() {
        let error = |code| MysqlError { code, state: String::new(), message: "no".to_owned() };
        let full = failure(&error(1040));
        let message = "no (raise max_connections, or use fewer connections)";
        assert_eq!((&*full.message, full.own_words()), (message, "no"));
        let long = MysqlError { message: "a\nb".repeat(1 << 14), ..error(1040) };
        assert!(failure(&long).message.len() < 700, "what a person reads");
        let forged = MysqlError { state: "a\n\u{1b}[2".to_owned(), ..error(1) };
        assert_eq!(failure(&forged).state, "a \u{fffd}[2");
        let cut = MysqlError { message: String::new(), ..error(1) };
        assert!(failure(&cut).message.contains("was cut"));
    }

    #[test]
    fn what_was_to_be_in_a_row_is_in_no_failure() {
        let failed = |code, state: &str, message: &str| {
            let (state, message) = (state.to_owned(), message.to_owned());
            failure(&MysqlError { code, state, message })
        };
        let twice = failed(1062, "23000", "Duplicate entry '5-hush' for key 'PRIMARY'");
        assert_eq!((&*twice.code, &*twice.state), ("1062", "23000"));
        assert_eq!(twice.message, "Duplicate entry '?' for key 'PRIMARY'");
        assert_eq!(twice.own_words(), twice.message, "what a script reads");
        let signal = failed(1644, "45000", "account of hush");
        assert!(!signal.message.contains("hush"), "{}", signal.message);
    }

    #[test]
    fn numbers_and_states_have_classes() {
        let of = |code, state: &str| {
            class(&MysqlError { code, state: state.to_owned(), message: String::new() })
        };
        let cases = [
            (1213, "40001", ErrorClass::Conflict),
            (1205, "HY000", ErrorClass::Busy),
            (1062, "23000", ErrorClass::Constraint),
            (1040, "08004", ErrorClass::Connection),
            (1290, "HY000", ErrorClass::ReadOnly),
            (1969, "70100", ErrorClass::Timeout),
            (1064, "42000", ErrorClass::Statement),
            (1146, "42S02", ErrorClass::Statement),
            (9999, "XX000", ErrorClass::Other),
            (9999, "", ErrorClass::Other),
        ];
        for (code, state, expected) in cases {
            assert_eq!(of(code, state), expected, "{code}");
        }
    }
}
