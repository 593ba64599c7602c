//! What is shown of texts: each literal a question mark, each space a blank.

use super::*;
use crate::joint_lexer::JointLexer;
use dbtime_model::SqlDialect::{self, Mysql, Postgres, Sqlite};
use proptest::prelude::*;

fn by(rules: &LexicalRules, sql: impl AsRef<[u8]>) -> String {
    let mut shown = String::new();
    for token in JointLexer::new(sql.as_ref(), rules) {
        match token.kind {
            TokenKind::Space if shown.ends_with(' ') => {}
            TokenKind::Space => shown.push(' '),
            TokenKind::Literal | TokenKind::Parameter | TokenKind::Unclear => shown.push('?'),
            _ => shown.push_str(&String::from_utf8_lossy(token.bytes)),
        }
    }
    shown.trim_end().to_owned()
}

fn of(dialect: SqlDialect, sql: &str) -> String {
    by(&LexicalRules::defaults(dialect), sql)
}

#[test]
fn quotes_mean_what_they_do_in_each_dialect() {
    assert_eq!(of(Mysql, r#"UPDATE t SET a="x\"y", b=0x1F"#), "UPDATE t SET a=?, b=?");
    assert_eq!(of(Mysql, "SELECT `a b1` FROM t WHERE id=?"), "SELECT `a b1` FROM t WHERE id=?");
    assert_eq!(of(Sqlite, "SELECT [a's], \"b\" FROM `t`"), "SELECT [a's], ? FROM `t`");
}

#[test]
fn strings_of_postgresql_hide_what_they_hold() {
    for (sql, shown) in [
        (r"SELECT 'C:\', 'SECRET'", "SELECT ?, ?"),
        ("SELECT $$SECRET$$, $t$a $$ ' SECRET$t$ FROM t", "SELECT ?, ? FROM t"),
        ("ALTER ROLE r PASSWORD $$SECRET$$", "ALTER ROLE r PASSWORD ?"),
        ("SELECT /* a /* b */ it's */ 'x', 'SECRET'", "SELECT ?, ?"),
        (r"SELECT E'it\'s SECRET', e'\\' , u&'\0061', n'x'", "SELECT ?, ? , ?, ?"),
        ("SELECT 'a'\n  -- it's\n 'SECRET' , E'a'\n'\\'SECRET'", "SELECT ? , ?"),
        ("SELECT 5--1, 'it\n, $1, a$b$c", "SELECT ? , ?, a$b$c"),
    ] {
        assert_eq!(of(Postgres, sql), shown, "{sql}");
    }
}

#[test]
fn names_and_operators_of_postgresql_stay() {
    for (sql, shown) in [
        (r#"SELECT "orders"."id" FROM "a""b""#, r#"SELECT "orders"."id" FROM "a""b""#),
        ("SELECT j #>> '{a}' = 'b', 5 # 3 FROM t", "SELECT j #>> ? = ?, ? # ? FROM t"),
        ("SELECT a[1:2], b::text, 'x'::my_type", "SELECT a[?:?], b::text, ?::my_type"),
    ] {
        assert_eq!(of(Postgres, sql), shown, "{sql}");
    }
}

#[test]
fn names_of_mysql_may_begin_with_digits() {
    for (sql, shown) in [
        ("SELECT * FROM 2020_orders, d.2021, t.5a", "SELECT * FROM 2020_orders, d.2021, t.5a"),
        ("SELECT 5--1, note FROM t", "SELECT ?--?, note FROM t"),
        ("SELECT 1e5, 1e-5, 1ea, 0x1F, 0b01, 0xyz, 12e", "SELECT ?, ?, 1ea, ?, ?, 0xyz, ?"),
        ("SELECT 1 -- it's\n, 2 # it's\n, 3 --", "SELECT ? , ? , ?"),
        ("SELECT 12345e6AND, 10.20.30.40", "SELECT ?AND, ???"),
    ] {
        assert_eq!(of(Mysql, sql), shown, "{sql}");
    }
}

#[test]
fn what_nothing_closes_and_what_may_be_something_else_is_not_shown() {
    for (dialect, sql, shown) in [
        (Mysql, "SELECT `a FROM t WHERE b = 'SECRET'", "SELECT ?"),
        (Postgres, "SELECT \"a FROM t WHERE b = 'SECRET' AND \"\"", "SELECT ?"),
        (Sqlite, "SELECT [a FROM t WHERE b = 'SECRET'", "SELECT ?"),
        (Mysql, "CREATE FUNCTION f() $$ it's SECRET $$", "CREATE FUNCTION f() ?"),
        (Mysql, "SELECT a --\u{a0}it's SECRET", "SELECT a ?"),
        (Mysql, "SELECT 12345\u{a0}AND", "SELECT ?"),
    ] {
        assert_eq!(of(dialect, sql), shown, "{sql}");
    }
    let quoted = LexicalRules::defaults(Mysql).with_quoted_names(Some(true));
    assert_eq!(by(&quoted, "SELECT [it's], 'SECRET'"), "SELECT ?");
    // A backslash escapes a byte, also of a character of two.
    let gbk = LexicalRules::defaults(Mysql).with_charset(Some(TextCharset::Gbk));
    assert_eq!(by(&gbk, b"SELECT '\\\xbf\xd6\\', 'SECRET'"), "SELECT ?, ?");
}

/// A dollar sign may be next to them, but is in none.
#[test]
fn characters_of_two_bytes_are_letters_whatever_the_second_is() {
    let gbk = LexicalRules::defaults(Postgres).with_charset(Some(TextCharset::Gbk));
    let strings = b"SELECT $\xbf\\$ SECRET $\xbf\\$, a";
    assert_eq!(by(&gbk, strings), "SELECT ?, a");
    assert_eq!(by(&LexicalRules::unknown(Postgres), strings), "SELECT ?");
    // A name before a string, no prefix of one that has escapes.
    let named = b"SELECT \xbf\\E'\\', 'SECRET', a";
    assert_eq!(by(&gbk, named), "SELECT \u{fffd}\\E?, ?, a");
    for (charset, lead) in
        TextCharset::ALL.into_iter().flat_map(|one| (0x80..=0xff_u8).map(move |lead| (one, lead)))
    {
        for byte in *b"'\"$/*-#\n" {
            assert_eq!(charset.width(&[lead, byte]), 1, "{charset:?}: {lead:x} {byte:x}");
        }
    }
}

#[test]
fn what_was_replaced_may_have_had_the_next_byte() {
    let unknown = LexicalRules::unknown(Postgres);
    // Two characters of GBK, of which UTF-8 leaves three bytes for the first.
    let lossy = String::from_utf8_lossy(b"SELECT E'\xe4\xb8\xe4\\', 'SECRET', a");
    assert_eq!(by(&unknown, &*lossy), "SELECT ?");
    assert_eq!(by(&unknown, r"SELECT E'\ä\'s', ä FROM t"), "SELECT ?, ä FROM t");
    // Of the two marks of a session in LATIN1 the text has one.
    let lossy = String::from_utf8_lossy(b"SELECT $\xe4$ $\xf6$ SECRET $\xe4$");
    assert_eq!(by(&unknown, &*lossy), "SELECT ?");
    assert_eq!(by(&unknown, "SELECT $ä$ $ö$ SECRET $ä$, a"), "SELECT ?, a");
}

#[test]
fn rules_of_a_session_decide_where_a_string_ends() {
    let plain = LexicalRules::defaults(Mysql);
    let no_escapes = plain.with_escapes(Some(false));
    assert_eq!(by(&no_escapes, r"SELECT 'C:\', 'SECRET', a"), "SELECT ?, ?, a");
    let names = plain.with_quoted_names(Some(true));
    assert_eq!(by(&names, r#"SELECT "t"."a" FROM "t""#), r#"SELECT "t"."a" FROM "t""#);
    // The backslash is the second byte of a character.
    let gbk = b"SELECT '\xbf\\', 'SECRET', a".as_slice();
    let known = plain.with_charset(Some(TextCharset::Gbk));
    assert_eq!(by(&known, gbk), "SELECT ?, ?, a");
    let escapes = LexicalRules::defaults(Postgres).with_escapes(Some(true));
    assert_eq!(by(&escapes, r"SELECT 'it\'s SECRET', a"), "SELECT ?, a");
}

#[test]
fn what_may_be_a_literal_is_one_where_the_rules_are_not_known() {
    let unknown = LexicalRules::unknown(Mysql);
    for (sql, shown) in [
        (r"SELECT a, 'C:\', 'SECRET', b", "SELECT a, ?"),
        (r#"SELECT a, "b" FROM "t" WHERE c = 'd'"#, "SELECT a, ? FROM ? WHERE c = ?"),
        (r"SELECT 'C:\dir', b", "SELECT ?, b"),
    ] {
        assert_eq!(by(&unknown, sql), shown, "{sql}");
    }
    assert_eq!(by(&unknown, b"SELECT a, '\xbf\\', 'SECRET', b"), "SELECT a, ?");
    assert_eq!(by(&LexicalRules::unknown(Postgres), r"SELECT 'C:\', 'SECRET'"), "SELECT ?");
}

#[test]
fn texts_of_conditional_comments_are_read_where_they_end_alike() {
    for (sql, shown) in [
        ("SELECT /*!40001 SQL_NO_CACHE */ a FROM t", "SELECT SQL_NO_CACHE a FROM t"),
        ("CREATE TABLE t1(a INT) /*! ENGINE = x */", "CREATE TABLE t1(a INT) ENGINE = x"),
        ("SELECT /*!80000 'a' , b */ c", "SELECT ? , b c"),
        ("SELECT /*!80000 'a*/' , 'SECRET' */ c", "SELECT ?"),
        ("SELECT /*! '*/', 'SECRET' */ c", "SELECT ?, ? c"),
        ("SELECT /*+ MAX_EXECUTION_TIME(5) */ a", "SELECT a"),
        ("SELECT /*+ SET_VAR(a='*/') */ 'SECRET'", "SELECT ?"),
        ("SELECT /*M!100000 a */ , 2*/* it's */3", "SELECT a , ?* ?"),
        ("SELECT a /*! it's SECRET", "SELECT a ?"),
    ] {
        assert_eq!(of(Mysql, sql), shown, "{sql}");
    }
}

/// What decides where tokens begin and end.
const PIECES: [&str; 19] = [
    "'", "\"", "`", "\\", "ä", "[", ")", "e", "x", "1", ".", "/*", "*/", "!", "$", "-", "\n", "#",
    ";",
];

proptest! {
    #[test]
    fn any_bytes_are_tokens_that_follow_each_other(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16),
        odd in any::<[u8; 2]>(),
    ) {
        let text = [pieces.concat().as_bytes(), &odd[..]].concat();
        for dialect in [Mysql, Postgres, Sqlite] {
            for rules in [LexicalRules::defaults(dialect), LexicalRules::unknown(dialect)] {
                let tokens = JointLexer::new(&text, &rules);
                let all: Vec<u8> = tokens.flat_map(|token| token.bytes.to_vec()).collect();
                prop_assert_eq!(&all, &text);
            }
        }
    }
}
