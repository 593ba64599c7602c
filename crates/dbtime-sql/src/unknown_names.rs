//! Names in errors about what is missing, in the way or ambiguous.
//!
//! A text that is put together at run time makes a value into a name, which the server repeats:
//! `column "hush" does not exist`. A word of such a message is left where the statements have it,
//! or the run's own configuration, or where it is of the server's own English; what else stands
//! between the first quote and the last one is `?`. Some messages have names without quotes: of
//! these all is read so, in other languages too.

use crate::repeated_values::LEFT_OUT;
use crate::repeated_words::{is_opening, is_quote, words_of};
use dbtime_model::plain_text::CUT_MARK;
use std::borrow::Cow;
use std::ops::Range;

/// Classes of PostgreSQL's states in which a name is of a statement: prepared statements, cursors,
/// databases, schemas, and all that class 42 has.
const POSTGRES_CLASSES: [&str; 5] = ["26", "34", "3D", "3F", "42"];

/// Of these, states whose names are of objects that there are, or are looked for elsewhere.
const OTHER_STATES: [&str; 2] = ["42501", "42601"];

/// States whose messages may have names without quotes: `column t.x does not exist`,
/// `function f(integer) does not exist`.
const BARE_STATES: [&str; 4] = ["42703", "42725", "42809", "42883"];

/// Numbers of MySQL and MariaDB that have names of a statement.
const MYSQL_CODES: [u16; 63] = [
    1007, 1008, 1049, 1050, 1051, 1052, 1054, 1055, 1056, 1059, 1060, 1061, 1063, 1066, 1067, 1070,
    1072, 1074, 1091, 1102, 1103, 1109, 1110, 1115, 1128, 1146, 1166, 1176, 1193, 1243, 1247, 1250,
    1253, 1273, 1280, 1286, 1302, 1303, 1304, 1305, 1308, 1309, 1310, 1318, 1319, 1324, 1327, 1330,
    1331, 1332, 1333, 1347, 1359, 1360, 1458, 1517, 1524, 1539, 1582, 1583, 1584, 1630, 4161,
];

/// Of these, those of routines: `FUNCTION d.f does not exist`.
const BARE_CODES: [u16; 5] = [1304, 1305, 1318, 1583, 1630];

/// SQLite's errors of preparing a statement and of reading a schema, and what begins those that end
/// with a name.
const SQLITE_CODE: &str = "SQLITE_ERROR";
const SQLITE_CORRUPT: &str = "SQLITE_CORRUPT";
const NO_SUCH: &str = "no such ";
const SQLITE_BEGINNINGS: [&str; 17] = [
    NO_SUCH,
    "error in index ",
    "error in table ",
    "error in trigger ",
    "error in view ",
    "there is already another table or index with this name: ",
    "too many columns on ",
    "ambiguous column name: ",
    "duplicate column name: ",
    "unknown database ",
    "unknown join type: ",
    "unknown table option: ",
    "object name reserved for internal use: ",
    "duplicate WITH table name: ",
    "circular reference: ",
    "multiple references to recursive table: ",
    "malformed database schema (",
];

/// Of the first, what begins those that have a name elsewhere, and what else they have.
const SQLITE_BARE: [(&str, &str); 14] = [
    ("table ", " has no column named "),
    ("table ", " already exists"),
    ("table ", " may not be "),
    ("index ", " already exists"),
    ("view ", " already exists"),
    ("trigger ", " already exists"),
    ("view ", " may not be "),
    ("there is already ", " named "),
    ("cannot modify ", " because it is a view"),
    ("cannot join using column ", " not present in both tables"),
    ("misuse of ", ""),
    ("wrong number of arguments to function ", ""),
    ("unsafe use of ", ""),
    ("foreign key mismatch - ", ""),
];

/// What stands before and behind a name whose message has numbers or more English.
const SQLITE_ENCLOSING: [(&str, &str); 6] = [
    ("table ", " has "),
    ("view ", " is circularly defined"),
    (" columns for '", "' but got "),
    ("'", "' is not a function"),
    ("ambiguous reference to ", " in USING()"),
    ("use DROP ", ""),
];

/// What may stand in or beside a name in English.
const SERVER_WORDS: &str = "a add after aggregate alias aliased already altered ambiguous an and \
    are argument arguments array as at base be because best bigint boolean both built but by \
    bytea call can candidate cannot cast casts catalog character check choose class clause \
    collation column columns constraint conversion could create cursor data database date \
    default defined delete detail distinct does doesn domain double drop duplicate encoding \
    entry enum error event every exist exists expected explicit expressions extension family \
    fatal field find for foreign from function given got group has have having hint if in \
    incorrect index inet insert integer interval into is isn it its join json jsonb key language \
    large limit line list literal loaded main match matches materialized may meant method might \
    mismatch misuse modified modify multiple must name named names need no nonexistent not \
    number numeric object of on operator option or order parameter parameters part partition \
    perhaps plugin policy portal precision prepared present procedure publication query quotes \
    real record reference referenced referencing relation rename returning returns role row rule \
    same savepoint schema select sequence server set should single smallint specified sql \
    statement string subscription such suitable t table tables text than that the there this \
    time timestamp to trigger type types unique unknown unsafe update use used user using uuid \
    values varchar varying view was where while window with without wrong you your zone";

/// Which part of a message of this code has names; `None`: none has.
fn named_part(code: &str, message: &str) -> Option<Range<usize>> {
    let end = message.rsplit_once(" at character ").filter(|(_, place)| is_number(place));
    let whole = 0..end.map_or(message.len(), |(before, _)| before.len());
    let number = code.parse::<u16>();
    let is_bare = match number {
        _ if code == SQLITE_CODE && is_bare_of_sqlite(message) => true,
        _ if code == SQLITE_CODE || code.starts_with(SQLITE_CORRUPT) => {
            return part_of_sqlite(message);
        }
        Ok(number) if code.len() == 4 => {
            MYSQL_CODES.contains(&number).then(|| BARE_CODES.contains(&number))?
        }
        _ => {
            let class = code.get(..2).filter(|_| code.len() == 5)?;
            let is_named = POSTGRES_CLASSES.contains(&class) && !OTHER_STATES.contains(&code);
            is_named.then(|| BARE_STATES.contains(&code))?
        }
    };
    if is_bare { Some(whole) } else { quoted_part(message) }
}

fn is_bare_of_sqlite(message: &str) -> bool {
    // What else it has may be behind the cut.
    let is_cut = message.contains(CUT_MARK);
    SQLITE_BARE
        .iter()
        .any(|(begin, has)| message.starts_with(begin) && (is_cut || message.contains(has)))
}

/// Which part of another message of SQLite has names.
fn part_of_sqlite(message: &str) -> Option<Range<usize>> {
    let Some(begin) = SQLITE_BEGINNINGS.iter().find(|begin| message.starts_with(**begin)) else {
        return enclosed_part(message);
    };
    let kind = message.find(": ").filter(|_| *begin == NO_SUCH);
    Some(kind.map_or(begin.len(), |at| at + 2)..message.len())
}

/// What stands between two known texts; of a message that was cut, to its end.
fn enclosed_part(message: &str) -> Option<Range<usize>> {
    SQLITE_ENCLOSING.iter().find_map(|(before, behind)| {
        let begin = message.find(before)? + before.len();
        // In a name that was cut the text behind it may stand too.
        let is_cut = message.contains(CUT_MARK);
        let last = message.rfind(behind).filter(|last| *last >= begin && !is_cut);
        let end = last.or_else(|| is_cut.then_some(message.len()))?;
        Some(begin..end)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// From the first quote to the last one; of a message that was cut, to its end.
fn quoted_part(message: &str) -> Option<Range<usize>> {
    let begin = message.find(is_opening)?;
    let last = message.rfind(is_quote).filter(|last| *last > begin && !message.contains(CUT_MARK));
    Some(begin..last.unwrap_or(message.len()))
}

/// A message of this code without names that are none of the known words, in lower case.
pub(crate) fn without_unknown_names<'a>(
    code: &str,
    message: &'a str,
    is_known: impl Fn(&str) -> bool,
) -> Cow<'a, str> {
    let part = named_part(code, message).filter(|_| !is_left_out(message));
    let Some(part) = part else { return Cow::Borrowed(message) };
    let own: Vec<&str> = SERVER_WORDS.split_ascii_whitespace().collect();
    let stays = |token: &str| {
        let mut words = words_of(token).map(|(_, word)| word.to_lowercase());
        words.all(|word| own.contains(&word.as_str()) || is_known(&word)) && has_no_more(token)
    };
    let (mut shown, mut read) = (message[..part.start].to_owned(), part.start);
    let mut is_behind_unknown = false;
    for (at, token) in tokens_of(&message[part.clone()]) {
        let begin = part.start + at;
        let end = begin + token.len();
        let is_unknown = !stays(token);
        if !is_unknown {
            shown.push_str(&message[read..end]);
        } else if !is_behind_unknown {
            // Several in a row may be one.
            shown.push_str(&message[read..begin]);
            shown.push('?');
        }
        (read, is_behind_unknown) = (end, is_unknown);
    }
    shown.push_str(&message[read..]);
    if shown == message { Cow::Borrowed(message) } else { Cow::Owned(shown) }
}

/// Whether a message has dbtime's own words in the place of the server's, also behind a level.
fn is_left_out(message: &str) -> bool {
    let is_level = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
    let behind = message.split_once(":  ").filter(|(level, _)| is_level(level));
    behind.map_or(message, |(_, words)| words).starts_with(LEFT_OUT)
}

/// Whether a token is no more than its words, or an operator.
fn has_no_more(token: &str) -> bool {
    let signs = || token.chars().filter(|sign| !sign.is_alphanumeric() && *sign != '_');
    let is_plain = signs().all(|sign| matches!(sign, '-' | '$' | '/'));
    let is_operator = signs().count() == token.chars().count() && token.len() <= 3;
    is_plain || is_operator
}

/// The pieces of a text between blanks, quotes and punctuation, each with its place.
fn tokens_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between =
        |sign: char| sign.is_whitespace() || is_quote(sign) || ".,;:?()[]".contains(sign);
    let mut behind = 0;
    let pieces = text.split_inclusive(is_between).map(move |piece| {
        let at = behind;
        behind += piece.len();
        (at, piece.trim_end_matches(is_between))
    });
    pieces.filter(|(_, token)| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a statement and the configuration have these words alone.
    fn shown(code: &str, message: &str) -> String {
        let known = ["d", "t", "id", "f", "pg_sleep"];
        without_unknown_names(code, message, |word| known.contains(&word)).into_owned()
    }

    #[test]
    fn names_that_no_statement_has_are_left_out() {
        for (code, message, expected) in [
            ("42703", "column \"hush\" does not exist", "column \"?\" does not exist"),
            ("42703", "column t.hush does not exist", "column t.? does not exist"),
            (
                "42703",
                "column t.my hush does not exist at character 8",
                "column t.? does not exist at character 8",
            ),
            ("42703", "Spalte t.hush existiert nicht", "? t.?"),
            ("42703", "record \"t\" has no field \"hush\"", "record \"t\" has no field \"?\""),
            ("42P01", "relation \"hush.d\" does not exist", "relation \"?.d\" does not exist"),
            ("42P01", "Relation »hush« existiert nicht", "Relation »?« existiert nicht"),
            (
                "42P01",
                "relation \"a \"b\" hush\" does not exist",
                "relation \"a \"?\" does not exist",
            ),
            ("42P01", "relation \"hush… (9 more bytes read)", "relation \"?)"),
            (
                "42883",
                "function hush(integer) does not exist",
                "function ?(integer) does not exist",
            ),
            (
                "42883",
                "operator does not exist: text || hush",
                "operator does not exist: text || ?",
            ),
            ("42704", "type \"h#u.s!h\" does not exist", "type \"?\" does not exist"),
            ("42704", "role \"4711\" does not exist", "role \"?\" does not exist"),
            ("42710", "role \"hush\" already exists", "role \"?\" already exists"),
            ("3F000", "schema \"hush\" does not exist", "schema \"?\" does not exist"),
            ("3D000", "database \"hush\" does not exist", "database \"?\" does not exist"),
            (
                "26000",
                "prepared statement \"hush\" does not exist",
                "prepared statement \"?\" does not exist",
            ),
            ("1054", "Unknown column 'hush' in 'field list'", "Unknown column '?' in 'field list'"),
            (
                "1054",
                "Unknown column 'a' in 'hush' in 'SELECT'",
                "Unknown column 'a' in '?' in 'SELECT'",
            ),
            (
                "1054",
                "Unbekanntes Tabellenfeld 'hush' in SELECT",
                "Unbekanntes Tabellenfeld '?' in SELECT",
            ),
            ("1146", "Table 'd.hush' doesn't exist", "Table 'd.?' doesn't exist"),
            ("1146", "Table 'hush.t' doesn't exist", "Table '?.t' doesn't exist"),
            ("1305", "FUNCTION d.hush does not exist", "FUNCTION d.? does not exist"),
            ("1049", "Unknown database 'hush'", "Unknown database '?'"),
            (
                "1091",
                "Can't DROP COLUMN `hush`; check that it exists",
                "Can't DROP COLUMN `?`; check that it exists",
            ),
            ("SQLITE_ERROR", "no such table: main.hush", "no such table: main.?"),
            ("SQLITE_ERROR", "no such column: hush", "no such column: ?"),
        ] {
            assert_eq!(shown(code, message), expected);
        }
    }

    #[test]
    fn names_in_errors_of_sqlite_are_left_out_wherever_they_stand() {
        for (message, expected) in [
            ("no such table: t'; hush", "no such table: t'; ?"),
            ("no such index: x'; hush", "no such index: ?"),
            ("table hush has no column named t", "table ? has no column named t"),
            ("table 'hush' already exists", "table '?' already exists"),
            ("there is already an index named my hush", "there is already an index named ?"),
            ("cannot modify hush because it is a view", "cannot modify ? because it is a view"),
            ("misuse of aggregate: hush()", "misuse of aggregate: ?()"),
            (
                "foreign key mismatch - \"hush\" referencing \"t\"",
                "foreign key mismatch - \"?\" referencing \"t\"",
            ),
            ("unknown join type: hush", "unknown join type: ?"),
            (
                "table hush has 2 columns but 3 values were supplied",
                "table ? has 2 columns but 3 values were supplied",
            ),
            ("table my hush has 3 values for 2 columns", "table ? has 3 values for 2 columns"),
            ("table hush… (9 more bytes read)", "table ?)"),
            ("table t has hush… (9 more bytes read)", "table t has ?)"),
            ("index hush… (9 more bytes read)", "index ?)"),
            ("error in view hush: no such table: main.t", "error in view ?: no such table: main.t"),
            (
                "error in trigger t after rename: no such column: hush",
                "error in trigger t after rename: no such column: ?",
            ),
            ("view hush is circularly defined", "view ? is circularly defined"),
            ("expected 2 columns for 'hush' but got 1", "expected 2 columns for '?' but got 1"),
            ("'hush' is not a function", "'?' is not a function"),
            ("ambiguous reference to hush in USING()", "ambiguous reference to ? in USING()"),
            ("use DROP VIEW to delete view hush", "use DROP VIEW to delete view ?"),
        ] {
            assert_eq!(shown(SQLITE_CODE, message), expected);
        }
        let schema = "malformed database schema (hush) - no such table: main.hush";
        let expected = "malformed database schema (?) - no such table: main.?";
        assert_eq!(shown("SQLITE_CORRUPT", schema), expected);
    }

    #[test]
    fn names_of_the_statements_and_other_errors_stay() {
        for (code, message) in [
            ("42703", "column t.id does not exist at character 8"),
            ("42703", "column \"id\" of relation \"t\" does not exist"),
            ("42883", "function pg_sleep(unknown) does not exist; No function matches"),
            ("42P01", "missing FROM-clause entry for table \"t\""),
            ("42P01", "Relation »t« existiert nicht"),
            ("42P02", "there is no parameter $1"),
            ("42601", "INSERT has more expressions than target columns"),
            ("42501", "permission denied for table hush"),
            ("1054", "Unknown column 't.id' in 'where clause'"),
            ("1146", "Table 'd.t' doesn't exist"),
            ("1305", "FUNCTION d.f does not exist"),
            ("1062", "Duplicate entry '?' for key 'PRIMARY'"),
            ("23505", "duplicate key value violates unique constraint \"t_pkey\""),
            ("SQLITE_ERROR", "no such table: t"),
            ("SQLITE_ERROR", "no such column: ?"),
            ("SQLITE_ERROR", "table t has no column named id"),
            ("SQLITE_ERROR", "table t may not be modified"),
            ("SQLITE_ERROR", "wrong number of arguments to function f()"),
            ("SQLITE_ERROR", "cannot join using column id - column not present in both tables"),
            ("SQLITE_ERROR", "table t has 2 columns but 3 values were supplied"),
            ("SQLITE_ERROR", "database is locked"),
            ("", "relation \"x\" does not exist"),
            ("42P01", LEFT_OUT),
            ("42883", LEFT_OUT),
            ("42883", &*format!("ERROR:  {LEFT_OUT}")),
        ] {
            assert_eq!(shown(code, message), message);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_name_is_left(name in "[a-zé表'\"`.«» #!(-]{0,12}", before in "['\"»]") {
            for code in ["42703", "42P01", "1054", "1305", "SQLITE_ERROR"] {
                let message = format!("no such column: {before}{name}qqhushqq{name}{before} gone");
                proptest::prop_assert!(!shown(code, &message).contains("hush"));
            }
        }
    }
}
