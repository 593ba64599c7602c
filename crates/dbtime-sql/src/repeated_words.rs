//! What servers say of statements, without what they repeat of these.
//!
//! A server quotes the place at which it gave up: PostgreSQL and SQLite a token, MySQL all that
//! follows. It may be a literal, or a password that lacks its quotes. Of what stands there only
//! words are left that the shapes of the statements have as well: keywords and names. Of names in
//! other errors too.

use crate::fingerprint::fingerprint;
use crate::lexical_rules::LexicalRules;
use crate::password_places::{may_hold_password, without_passwords};
use crate::unknown_names::without_unknown_names;
use dbtime_model::plain_text::CUT_MARK;
use dbtime_model::secret_text::MASK;
use std::borrow::Cow;
use std::collections::HashSet;

/// What servers put before words of a statement that they repeat, in the languages they have, and
/// what they put behind them.
const QUOTES: [(char, &[char]); 9] = [
    ('\'', &['\'']),
    ('"', &['"']),
    ('`', &['`', '\'']),
    ('«', &['»']),
    ('»', &['«']),
    ('„', &['“', '”']),
    ('“', &['”']),
    ('‘', &['’']),
    ('「', &['」']),
];

/// Codes of errors that are about the syntax of a statement: these quote it in any language.
const SYNTAX_CODES: [&str; 3] = ["42601", "1064", "1149"];

/// What stands before such a quote in English, whatever the code: `at or near "x"`, and SQLite's
/// `unrecognized token: "x"`.
const MARKS: [&str; 2] = ["near ", "token: "];

/// The code of a setting that the server does not know, and what stands before it in English. It
/// may be a parameter, as of `current_setting`.
const UNKNOWN_SETTING: (&str, &str) = ("42704", "unrecognized configuration parameter ");

/// What is known of the statements that errors are about.
#[derive(Clone, Debug)]
pub struct StatementShapes {
    /// Keywords and names, in lower case.
    words: HashSet<String>,
    may_hold_password: bool,
    rules: LexicalRules,
}

impl StatementShapes {
    /// The shapes of statements that are read by these rules.
    pub fn of<'a>(statements: impl IntoIterator<Item = &'a str>, rules: &LexicalRules) -> Self {
        let mut shapes = Self { words: HashSet::new(), may_hold_password: false, rules: *rules };
        let mut shape = String::new();
        for sql in statements {
            fingerprint(sql, rules, &mut shape);
            shapes.words.extend(words_of(&shape).map(|(_, word)| word.to_lowercase()));
            shapes.may_hold_password |= may_hold_password(sql);
        }
        shapes
    }

    /// The same with the words of the run's own configuration, such as its target, as names.
    #[must_use]
    pub fn with_names(mut self, configured: &str) -> Self {
        self.words.extend(words_of(configured).map(|(_, word)| word.to_lowercase()));
        self
    }

    /// Where no statement is known, as behind a log: no word of one is left.
    pub fn unknown() -> Self {
        Self::of(std::iter::empty(), &LexicalRules::of_protocol(None))
    }

    /// One of the statements in parentheses, as a message has it, without its passwords; nothing
    /// where a password may lack its quotes.
    pub fn in_parentheses(&self, sql: &str) -> String {
        match self.may_hold_password {
            true => String::new(),
            false => format!(" ({})", without_passwords(sql)),
        }
    }

    /// A server's message of this code, without what may be a literal or a password. Where one of
    /// the statements may hold a password nothing is left from the first quote on.
    pub fn without_repeated<'a>(&self, code: &str, message: &'a str) -> Cow<'a, str> {
        let named = self.without_unknown_names(code, message);
        if self.may_hold_password {
            return match named.find(is_opening) {
                Some(opening) => Cow::Owned(format!("{}{MASK}", &named[..opening])),
                None => named,
            };
        }
        if matches!(named, Cow::Owned(_)) {
            return named;
        }
        let from = repeats_from(code, message);
        let opening = from.and_then(|from| Some(from + message[from..].find(is_opening)?));
        let Some(opening) = opening else { return named };
        let (before, rest) = message.split_at(opening);
        let quote = rest.chars().next();
        let begin = quote.map_or(0, char::len_utf8);
        let closing = quote.and_then(closing_of).unwrap_or_default();
        // Of what is cut the last quote may be one of the statement's own.
        let is_end = |end: &usize| *end >= begin && !rest.contains(CUT_MARK);
        let end = rest.rfind(closing).filter(is_end).unwrap_or(rest.len());
        let shown = self.known_part(&rest[begin..end]);
        Cow::Owned(format!("{before}{}{shown}{}", &rest[..begin], &rest[end..]))
    }

    /// A server's message of this code without names that neither the statements nor the
    /// configuration have: a text that was put together at run time may have made a value into one.
    pub fn without_unknown_names<'a>(&self, code: &str, message: &'a str) -> Cow<'a, str> {
        if is_unknown_setting(code, message) {
            return Cow::Borrowed(message);
        }
        without_unknown_names(code, message, |word| self.words.contains(word))
    }

    /// A piece of a statement without its literals, up to the first word that no shape has.
    fn known_part(&self, repeated: &str) -> String {
        let mut shown = String::new();
        fingerprint(repeated, &self.rules, &mut shown);
        let is_unknown = |word: &str| !self.words.contains(word.to_lowercase().as_str());
        let unknown = words_of(&shown).find(|(_, word)| is_unknown(word)).map(|(at, _)| at);
        if let Some(at) = unknown {
            shown.truncate(at);
            shown.push_str(MASK);
        }
        shown
    }
}

/// A statement as an error repeats it whole: nothing of it where a password may lack its quotes.
pub fn repeated_statement(sql: &str) -> Cow<'_, str> {
    if may_hold_password(sql) { Cow::Borrowed(MASK) } else { without_passwords(sql) }
}

/// A server's message about this statement: where that may hold a password nothing is left from the
/// first quote on; else it stays as it is.
pub fn without_repeated_passwords<'a>(sql: &str, message: &'a str) -> Cow<'a, str> {
    match message.find(is_opening).filter(|_| may_hold_password(sql)) {
        Some(opening) => Cow::Owned(format!("{}{MASK}", &message[..opening])),
        None => Cow::Borrowed(message),
    }
}

/// What stands behind words that this sign stands before; `None`: it stands before none.
pub(crate) fn closing_of(sign: char) -> Option<&'static [char]> {
    QUOTES.iter().find(|(opening, _)| *opening == sign).map(|(_, closing)| *closing)
}

pub(crate) fn is_opening(sign: char) -> bool {
    closing_of(sign).is_some()
}

/// Whether a sign opens or closes a quote.
pub(crate) fn is_quote(sign: char) -> bool {
    is_opening(sign) || QUOTES.iter().any(|(_, closing)| closing.contains(&sign))
}

fn is_unknown_setting(code: &str, message: &str) -> bool {
    code == UNKNOWN_SETTING.0 && message.starts_with(UNKNOWN_SETTING.1)
}

/// From where on a message may repeat a statement; `None`: it does not.
fn repeats_from(code: &str, message: &str) -> Option<usize> {
    if is_unknown_setting(code, message) || SYNTAX_CODES.contains(&code) {
        return Some(0);
    }
    let behind = |mark: &'static str| {
        let is_word = |at: usize| !message[..at].ends_with(char::is_alphanumeric);
        let places = message.match_indices(mark).filter(|(at, _)| is_word(*at));
        let mut ends = places.map(|(at, _)| at + mark.len());
        ends.find(|end| message[*end..].starts_with(is_opening))
    };
    MARKS.into_iter().filter_map(behind).min()
}

/// The words of a text, each with its place.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |sign: char| !sign.is_alphanumeric() && sign != '_';
    let mut behind = 0;
    let pieces = text.split_inclusive(is_between).map(move |piece| {
        let at = behind;
        behind += piece.len();
        (at, piece.trim_end_matches(is_between))
    });
    pieces.filter(|(_, word)| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::SqlDialect::{self, Mysql, Postgres, Sqlite};

    fn shown(dialect: SqlDialect, sql: &str, code: &str, message: &str) -> String {
        let shapes = StatementShapes::of([sql], &LexicalRules::unknown(dialect));
        shapes.without_repeated(code, message).into_owned()
    }

    #[test]
    fn keywords_and_names_stay_where_literals_and_unknown_words_are_masked() {
        let select = "SELECT a FROMM t WHERE a = 'hush'";
        for (dialect, sql, code, message, expected) in [
            (Postgres, "SELEC 1", "42601", "at or near \"SELEC\"", "at or near \"SELEC\""),
            (Postgres, "SELECT 1 'hush'", "42601", "at or near \"'hush'\"", "at or near \"?\""),
            (Postgres, "SELECT 1", "42601", "at or near \"hush\"", "at or near \"***\""),
            (Postgres, "SELECT 1", "22025", "at or near \"'hush'\"", "at or near \"?\""),
            (Postgres, "SELECT 1", "42601", "Syntaxfehler bei »hush«", "Syntaxfehler bei »***«"),
            (Postgres, "SELECT 1", "42601", "bei „hush“", "bei „***“"),
            (Mysql, select, "1064", "near 't WHERE a = 'hush'' at", "near 't WHERE a = ?' at"),
            (Mysql, select, "1064", "near 't WHERE a = 'hus' at", "near 't WHERE a = ?' at"),
            (Mysql, select, "1064", "near 't WHERE hush' at", "near 't WHERE ***' at"),
            (Mysql, select, "1064", "près de 'hush' à", "près de '***' à"),
            (Mysql, select, "1064", "near '' at line 1", "near '' at line 1"),
            (Mysql, select, "1064", "near 'hush", "near '***"),
            (Postgres, "SELECT 1", "42601", "at or near \"'hush", "at or near \"?"),
            (Postgres, "SELECT 1", "42601", "near \"$$a \"b hush… (9 more)", "near \"?"),
            (Sqlite, select, "SQLITE_ERROR", "near \"FROMM\": no", "near \"FROMM\": no"),
            (Sqlite, select, "SQLITE_ERROR", "near \"hush\": no", "near \"***\": no"),
            (Sqlite, select, "SQLITE_ERROR", "token: \"'hush\"", "token: \"?\""),
        ] {
            assert_eq!(shown(dialect, sql, code, message), expected, "{sql}");
        }
    }

    #[test]
    fn nothing_is_quoted_where_a_statement_may_hold_a_password() {
        for sql in [
            "ALTER ROLE r PASSWORD hush",
            "ALTER ROLE r PASSSWORD hush",
            "CREATE USER u IDENTIFIED BY hush",
            "SELECT 1; GRANT a ON *.* TO u IDENTIFED BY hush",
        ] {
            let shapes = StatementShapes::of([sql], &LexicalRules::of_protocol(None));
            assert_eq!(shapes.in_parentheses(sql), "");
            for (code, message, expected) in [
                ("42601", "at or near \"hush\"", "at or near ***"),
                ("1064", "near 'hush' at line 1", "near ***"),
                ("42704", "no option «hush»", "no option ***"),
                ("57014", "canceled", "canceled"),
            ] {
                assert_eq!(shown(Postgres, sql, code, message), expected, "{sql}");
            }
        }
    }

    #[test]
    fn statements_and_messages_are_repeated_where_no_password_can_be() {
        for (sql, message, expected) in [
            ("ALTER ROLE r PASSWORD 'hush' FOO", "near \"FOO\"", [MASK, "near ***"]),
            ("CREATE USER u IDENTIFIED BY hush", "near 'hush'", [MASK, "near ***"]),
            ("ALTER ROLE r PASSWORD 'hush'", "no such role", [MASK, "no such role"]),
            ("SELEC 'a'", "near \"'a'\"", ["SELEC 'a'", "near \"'a'\""]),
        ] {
            let shown = [repeated_statement(sql), without_repeated_passwords(sql, message)];
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn an_unknown_setting_is_shown_where_the_statement_has_it() {
        let message = "unrecognized configuration parameter \"my.hush\"";
        let masked = "unrecognized configuration parameter \"***\"";
        for (sql, expected) in [
            ("SET my.hush = 1", message),
            ("SELECT current_setting($1)", masked),
            ("SELECT current_setting('my.hush')", masked),
        ] {
            assert_eq!(shown(Postgres, sql, "42704", message), expected, "{sql}");
        }
    }

    #[test]
    fn errors_that_name_what_the_statement_has_stay_whole() {
        for (code, message) in [
            ("42P01", "relation \"x\" does not exist"),
            ("1062", "Duplicate entry '5' for key 'PRIMARY'"),
            ("42601", "INSERT has more expressions than target columns"),
            ("57P03", "a linear 'x', a token 'y'"),
        ] {
            assert_eq!(shown(Postgres, "SELECT 1 FROM x", code, message), message);
        }
    }

    #[test]
    fn names_that_may_have_been_values_are_left_out() {
        let sql = "SELECT f('hush') FROM t";
        for (code, message, expected) in [
            ("42703", "column \"hush\" does not exist", "column \"?\" does not exist"),
            ("42P01", "relation \"hush\" near \"t\" x", "relation \"? \"t\" x"),
            ("1146", "Table 'shop.hush' doesn't exist", "Table 'shop.?' doesn't exist"),
        ] {
            let shapes = StatementShapes::of([sql], &LexicalRules::of_protocol(None));
            let shapes = shapes.with_names("mariadb://u@h/shop");
            assert_eq!(shapes.without_repeated(code, message), expected);
        }
        let login = "DO 'BEGIN ALTER ROLE r PASSWORD ''hush''; END'";
        let message = "role \"hush\" does not exist";
        assert_eq!(shown(Postgres, login, "42704", message), "role ***");
        let message = "column t.hush does not exist";
        assert_eq!(shown(Postgres, login, "42703", message), "column t.? does not exist");
    }

    #[test]
    fn of_unknown_statements_no_word_is_left() {
        let line = "ERROR:  syntax error at or near \"hush\" at character 23";
        let shown = "ERROR:  syntax error at or near \"***\" at character 23";
        assert_eq!(StatementShapes::unknown().without_repeated("", line), shown);
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_taken(message in "(near |token: |hush|['\"«»„“é表a =]){0,20}") {
            let shown = StatementShapes::unknown().without_repeated("1064", &message).into_owned();
            let is_quoted = message.contains(is_opening);
            let (before, _) = message.split_at(message.find(is_opening).unwrap_or(message.len()));
            proptest::prop_assert!(shown.starts_with(before));
            proptest::prop_assert!(is_quoted || shown == message);
        }
    }
}
