//! Errors of MySQL and MariaDB, by their numbers.
//!
//! Source: MySQL reference manual, "Server Error Message Reference"; MariaDB knowledge base,
//! "MariaDB Error Code Reference". The numbers mean the same in both where both have them.

use super::{VALUE, left_out, without_numbers, without_quoted};
use std::borrow::Cow;

/// Classes of states whose errors have names in their quotes, and no values.
const NAME_CLASSES: [&str; 20] = [
    "00", "01", "02", "08", "0A", "0K", "0Z", "20", "21", "24", "25", "28", "2F", "3D", "3F", "40",
    "42", "44", "70", "XA",
];

/// Errors of other classes that have names there, and numbers of rows: what is missing, in the way,
/// too long or out of range, and not what was to be in it.
const NAME_CODES: [u16; 36] = [
    1048, 1099, 1100, 1114, 1129, 1130, 1137, 1169, 1205, 1216, 1217, 1238, 1275, 1288, 1290, 1347,
    1348, 1356, 1364, 1365, 1369, 1394, 1395, 1406, 1442, 1449, 1451, 1452, 1456, 1461, 1524, 1906,
    3105, 3819, 4025, 4084,
];

/// Numbers of errors about files and folders, whose paths a statement may have put together.
const FILE_CODES: [u16; 13] =
    [1004, 1010, 1011, 1013, 1016, 1017, 1018, 1019, 1023, 1024, 1025, 1026, 1027];

/// The class of states that no error has but those of SIGNAL.
const USER_CLASS: &str = "45";

/// States of errors that have none of their own: those of the server's files and memory below 1000,
/// of proxies, and of other servers that speak this protocol. Before a login there is none.
const GENERAL_STATES: [&str; 2] = ["HY000", ""];

/// What an English message begins with, and what is between its value and a name that may have
/// quotes in it.
const NAME_MARKS: [(&str, &str); 2] =
    [("Duplicate entry '", "' for key '"), ("Incorrect ", "' for column '")];

/// What a server said went wrong, by its number and state, without values.
pub fn without_mysql_values<'a>(code: u16, state: &str, message: &'a str) -> Cow<'a, str> {
    let behind = message.rsplit('\'').next().unwrap_or_default();
    match code {
        1642..=1644 => left_out(message),
        _ if state.starts_with(USER_CLASS) => left_out(message),
        // A number that neither product has: with a state of its own it is a SIGNAL's.
        ..=999 | 5000.. if !GENERAL_STATES.contains(&state) => left_out(message),
        // A SIGNAL may have borrowed one of these.
        1062 | 1292 | 1366 | 1569 | 1586 if !message.contains('\'') => left_out(message),
        // Duplicate entry '5' for key 'PRIMARY'
        1062 | 1569 | 1586 => Cow::Owned(without_value(message, behind.is_empty())),
        // Incorrect integer value: 'x' for column 'a' at row 1
        1292 | 1366 => Cow::Owned(without_value(message, behind.starts_with(" at row "))),
        1231 => Cow::Owned(without_setting(message)),
        _ if has_names(code, state) => Cow::Borrowed(message),
        _ => Cow::Owned(without_numbers(&without_quoted(message))),
    }
}

/// Whether what stands in the quotes of an error are names.
fn has_names(code: u16, state: &str) -> bool {
    if FILE_CODES.contains(&code) {
        return false;
    }
    // Engines, locks, variables, and columns that were cut.
    let is_listed = matches!(code, 1001..=1041 | 1193..=1195 | 1228..=1233 | 1261..=1265);
    let has_class = state.get(..2).is_some_and(|class| NAME_CLASSES.contains(&class));
    is_listed || has_class || NAME_CODES.contains(&code)
}

/// A message without its value, which begins at the first quote and ends at the last one, or at the
/// last one before a name.
fn without_value(message: &str, has_name: bool) -> String {
    let mut quotes = message.rmatch_indices('\'').map(|(at, _)| at);
    let end = match has_name {
        true => before_name(message).or_else(|| quotes.nth(2)),
        false => quotes.next(),
    };
    let begin = message.find('\'').map_or(0, |at| at + 1);
    // Of a text that was cut all that follows may be the value.
    let end = end.filter(|end| *end >= begin).unwrap_or(message.len());
    format!("{}{VALUE}{}", &message[..begin], &message[end..])
}

/// Where the quote behind the value is, of a message that says what its name is of. A value may
/// have these words in it too: the last ones are the server's.
fn before_name(message: &str) -> Option<usize> {
    let (_, mark) = NAME_MARKS.iter().find(|(begin, _)| message.starts_with(*begin))?;
    message.rfind(*mark)
}

/// `Variable 'a' can't be set to the value of 'x'`: the name of the variable is the first.
fn without_setting(message: &str) -> String {
    let Some((end, _)) = message.match_indices('\'').nth(1) else {
        return without_numbers(&without_quoted(message));
    };
    let (name, rest) = message.split_at(end + 1);
    match rest.find(" '") {
        Some(at) => format!("{name}{} '{VALUE}'", &rest[..at]),
        None => format!("{name}{}", without_quoted(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEFT_OUT;
    use super::super::tests::marked;
    use super::*;

    #[test]
    fn values_are_left_out_and_names_of_keys_and_columns_stay() {
        for (code, state, text) in [
            (1062, "23000", "Duplicate entry '<hush>' for key 'PRIMARY'"),
            (1062, "23000", "Duplicate entry '<5-it's hush>' for key 't.b'"),
            (1062, "23000", "Duplicate entry '<a' for key 'hush>' for key 'k'"),
            (1062, "23000", "Doppelter Eintrag '<hush>' für Schlüssel 'k'"),
            (1062, "23000", "'<hush' は索引 'k>' で重複しています。"),
            (1062, "23000", "Duplicate entry '<hush>' for key 1"),
            (1062, "23000", "Duplicate entry '<hush>"),
            (1062, "23000", "Duplicate entry '<hush>' for key 'k'x'"),
            (1062, "23000", "Duplicate entry '<a' for key 'hush>' for key 't.k'x'"),
            (1062, "23000", "Doppelter Eintrag '<a' for key 'hush>' für Schlüssel 'k'"),
            (1586, "23000", "Duplicate entry '<hush>' for key 'k'"),
            (1761, "23000", "constraint for table '<t', record 'hush' … in table 'c', key 'k>'"),
            (1366, "22007", "Incorrect integer value: '<hush>' for column `d`.`t`.`a` at row 1"),
            (1366, "HY000", "Incorrect integer value: '<hush>' for column 'a' at row 1"),
            (1366, "HY000", "Incorrect integer value: '<hush>' for column 'a'b' at row 1"),
            (1366, "22007", "Incorrect integer value: '<x 'hush' y>' for column `a` at row 1"),
            (1292, "22007", "Truncated incorrect DOUBLE value: '<hush>'"),
            (1292, "22007", "Truncated incorrect DOUBLE value: '<x' for column 'hush>'"),
            (1292, "22007", "Incorrect datetime value: '<hush>' for column 'seen' at row 1"),
            (1292, "22007", "Falscher datetime-Wert: '<hush' für Feld 'a>' in Zeile 1"),
            (1411, "HY000", "Incorrect datetime value: '<hush>' for function str_to_date"),
            (1525, "HY000", "Incorrect DATE value: '<hush>'"),
            (1526, "HY000", "Table has no partition for value <4711>"),
            (1690, "22003", "BIGINT UNSIGNED value is out of range in '<(`d`.`t`.`a` - 4711)>'"),
            (1300, "HY000", "Invalid utf8mb4 character string: '<hush>'"),
            (1105, "HY000", "XPATH syntax error: '<hush>'"),
            (1298, "HY000", "Unknown or incorrect time zone: '<hush>'"),
            (1296, "HY000", "Got error <10000> '<1062: Duplicate entry 'hush'>' from FEDERATED"),
            (1, "HY000", "Can't create file '<hush>' (Errcode: <13> \"<Permission denied>\")"),
            (5, "HY000", "Out of the server's memory (needed <4711> bytes)"),
            (13, "HY000", "Can't get stat of '<hush>' (Errcode: <2>)"),
            (29, "HY000", "File '<hush>' not found (OS errno <2> - No such file or directory)"),
            (1013, "HY000", "Can't get status of '<hush>' (errno: <2>)"),
            (1086, "HY000", "File '<hush>' already exists"),
            (9001, "HY000", "Max connect timeout reached while reaching hostgroup <1> after <2ms>"),
            (9007, "HY000", "Write conflict, txnStartTS=<4711> [try again later]"),
            (3140, "22032", "Invalid JSON text: \"<hush>\" at position <1> in column '<t.a>'."),
            (1231, "42000", "Variable 'sql_mode' can't be set to the value of '<hush>'"),
        ] {
            let (message, expected) = marked(text);
            assert_eq!(without_mysql_values(code, state, &message), expected, "{message}");
        }
    }

    #[test]
    fn words_of_a_signal_are_left_out() {
        for (code, state) in [
            (1644, "45000"),
            (1644, "22012"),
            (1644, "42000"),
            (1643, "02000"),
            (30_001, "45000"),
            (30_001, "22012"),
            (7, "42000"),
            (1062, "23000"),
            (1146, "45001"),
        ] {
            let shown = without_mysql_values(code, state, "account 4711 of hush is closed");
            assert_eq!(shown, LEFT_OUT, "{code}");
        }
        assert_eq!(without_mysql_values(1644, "45000", ""), "", "there are none");
    }

    #[test]
    fn errors_that_have_names_alone_stay_whole() {
        for (code, state, message) in [
            (1048, "23000", "Column 'a' cannot be null"),
            (1054, "42S22", "Unknown column 'x' in 'SELECT'"),
            (1064, "42000", "You have an error … near 'FROMM t' at line 1"),
            (1114, "HY000", "The table 't' is full"),
            (1146, "42S02", "Table 'd.t' doesn't exist"),
            (1205, "HY000", "Lock wait timeout exceeded; try restarting transaction"),
            (1213, "40001", "Deadlock found when trying to get lock; try restarting transaction"),
            (1264, "22003", "Out of range value for column 'a' at row 1"),
            (1265, "01000", "Data truncated for column 'a' at row 1"),
            (1364, "HY000", "Field 'a' doesn't have a default value"),
            (1406, "22001", "Data too long for column 'a' at row 1"),
            (1452, "23000", "a foreign key constraint fails (`d`.`t`, CONSTRAINT `f` FOREIGN …"),
            (3819, "HY000", "Check constraint 't_chk_1' is violated."),
            (4025, "23000", "CONSTRAINT `t.a` failed for `d`.`t`"),
        ] {
            assert_eq!(without_mysql_values(code, state, message), message);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_value_of_a_duplicate_is_left(value in "(hush|for key|['\"` a5-]){0,20}") {
            let message = format!("Duplicate entry 'x{value}' for key 'k'");
            let shown = without_mysql_values(1062, "23000", &message);
            proptest::prop_assert_eq!(shown, "Duplicate entry '?' for key 'k'");
        }
    }
}
