//! Statements without their passwords, as a record keeps them.
//!
//! It reads no grammar. A literal counts that stands behind `PASSWORD`, `IDENTIFIED … BY` and their
//! like, and one that has a secret in it, as in `dblink_connect('host=h password=x')`. In
//! statements about logins all strings count: the word that says which one is the password may be
//! misspelt. A statement is read as each server reads it, and what is not clear counts where it may
//! be a password.

use crate::joint_lexer::{JointLexer, TextToken};
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;
use dbtime_model::SqlDialect;
use dbtime_model::secret_text::{
    MASK, holds_secret, is_password_word, speaks_of_passwords, without_secrets,
};
use std::borrow::Cow;
use std::ops::Range;

/// What is around literals and names.
const QUOTES: [char; 3] = ['\'', '"', '`'];

/// A statement with a mask in the place of each password.
pub fn without_passwords(sql: &str) -> Cow<'_, str> {
    let places = password_places(sql.as_bytes());
    if places.is_empty() {
        return Cow::Borrowed(sql);
    }
    let mut shown = Vec::with_capacity(sql.len());
    let mut from = 0;
    for place in places {
        shown.extend_from_slice(&sql.as_bytes()[from..place.at.start]);
        shown.extend_from_slice(place.masked(sql).as_bytes());
        from = place.at.end;
    }
    shown.extend_from_slice(&sql.as_bytes()[from..]);
    Cow::Owned(String::from_utf8_lossy(&shown).into_owned())
}

/// Whether a mask stands in a statement where its password was. A literal that is nothing else may
/// have been one, wherever it stands.
pub fn lacks_password(sql: &str) -> bool {
    let is_masked = |place: &PasswordPlace| {
        let text = place.text(sql);
        text.contains(MASK) && place.masked(sql) == text
    };
    sql.contains(&format!("'{MASK}'")) || password_places(sql.as_bytes()).iter().any(is_masked)
}

/// Whether a statement may have a password in it, which may lack its quotes: it names one, or is
/// about logins.
pub(crate) fn may_hold_password(sql: &str) -> bool {
    let is_about_logins = |dialect| {
        let mut reader = PasswordReader::default();
        JointLexer::new(sql.as_bytes(), &LexicalRules::unknown(dialect)).any(|token| {
            reader.take(&token);
            reader.subject == StatementSubject::Logins
        })
    };
    let mut dialects = [SqlDialect::Mysql, SqlDialect::Postgres].into_iter();
    speaks_of_passwords(sql) || dialects.any(is_about_logins)
}

/// Where a password stands.
#[derive(Debug)]
struct PasswordPlace {
    /// The literal, with its quotes.
    at: Range<usize>,
    extent: PasswordExtent,
}

/// How much of a literal is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PasswordExtent {
    /// What its text names so: `'host=h password=x'`.
    Named,
    Whole,
}

impl PasswordPlace {
    fn text<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        String::from_utf8_lossy(&sql.as_bytes()[self.at.clone()])
    }

    /// The literal without it.
    fn masked(&self, sql: &str) -> String {
        if self.extent == PasswordExtent::Whole {
            return format!("'{MASK}'");
        }
        let text = self.text(sql);
        let inner = inner_of(&text);
        let shown = without_secrets(&text[inner.clone()]);
        format!("{}{shown}{}", &text[..inner.start], &text[inner.end..])
    }
}

/// Where the text of a literal stands between its quotes.
fn inner_of(literal: &str) -> Range<usize> {
    let (begin, mark) = match (literal.strip_prefix('$'), literal.find(QUOTES)) {
        (Some(rest), _) => {
            let begin = rest.find('$').map_or(0, |at| at + 2);
            (begin, &literal[..begin])
        }
        (None, Some(at)) => (at + 1, &literal[at..=at]),
        (None, None) => (0, ""),
    };
    let inner = literal[begin..].strip_suffix(mark).unwrap_or(&literal[begin..]);
    begin..begin + inner.len()
}

/// Where passwords stand, in the order of the text.
fn password_places(sql: &[u8]) -> Vec<PasswordPlace> {
    let mut places: Vec<PasswordPlace> = [SqlDialect::Mysql, SqlDialect::Postgres]
        .into_iter()
        .flat_map(|dialect| read_by(dialect, sql))
        .collect();
    places.sort_by_key(|place| place.at.start);
    let mut apart: Vec<PasswordPlace> = Vec::with_capacity(places.len());
    for place in places {
        match apart.last_mut() {
            Some(last) if place.at.start < last.at.end => {
                last.at.end = last.at.end.max(place.at.end);
                last.extent = last.extent.max(place.extent);
            }
            _ => apart.push(place),
        }
    }
    apart
}

/// The places as one server reads the text.
fn read_by(dialect: SqlDialect, sql: &[u8]) -> Vec<PasswordPlace> {
    let mut lexer = JointLexer::new(sql, &LexicalRules::unknown(dialect));
    let mut reader = PasswordReader::default();
    let mut places = Vec::new();
    loop {
        let begin = lexer.position();
        let Some(token) = lexer.next() else { return places };
        if let Some(extent) = reader.take(&token) {
            places.push(PasswordPlace { at: begin..lexer.position(), extent });
        }
    }
}

/// Whether a text names a secret, and says it or has a mask in its place.
fn names_secret(text: &str) -> bool {
    holds_secret(text) || (text.contains(MASK) && holds_secret(&text.replace(MASK, "x")))
}

/// What the words so far make of the next literal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AwaitedLiteral {
    #[default]
    Other,
    Password,
    /// Behind the next equals sign: `SET PASSWORD FOR 'u'@'h' = 'x'`.
    AssignedPassword,
}

/// What a statement is about, by its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatementSubject {
    /// None of them was met.
    #[default]
    Unsaid,
    /// `CREATE` and its like: of what, follows.
    Defined,
    /// `SET`.
    Set,
    /// `START`.
    Started,
    /// Logins, here or on other servers.
    Logins,
    Other,
}

impl StatementSubject {
    /// With the next word.
    fn after(self, word: &str) -> Self {
        use StatementSubject::{Defined, Logins, Other, Set, Started, Unsaid};
        let word = word.to_ascii_lowercase();
        match (self, word.as_str()) {
            (Unsaid, "create" | "alter" | "drop") => Defined,
            (Unsaid, "set") => Set,
            (Unsaid, "start") => Started,
            (Unsaid, "grant" | "change") => Logins,
            (Defined, "or" | "replace") => Defined,
            (Defined, "user" | "role" | "group" | "login" | "server" | "subscription") => Logins,
            (Set, "default" | "local" | "session" | "global") => Set,
            // Also misspelt.
            (Set, word) if word == "role" || word.starts_with("pas") => Logins,
            (Started, "replica" | "slave" | "group_replication") => Logins,
            (Logins, _) => Logins,
            (Unsaid | Defined | Set | Started | Other, _) => Other,
        }
    }
}

/// Whether a literal is a string, and no number.
fn is_string(literal: &str) -> bool {
    literal.starts_with('$') || literal.contains(QUOTES)
}

/// Goes over the tokens of a text.
#[derive(Debug, Default)]
struct PasswordReader {
    awaited: AwaitedLiteral,
    /// Whether `IDENTIFIED` was met.
    is_identified: bool,
    subject: StatementSubject,
}

impl PasswordReader {
    /// Takes the next token, and says how much of it is a password; `None`: nothing.
    fn take(&mut self, token: &TextToken<'_>) -> Option<PasswordExtent> {
        use PasswordExtent::{Named, Whole};
        let text = String::from_utf8_lossy(token.bytes);
        let is_awaited = self.awaited == AwaitedLiteral::Password;
        match token.kind {
            TokenKind::Space => {}
            TokenKind::Word | TokenKind::QuotedName => {
                let word = text.trim_matches(QUOTES);
                self.awaited = self.behind_word(word);
                self.subject = self.subject.after(word);
            }
            TokenKind::Symbol => self.pass_symbol(token.bytes),
            TokenKind::Parameter => self.awaited = AwaitedLiteral::Other,
            TokenKind::Literal => {
                let inner = &text[inner_of(&text)];
                // Where double quotes are around names it is one; another literal may follow.
                if is_password_word(inner) {
                    self.awaited = AwaitedLiteral::Password;
                }
                let is_whole =
                    is_awaited || (self.subject == StatementSubject::Logins && is_string(&text));
                return is_whole.then_some(Whole).or(names_secret(inner).then_some(Named));
            }
            TokenKind::Unclear => {
                let may_be = self.awaited != AwaitedLiteral::Other
                    || self.is_identified
                    || self.subject == StatementSubject::Logins;
                return (may_be || speaks_of_passwords(&text)).then_some(Whole);
            }
        }
        None
    }

    fn behind_word(&mut self, word: &str) -> AwaitedLiteral {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        if is("identified") {
            self.is_identified = true;
            return Other;
        }
        let is_behind = ["by", "as", "using", "replace"].into_iter().any(is);
        match self.awaited {
            _ if is_password_word(word) || (is_behind && self.is_identified) => Password,
            Password if is("for") => AssignedPassword,
            // The charset of a string stands before it.
            Password if word.starts_with('_') => Password,
            AssignedPassword => AssignedPassword,
            Other | Password => Other,
        }
    }

    fn pass_symbol(&mut self, symbol: &[u8]) {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        self.awaited = match (self.awaited, symbol) {
            (_, b";") => {
                self.is_identified = false;
                self.subject = StatementSubject::Unsaid;
                Other
            }
            (Password, b"=" | b":" | b"(") | (AssignedPassword, b"=") => Password,
            (AssignedPassword, _) => AssignedPassword,
            (Other | Password, _) => Other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_left_out_and_nothing_else() {
        for (sql, shown) in [
            ("ALTER ROLE r PASSWORD 'x'", "ALTER ROLE r PASSWORD '***'"),
            (
                "create role r login password 'it''s x' valid until '2030-01-01'",
                "create role r login password '***' valid until '***'",
            ),
            ("ALTER ROLE r PASSWORD E'x'", "ALTER ROLE r PASSWORD '***'"),
            ("ALTER ROLE r PASSWORD $$x$$", "ALTER ROLE r PASSWORD '***'"),
            (r"ALTER ROLE r PASSWORD 'a\'b'", "ALTER ROLE r PASSWORD '***'"),
            (
                "CREATE USER 'u'@'h' IDENTIFIED BY 'x' REPLACE 'y' ACCOUNT LOCK",
                "CREATE USER '***'@'***' IDENTIFIED BY '***' REPLACE '***' ACCOUNT LOCK",
            ),
            (
                "ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS '$A$x'",
                "ALTER USER u IDENTIFIED WITH '***' AS '***'",
            ),
            (
                "ALTER USER u IDENTIFIED VIA ed25519 USING PASSWORD ( \"x\" )",
                "ALTER USER u IDENTIFIED VIA ed25519 USING PASSWORD ( '***' )",
            ),
            ("SET PASSWORD FOR 'u'@'h' = 'x'", "SET PASSWORD FOR '***'@'***' = '***'"),
            ("SET PASSWORD = PASSWORD('x')", "SET PASSWORD = PASSWORD('***')"),
            (
                "CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD = _utf8'x', MASTER_PORT=1",
                "CHANGE MASTER TO MASTER_USER='***', MASTER_PASSWORD = _utf8'***', MASTER_PORT=1",
            ),
            (
                "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', \"password\" 'x')",
                "CREATE USER MAPPING FOR u SERVER s OPTIONS (user '***', '***' '***')",
            ),
            (
                "CREATE SUBSCRIPTION s CONNECTION 'host=h password=x' PUBLICATION p",
                "CREATE SUBSCRIPTION s CONNECTION '***' PUBLICATION p",
            ),
            (
                "SELECT dblink_connect(E'host=h password=x'), 'y'",
                "SELECT dblink_connect(E'host=h password=***'), 'y'",
            ),
            ("SELECT dblink_connect($a$password=x$a$)", "SELECT dblink_connect('***'"),
            ("SELECT 'ä'; ALTER ROLE r PASSWORD 'x'", "SELECT 'ä'; ALTER ROLE r PASSWORD '***'"),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(lacks_password(shown) && !lacks_password(sql), "{sql}");
            assert_eq!(without_passwords(shown), shown, "it stays what it is");
        }
    }

    #[test]
    fn statements_about_logins_keep_no_string_however_their_words_are_spelt() {
        for sql in [
            "ALTER ROLE nopw PASSSWORD 'S3CRETx5'",
            "/* 1 */ create user u identifeid by 'S3CRETx5'",
            "CREATE OR REPLACE USER u IDENTIFED BY \"S3CRETx5\"",
            "ALTER GROUP g PASSWRD $x$S3CRETx5$x$",
            "SET PASSWROD = 'S3CRETx5'",
            "SET DEFAULT ROLE 'S3CRETx5'",
            "GRANT SELECT ON *.* TO u IDENTIFED BY 'S3CRETx5'",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWRD 'S3CRETx5')",
            "ALTER USER MAPPING FOR u SERVER s OPTIONS (SET passwd_ E'S3CRETx5')",
            "ALTER SUBSCRIPTION s CONNECTION 'host=h passwrd=S3CRETx5'",
            "CHANGE REPLICATION SOURCE TO SOURCE_PASSWRD = 'S3CRETx5'",
            "START REPLICA USER = u PASSWRD = 'S3CRETx5'",
            "SELECT 'x'; DROP USER 'S3CRETx5'",
            "ALTER ROLE r PASSSWORD 'S3CRETx5",
        ] {
            let shown = without_passwords(sql);
            assert!(!shown.contains("S3CRETx5") && lacks_password(&shown), "{shown}");
            assert_eq!(without_passwords(&shown), shown, "it stays what it is");
        }
    }

    #[test]
    fn other_statements_are_whole() {
        for sql in [
            "UPDATE users SET role = 'x', passport = 'y' WHERE login = 'z'",
            "CREATE TABLE user (role TEXT DEFAULT 'x')",
            "ALTER TABLE t ADD COLUMN login TEXT DEFAULT 'x'",
            "SET search_path = 'x'",
            "START TRANSACTION; SELECT 'x'",
            "ALTER ROLE r CONNECTION LIMIT 5; SELECT 'x'",
            "SELECT id FROM t WHERE token = 'x'",
            "SELECT password FROM t WHERE id = 5 AND name = 'x'",
            "SELECT `password` FROM `t` WHERE id = 'x'",
            "SET GLOBAL validate_password.length = 8",
            "ALTER USER u PASSWORD EXPIRE INTERVAL 90 DAY",
            r#"SELECT "a" FROM t WHERE b = 'it\'s' AND c = "d""#,
            "",
        ] {
            assert_eq!(without_passwords(sql), sql);
            assert!(!lacks_password(sql), "{sql}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text in "(PASSWORD|IDENTIFIED BY|FOR|[ -~é表'\"$=;]){0,30}") {
            let shown = without_passwords(&text).into_owned();
            proptest::prop_assert!(shown.len() <= text.len() * 6 + 8);
            lacks_password(&shown);
        }
    }
}
