//! Statements without their passwords, as a record keeps them.
//!
//! It reads no grammar. A literal counts that stands behind `PASSWORD`, `IDENTIFIED … BY` and their
//! like, and one that has a secret in it, as in `dblink_connect('host=h password=x')`. In
//! statements about logins all strings count, for the word that says which one is the password may
//! be misspelt, and so do words in the place of a password, whose quotes were forgotten. Keys of
//! SQLite's files count too, and values of settings whose names end like a secret's. A string that
//! is a statement of this kind counts as a whole, and so do those behind it. A statement is read as
//! each server reads it, and what is not clear counts where it may be a password.

mod inner_statement;
mod password_reader;
mod statement_subject;
mod word_place;

use crate::joint_lexer::{JointLexer, TextToken};
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;
use dbtime_model::SqlDialect;
use dbtime_model::secret_text::{MASK, speaks_of_passwords, without_secrets};
use password_reader::PasswordReader;
use statement_subject::{FIRST_WORDS, StatementSubject};
use std::borrow::Cow;
use std::ops::Range;

/// How deep strings are read that have statements in them: a block that executes a text, which may
/// be a block. One that is deeper counts if a word of it may name a secret.
const MAX_LEVELS: u8 = 3;

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

/// Finds passwords for a fingerprint, which reads on: that leaves out literals by itself, and no
/// words. Of statements that begin with none of [`FIRST_WORDS`], as nearly all do, it reads no
/// other.
#[derive(Debug, Default)]
pub(crate) struct PasswordFinder {
    reader: Option<PasswordReader>,
    /// Whether a word of the statement was met.
    has_begun: bool,
}

impl PasswordFinder {
    /// Whether the next token is a password, or a piece of one.
    #[inline]
    pub(crate) fn is_password(&mut self, token: &TextToken<'_>) -> bool {
        let may_go_on = self.reader.as_ref().is_some_and(PasswordReader::may_await_password);
        if token.kind == TokenKind::Symbol && token.bytes == b";" && !may_go_on {
            *self = Self::default();
            return false;
        }
        if token.kind == TokenKind::Word && !self.has_begun {
            let is_first = |(first, _): &(&str, StatementSubject)| {
                token.bytes.eq_ignore_ascii_case(first.as_bytes())
            };
            self.has_begun = true;
            self.reader = FIRST_WORDS.iter().any(is_first).then(PasswordReader::default);
        }
        let taken = self.reader.as_mut().and_then(|reader| reader.take(token));
        taken == Some(PasswordExtent::Whole)
    }
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
/// about logins or the key of a file.
pub(crate) fn may_hold_password(sql: &str) -> bool {
    let is_about_them = |dialect| {
        let mut reader = PasswordReader::of_levels(MAX_LEVELS);
        JointLexer::new(sql.as_bytes(), &LexicalRules::unknown(dialect)).any(|token| {
            reader.take(&token);
            reader.may_hold_password()
        })
    };
    let mut dialects = [SqlDialect::Mysql, SqlDialect::Postgres].into_iter();
    speaks_of_passwords(sql) || dialects.any(is_about_them)
}

/// Where a password stands.
#[derive(Debug)]
struct PasswordPlace {
    /// The literal, with its quotes, or what stands in its place.
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
    /// Whether the next place overlaps this one, or is another piece of the same password.
    fn is_one_with(&self, next: &Self) -> bool {
        let are_whole = [self, next].iter().all(|place| place.extent == PasswordExtent::Whole);
        next.at.start < self.at.end || (are_whole && next.at.start == self.at.end)
    }

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
            Some(last) if last.is_one_with(&place) => {
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
    let mut reader = PasswordReader::of_levels(MAX_LEVELS);
    let mut places = Vec::new();
    loop {
        let begin = lexer.position();
        let Some(token) = lexer.next() else { return places };
        if let Some(extent) = reader.take(&token) {
            places.push(PasswordPlace { at: begin..lexer.position(), extent });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::WireProtocol;

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
    fn passwords_that_lack_their_quotes_are_left_out_and_their_statement_stays() {
        for (sql, shown) in [
            ("ALTER USER app PASSWORD hush", "ALTER USER app PASSWORD '***'"),
            (
                "ALTER ROLE app WITH LOGIN PASSWORD hush VALID UNTIL '2030-01-01'",
                "ALTER ROLE app WITH LOGIN PASSWORD '***' VALID UNTIL '***'",
            ),
            ("ALTER ROLE r PASSSWORD hush LOGIN", "ALTER ROLE r PASSSWORD '***' LOGIN"),
            ("ALTER USER app PASSWORD admin", "ALTER USER app PASSWORD '***'"),
            ("CREATE USER u LOGIN PASSWORD login", "CREATE USER u LOGIN PASSWORD '***'"),
            ("CREATE ROLE r PASSWORD user LOGIN", "CREATE ROLE r PASSWORD '***' LOGIN"),
            ("CREATE USER passwd IDENTIFIED BY set", "CREATE USER passwd IDENTIFIED BY '***'"),
            (
                "ALTER USER u IDENTIFIED BY replace REPLACE admin REQUIRE SSL",
                "ALTER USER u IDENTIFIED BY '***' REPLACE '***' REQUIRE SSL",
            ),
            (
                "GRANT a ON passwd TO u IDENTIFIED BY mypassword",
                "GRANT a ON passwd TO u IDENTIFIED BY '***'",
            ),
            (
                "START REPLICA USER = u PASSWORD = reset DEFAULT_AUTH = p",
                "START REPLICA USER = u PASSWORD = '***' DEFAULT_AUTH = p",
            ),
            ("SET PASSWORD = require", "SET PASSWORD = '***'"),
            ("ALTER ROLE r PASSWORD 7hush", "ALTER ROLE r PASSWORD '***'"),
            ("ALTER ROLE r PASSWORD 12345", "ALTER ROLE r PASSWORD '***'"),
            ("ALTER ROLE r PASSWORD @hu-sh#9!; SELECT a", "ALTER ROLE r PASSWORD '***'; SELECT a"),
            ("ALTER ROLE r PASSWORD hu;sh", "ALTER ROLE r PASSWORD '***';'***'"),
            (
                "CREATE USER u@h IDENTIFIED BY hush, v IDENTIFED BY hash REQUIRE SSL",
                "CREATE USER u@h IDENTIFIED BY '***', v IDENTIFED BY '***' REQUIRE SSL",
            ),
            (
                "ALTER USER u IDENTIFIED BY hu sh REPLACE hash",
                "ALTER USER u IDENTIFIED BY '***' '***' REPLACE '***'",
            ),
            (
                "GRANT a ON *.* TO u IDENTIFIED BY PASSWORD *2470C0",
                "GRANT a ON *.* TO u IDENTIFIED BY PASSWORD '***'",
            ),
            ("SET PASSWORD FOR u@h = hush", "SET PASSWORD FOR u@h = '***'"),
            ("SET PASSWORD = PASSWORD(hush)", "SET PASSWORD = PASSWORD('***')"),
            (
                "CHANGE MASTER TO MASTER_PASSWORD=hush, MASTER_PORT=1",
                "CHANGE MASTER TO MASTER_PASSWORD='***', MASTER_PORT=1",
            ),
            (
                "CREATE USER MAPPING FOR u SERVER s OPTIONS (user v, password hush)",
                "CREATE USER MAPPING FOR u SERVER s OPTIONS (user v, password '***')",
            ),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(lacks_password(shown) && !lacks_password(sql), "{sql}");
            assert_eq!(without_passwords(shown), shown, "it stays what it is");
        }
    }

    #[test]
    fn values_of_settings_that_are_secrets_by_name_are_left_out() {
        for (sql, shown) in [
            ("SET app.password = hush", "SET app.password = '***'"),
            ("SET GLOBAL x_password = hush", "SET GLOBAL x_password = '***'"),
            ("SET app.jwt_secret = 'hush'", "SET app.jwt_secret = '***'"),
            ("set local app.token to hush; SELECT a", "set local app.token to '***'; SELECT a"),
            ("SET a = 1, x_password = hush, b = c", "SET a = 1, x_password = '***', b = c"),
            ("SET @@global.x_password = hush", "SET @@global.x_password = '***'"),
            ("SET @@x_password = hush", "SET @@x_password = '***'"),
            ("SET a = f(b, c), x_password = hush", "SET a = f(b, c), x_password = '***'"),
            ("ALTER SYSTEM SET app.passwd = hush", "ALTER SYSTEM SET app.passwd = '***'"),
            ("ALTER DATABASE d SET app.token TO hush", "ALTER DATABASE d SET app.token TO '***'"),
            ("ALTER ROLE r SET app.token = hush", "ALTER ROLE r SET app.token = '***'"),
            ("ALTER ROLE r SET app.secret TO hush", "ALTER ROLE r SET app.secret TO '***'"),
            (
                "SET STATEMENT a = 1 FOR ALTER USER u PASSWORD hush",
                "SET STATEMENT a = 1 FOR ALTER USER u PASSWORD '***'",
            ),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(may_hold_password(sql) && lacks_password(shown), "{sql}");
            assert_eq!(without_passwords(shown), shown, "it stays what it is");
        }
    }

    #[test]
    fn fingerprints_have_a_placeholder_for_a_password_without_quotes() {
        let mut shape = String::new();
        for (sql, shown) in [
            ("ALTER USER app PASSWORD hush", "ALTER USER app PASSWORD ?"),
            ("/* 1 */ alter user app password hu-sh", "alter user app password ?"),
            ("SELECT a; DROP USER u IDENTIFIED BY hush", "SELECT a; DROP USER u IDENTIFIED BY ?"),
            ("ALTER ROLE r PASSWORD 'x' LOGIN", "ALTER ROLE r PASSWORD ? LOGIN"),
            ("PRAGMA key = hush", "PRAGMA key = ?"),
            ("SET app.password = hush", "SET app.password = ?"),
            ("SET GLOBAL x_password = hush", "SET GLOBAL x_password = ?"),
            ("SET app.password = off", "SET app.password = off"),
            ("SET app.password = concat('a', hush), b = c", "SET app.password = ?, b = c"),
            ("ALTER ROLE r SET app.password = off", "ALTER ROLE r SET app.password = off"),
            ("ALTER USER app PASSWORD admin", "ALTER USER app PASSWORD ?"),
            ("GRANT a ON passwd TO app", "GRANT a ON passwd TO app"),
            ("SELECT password FROM t", "SELECT password FROM t"),
            (
                "ALTER USER u PASSWORD hu;sh; SELECT password FROM t; DROP ROLE r PASSWORD hush",
                "ALTER USER u PASSWORD ?;?; SELECT password FROM t; DROP ROLE r PASSWORD ?",
            ),
        ] {
            for wire in [None, Some(WireProtocol::Mysql), Some(WireProtocol::Postgres)] {
                let rules = LexicalRules::of_protocol(wire);
                crate::fingerprint::fingerprint(sql, &rules, &mut shape);
                assert_eq!(shape.trim_start(), shown);
            }
        }
    }

    /// It is read by the session's own rules, which leave less open than all of them together.
    #[test]
    fn fingerprints_keep_the_names_behind_a_string_whatever_is_in_it() {
        let rules = LexicalRules::defaults(SqlDialect::Mysql);
        let mut shape = String::new();
        for name in ["x", r"it\'s"] {
            let sql = format!("/* 1 */ UPDATE t SET name = '{name}', password = 'y' WHERE id = 5");
            crate::fingerprint::fingerprint(sql, &rules, &mut shape);
            assert_eq!(shape.trim_start(), "UPDATE t SET name = ?, password = ? WHERE id = ?");
        }
    }

    #[test]
    fn keys_of_files_are_left_out() {
        for (sql, shown) in [
            ("ATTACH 'x' AS y KEY 'hush'", "ATTACH 'x' AS y KEY '***'"),
            ("attach database 'x' as key key hush", "attach database 'x' as key key '***'"),
            ("ATTACH 'x' AS y KEY null", "ATTACH 'x' AS y KEY '***'"),
            ("PRAGMA key = password", "PRAGMA key = '***'"),
            ("ATTACH 'x' AS y KEY x'6875'", "ATTACH 'x' AS y KEY '***'"),
            ("ATTACH 'file:x?key=hush' AS y", "ATTACH '***' AS y"),
            ("PRAGMA key = 'hush'", "PRAGMA key = '***'"),
            ("PRAGMA key = \"x'6875'\"", "PRAGMA key = '***'"),
            ("pragma main.rekey(hush);", "pragma main.rekey('***');"),
            ("PRAGMA hexkey='6875'", "PRAGMA hexkey='***'"),
            ("PRAGMA textkey=hush; SELECT 'x'", "PRAGMA textkey='***'; SELECT 'x'"),
            ("SELECT 1; PRAGMA hexrekey = 6875", "SELECT 1; PRAGMA hexrekey = '***'"),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(lacks_password(shown) && may_hold_password(sql), "{sql}");
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
            "ALTER USER u PASSWORD HISTORY 5 PASSWORD REUSE INTERVAL 365 DAY ACCOUNT LOCK",
            "ALTER USER u PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD_LOCK_TIME UNBOUNDED",
            "ALTER USER u IDENTIFIED BY RANDOM PASSWORD RETAIN CURRENT PASSWORD, v",
            "CREATE USER u IDENTIFIED WITH mysql_native_password REQUIRE SSL",
            "ALTER ROLE r PASSWORD NULL VALID UNTIL infinity",
            "ALTER ROLE r PASSWORD $1",
            "ALTER ROLE r PASSWORD ?",
            "ALTER ROLE r SET password_encryption = md5",
            "SET PASSWORD TO RANDOM",
            "GRANT SELECT (id, password) ON passwd.t TO u",
            "GRANT SELECT ON passwd TO app",
            "GRANT passwd TO app",
            "GRANT SELECT (token) ON secret TO app",
            "ALTER ROLE token LOGIN",
            "GRANT EXECUTE ON FUNCTION reset_password(int) TO app",
            "SET DEFAULT ROLE passwd TO app",
            "SET GLOBAL disconnect_on_expired_password = 1",
            "SET GLOBAL default_password_lifetime = 90",
            "SET GLOBAL password_history = 5",
            "SET app.password = off",
            "SET app.password TO DEFAULT",
            "SET SESSION AUTHORIZATION app",
            "SET CONSTRAINTS check_password IMMEDIATE",
            "SET @token = UUID()",
            "SET @x = token * y, @token = @x",
            "SET @x = (SELECT COUNT(a) FROM token WHERE b IS NULL AND secret = @y)",
            "SET search_path TO secret, token",
            "SET default_authentication_plugin = mysql_native_password",
            "ALTER DATABASE d SET password_encryption = md5",
            "ALTER ROLE r SET app.password FROM CURRENT",
            "ALTER USER u IDENTIFIED BY RANDOM PASSWORD DEFAULT ROLE r",
            "CREATE USER u IDENTIFIED WITH mysql_native_password DEFAULT ROLE r",
            "CREATE USER passwd REQUIRE SSL",
            "CREATE USER password@localhost",
            "ATTACH 'x' AS y; SELECT 'key=x'",
            "PRAGMA foreign_keys = ON",
            "PRAGMA cache_size = 5",
            "PRAGMA encoding = 'UTF-8'",
            "SELECT key FROM t WHERE key = 'x'",
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
