//! Statements inside strings, as behind `EXECUTE IMMEDIATE`, `PREPARE … FROM` and `DO`.

use super::PasswordExtent;
use super::password_reader::PasswordReader;
use super::statement_subject::{FIRST_WORDS, is_secret_setting_name};
use crate::joint_lexer::{JointLexer, TextToken};
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;
use crate::repeated_words::words_of;
use dbtime_model::SqlDialect;
use std::borrow::Cow;

/// Words of a block behind which a statement begins.
const BEFORE_STATEMENTS: [&str; 6] = ["atomic", "begin", "do", "else", "loop", "then"];

/// What else a statement, or a piece of one, may begin with that has a password.
const OTHER_VERBS: [&str; 5] = ["call", "execute", "perform", "prepare", "select"];

/// Whether the text of a string is a statement, or has one, in which a password may stand; strings
/// in it are read to this depth. `None`: it is too deep to be read, and what may name a secret is
/// taken for such a statement.
pub(super) fn holds_password_statement(inner: &str, levels: Option<u8>) -> bool {
    // Else any text would be one that begins with `Change` or `Grant`.
    if !words_of(inner).any(|(_, word)| may_name_secret(word)) {
        return false;
    }
    let Some(levels) = levels else { return true };
    let plain = unescaped(inner);
    let is_escaped = matches!(plain, Cow::Owned(_));
    reads_as_one(&plain, levels, is_escaped) || (is_escaped && reads_as_one(inner, levels, false))
}

/// Whether a word names a secret, perhaps misspelt, or says that one follows.
fn may_name_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let begins = ["pas", "ident"].iter().any(|begin| lower.starts_with(begin));
    begins || lower.ends_with("key") || is_secret_setting_name(&lower)
}

/// The text of a string, whose quotes are doubled or behind a backslash.
fn unescaped(inner: &str) -> Cow<'_, str> {
    const ESCAPED: [(&str, &str); 4] = [("''", "'"), ("\"\"", "\""), ("\\'", "'"), ("\\\"", "\"")];
    if ESCAPED.iter().all(|(escaped, _)| !inner.contains(escaped)) {
        return Cow::Borrowed(inner);
    }
    let replaced = |text: String, (escaped, plain): &(&str, &str)| text.replace(escaped, plain);
    Cow::Owned(ESCAPED.iter().fold(inner.to_owned(), replaced))
}

/// `is_piece`: a password counts, whatever the text begins with.
fn reads_as_one(text: &str, levels: u8, is_piece: bool) -> bool {
    [SqlDialect::Mysql, SqlDialect::Postgres].into_iter().any(|dialect| {
        let mut reader = PasswordReader::of_levels(levels);
        let mut is_statement = is_piece;
        JointLexer::new(text.as_bytes(), &LexicalRules::unknown(dialect)).any(|token| {
            let is_password = reader.take(&token) == Some(PasswordExtent::Whole);
            let begins = is_any_of(&token, &BEFORE_STATEMENTS);
            if begins {
                reader.begin_in_block();
            }
            is_statement |= begins
                || is_any_of(&token, &OTHER_VERBS)
                || FIRST_WORDS.iter().any(|(first, _)| is_any_of(&token, &[*first]));
            reader.may_hold_password() || (is_password && is_statement)
        })
    })
}

fn is_any_of(token: &TextToken<'_>, words: &[&str]) -> bool {
    let is = |word: &&str| token.bytes.eq_ignore_ascii_case(word.as_bytes());
    token.kind == TokenKind::Word && words.iter().any(is)
}

#[cfg(test)]
mod tests {
    use super::super::{lacks_password, may_hold_password, without_passwords};
    use proptest::collection::vec;
    use proptest::sample::select;

    #[test]
    fn a_string_with_a_statement_about_a_password_is_left_out() {
        for (sql, shown) in [
            ("EXECUTE IMMEDIATE 'ALTER USER u IDENTIFIED BY ''hush'''", "EXECUTE IMMEDIATE '***'"),
            ("EXECUTE IMMEDIATE 'ALTER ROLE r PASSSWORD hush'", "EXECUTE IMMEDIATE '***'"),
            (
                "PREPARE s FROM 'SET PASSWORD FOR u = ''hush'''; SELECT 'a'",
                "PREPARE s FROM '***'; SELECT 'a'",
            ),
            ("PREPARE s FROM \"CREATE USER u IDENTIFIED BY 'hush'\"", "PREPARE s FROM '***'"),
            (r"EXECUTE IMMEDIATE 'ALTER USER u IDENTIFIED BY \'hush\''", "EXECUTE IMMEDIATE '***'"),
            ("EXECUTE IMMEDIATE 'SET app.token = ''hush'''", "EXECUTE IMMEDIATE '***'"),
            ("DO 'BEGIN ALTER ROLE r PASSWORD ''hush''; END'", "DO '***'"),
            ("DO 'BEGIN ALTER ROLE r PASSWORD hush; END'", "DO '***'"),
            ("DO $$BEGIN IF a THEN DROP ROLE r PASSWRD hush; END IF; END$$", "DO '***'"),
            ("DO $a$BEGIN EXECUTE 'ALTER ROLE r PASSWORD ''hush'''; END$a$", "DO '***'"),
            ("DO $$BEGIN EXECUTE $a$ALTER ROLE r PASSWORD 'hush'$a$; END$$", "DO '***'"),
            ("DO $$BEGIN PERFORM set_config('app.token', 'hush', true); END$$", "DO '***'"),
            ("DO 'BEGIN PERFORM set_config(''app.token'', ''hush'', true); END'", "DO '***'"),
            (
                "SELECT dblink_exec('c', 'ALTER ROLE r PASSWORD ''hush''')",
                "SELECT dblink_exec('c', '***')",
            ),
            (
                "EXECUTE IMMEDIATE CONCAT('ALTER USER u IDENTIFIED BY ', '''hush', '''')",
                "EXECUTE IMMEDIATE CONCAT('***', '***', '***')",
            ),
            (
                "SELECT format('ALTER ROLE %I PASSWORD %L', 'r', 'hush')",
                "SELECT format('***', '***', '***')",
            ),
            (
                "EXECUTE IMMEDIATE CONCAT(@a, ' IDENTIFIED BY ''hush''')",
                "EXECUTE IMMEDIATE CONCAT(@a, '***')",
            ),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(may_hold_password(sql) && lacks_password(shown), "{sql}");
            assert_eq!(without_passwords(shown), shown, "it stays as it is");
        }
    }

    #[test]
    fn the_value_of_a_secret_setting_is_left_out_of_a_call() {
        for (sql, shown) in [
            (
                "SELECT set_config('app.password', 'hush', true), 'a'; SELECT 'b'",
                "SELECT set_config('app.password', '***', true), '***'; SELECT 'b'",
            ),
            (
                "SELECT pg_catalog.set_config(E'app.token'::text, 'hu' || 'sh', false)",
                "SELECT pg_catalog.set_config(E'app.token'::text, '***' || '***', false)",
            ),
            (
                "SELECT set_config(setting_name => 'app.jwt_secret', new_value => 'hush')",
                "SELECT set_config(setting_name => 'app.jwt_secret', new_value => '***')",
            ),
        ] {
            assert_eq!(without_passwords(sql), shown);
            assert!(may_hold_password(sql) && lacks_password(shown), "{sql}");
            assert_eq!(without_passwords(shown), shown, "it stays as it is");
        }
    }

    #[test]
    fn other_strings_stay() {
        for sql in [
            "INSERT INTO t VALUES ('how to set a password', 'x')",
            "INSERT INTO t VALUES ('Begin at once: it''s done', 'x')",
            "SELECT 1 FROM t WHERE a IN ('grant', 'Change of address', 'attach it', 'x')",
            "EXECUTE IMMEDIATE 'SELECT 1 FROM t WHERE a = ''x'''",
            "DO $$BEGIN UPDATE t SET a = 'x'; END$$",
            "SELECT set_config('work_mem', '4MB', true)",
            "SELECT set_config('app.password', $1, true)",
            "SELECT current_setting('app.password'), 'x'",
        ] {
            assert_eq!(without_passwords(sql), sql);
            assert!(!lacks_password(sql), "{sql}");
        }
    }

    /// What has a statement in a string.
    #[derive(Clone, Copy, Debug)]
    enum OuterStatement {
        Immediate,
        Prepared,
        Block,
        /// A block between dollar signs.
        DollarBlock,
    }

    impl OuterStatement {
        const ALL: [Self; 4] = [Self::Immediate, Self::Prepared, Self::Block, Self::DollarBlock];

        /// The statement around this one; `depth` tells its dollar signs from others.
        fn around(self, sql: &str, depth: usize) -> String {
            let quoted = sql.replace('\'', "''");
            match self {
                Self::Immediate => format!("EXECUTE IMMEDIATE '{quoted}'"),
                Self::Prepared => format!("PREPARE s FROM '{quoted}'"),
                Self::Block => format!("DO 'BEGIN {quoted}; END'"),
                Self::DollarBlock => format!("DO $a{depth}$BEGIN {sql}; END$a{depth}$"),
            }
        }
    }

    fn nested(innermost: &str, outer: &[OuterStatement]) -> String {
        let layers = outer.iter().enumerate();
        layers.fold(innermost.to_owned(), |sql, (depth, outer)| outer.around(&sql, depth))
    }

    #[test]
    fn strings_within_strings_end() {
        let blocks = [OuterStatement::DollarBlock; 40];
        let sql = nested("SELECT 'hush'", &blocks);
        assert_eq!(without_passwords(&sql), sql, "it names no secret");
        let login = "ALTER ROLE r PASSWORD 'hush'";
        for outer in OuterStatement::ALL {
            for depth in 1..=7 {
                let sql = nested(login, &vec![outer; depth]);
                let shown = without_passwords(&sql);
                assert!(!shown.contains("hush") && lacks_password(&shown), "{shown}");
                assert!(!shown.contains("ROLE"), "the string is left out as a whole: {shown}");
            }
        }
        assert_eq!(without_passwords(&nested(login, &blocks)), "DO '***'");
    }

    proptest::proptest! {
        #[test]
        fn no_secret_is_left_of_statements_within_strings(
            outer in vec(select(OuterStatement::ALL.to_vec()), 1..8),
            innermost in select(vec![
                "ALTER USER u IDENTIFIED BY 'hush'",
                "SET PASSWORD FOR u = 'hush'",
                "ALTER ROLE r PASSWORD hush",
                "SELECT set_config('app.token', 'hush', true)",
            ]),
        ) {
            let sql = nested(innermost, &outer);
            let shown = without_passwords(&sql).into_owned();
            proptest::prop_assert!(!shown.contains("hush"), "{shown}");
            proptest::prop_assert!(may_hold_password(&sql) && lacks_password(&shown));
            proptest::prop_assert_eq!(without_passwords(&shown), &*shown, "it stays as it is");
        }
    }
}
