//! Fingerprints and IDs as Percona's tools make them, so that a report of `pt-query-digest` can be
//! laid beside one of dbtime.
//!
//! ```text
//!   statement ─► forms of their own ─► comments ─► strings, numbers ─► space, case ─► lists,
//!                (mysqldump, call …)                                   unions, LIMIT, ORDER BY
//! ```
//!
//! They are passes over bytes, in the order of Percona's `QueryRewriter`, by the meaning that
//! Perl's patterns have; what these rules get wrong is kept, because the ID is made of it. A pass
//! takes time in proportion to the text, whatever it is: where Perl goes back and tries again, only
//! the first try can succeed, or what is tried is bounded ([`unions`]). Two options of the tools
//! that change fingerprints, off by default, are left out.

mod clauses;
mod comments;
mod lists;
mod literals;
mod text_pass;
mod unions;
mod whole_forms;

use md5::{Digest, Md5};
use std::fmt::Write;

/// Whose rules: they differ in how strings with quotes in them are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerconaRules {
    /// Percona Toolkit since 3.4.0.
    Current,
    /// Percona Toolkit up to 3.2.1.
    Old,
}

/// Writes the fingerprint of a statement, any bytes, into `out`, which is cleared first. The rules
/// leave some literals in it, such as the second half of `'O''Hara'`: what is shown of it goes
/// through [`fingerprint`](crate::fingerprint()) first.
pub fn percona_fingerprint(sql: &[u8], rules: PerconaRules, out: &mut Vec<u8>) {
    out.clear();
    if whole_forms::write_whole_form(sql, out) {
        return;
    }
    out.extend_from_slice(whole_forms::without_further_rows(sql));
    comments::remove_block_comments(out);
    comments::remove_line_comments(out);
    if comments::replace_database(out) {
        return;
    }
    literals::replace_strings(out, rules);
    literals::replace_words(out, &[b"true", b"false"]);
    literals::replace_numbers(out);
    lists::fold_space_and_case(out);
    literals::replace_words(out, &[b"null"]);
    lists::fold_lists(out);
    unions::fold_unions(out);
    clauses::fold_limit(out);
    clauses::remove_ascending(out);
}

/// The ID of a statement by its fingerprint. Shape: MD5, 32 upper-case hexadecimal digits, of which
/// Percona's tools before 3.0.11 show the last 16.
pub fn statement_id(fingerprint: &[u8]) -> String {
    Md5::digest(fingerprint).iter().fold(String::with_capacity(32), |mut id, byte| {
        // Writing into a `String` cannot fail.
        let _ = write!(id, "{byte:02X}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LexicalRules, fingerprint};
    use dbtime_model::SqlDialect;
    use proptest::prelude::*;

    fn by_rules(sql: &str, rules: PerconaRules) -> String {
        let mut out = Vec::new();
        percona_fingerprint(sql.as_bytes(), rules, &mut out);
        String::from_utf8(out).expect("a text in UTF-8")
    }

    fn current(sql: &str) -> String {
        by_rules(sql, PerconaRules::Current)
    }

    /// Statements with the fingerprints and IDs that Percona Toolkit of 2024 gives them.
    #[rustfmt::skip]
    const VECTORS: [(&str, &str, &str); 12] = [
        ("SELECT c FROM t1 WHERE id=42 AND s='x'",
         "select c from t? where id=? and s=?",
         "A198F8E935CF3B8EA2DFEBE0F4E9C251"),
        ("SELECT * FROM db23.t5 WHERE a IN (1,2,3) LIMIT 5, 10",
         "select * from d?t? where a in(?+) limit ?",
         "F4DBABD765C7FDDDA146EB92547BEFA2"),
        ("INSERT INTO t (a,b) VALUES (1,'a'), (2,'b')",
         "insert into t (a,b) values(?+)",
         "0EE92DF8B341A2AAAF1606D0AA96CBCD"),
        ("select 1 union select 2 union all select 3",
         "select ? /*repeat union all*/",
         "D1A917A8E486CEF11E45DC298CA26C00"),
        ("select a-1, b - 2, c+3 from t",
         "select a?, b ? ?, c? from t",
         "F0C23340B610FCBF4325CE48A6EC301A"),
        ("SELECT 'a''b' , 'c'",
         "select ?'?c'",
         "453C68DAC0A9F689D67192C65779574E"),
        ("SELECT a FROM t ORDER BY a ASC, b DESC, c asc limit 3",
         "select a from t order by a, b desc, c limit ?",
         "27FF51F0F01F4F5C47E2FFFBE524A930"),
        ("select a from t where x is null and y=true -- tail comment",
         "select a from t where x is ? and y=? ",
         "3862013444193BC46D0A5AF74F750723"),
        ("select a from `my-table` where id=5",
         "select a from `my?table` where id=?",
         "584ABF610ED8925015AEFCE86A22EF7B"),
        ("create table tmp_123 (id int(11))",
         "create table tmp_? (id int(?))",
         "F331017061C63E39264EB63378BE0350"),
        ("use `sakila`",
         "use ?",
         "DD749893CA4A219A6C099B0B73EA7633"),
        ("select date '2020-01-01', x'4D', b'01', _utf8'x' , N'y'",
         "select date ?, ?, ?, _utf?? , n?",
         "9C7AF2119053D2F1A0BF3595C921FA16"),
    ];

    #[test]
    fn fingerprints_and_ids_are_those_of_percona() {
        for (sql, fingerprint, id) in VECTORS {
            assert_eq!(current(sql), fingerprint, "{sql}");
            assert_eq!(statement_id(fingerprint.as_bytes()), id, "{sql}");
        }
    }

    #[test]
    fn old_rules_differ_in_quotes_within_strings() {
        assert_eq!(by_rules("SELECT 'a''b' , 'c'", PerconaRules::Old), "select ?? , ?");
        let old = VECTORS.into_iter().filter(|(sql, ..)| !sql.contains("''"));
        for (sql, fingerprint, _) in old {
            assert_eq!(by_rules(sql, PerconaRules::Old), fingerprint, "{sql}");
        }
    }

    #[test]
    fn passes_follow_each_other_in_the_order_of_percona() {
        for (sql, fingerprint) in [
            // What a comment hides is no string; what a string hides may be a comment.
            ("select /* ' */ 'a' from t", "select ? from t"),
            ("select 'a -- b' from t", "select ? from t"),
            ("select 'a -- b\n' from t", "select ? from t"),
            ("select '/* a */' from t", "select ? from t"),
            // Null and lists are found in lower case, numbers before it.
            ("SELECT NULL, 0xAB IN (NULL, True)", "select ?, ?ab in(?+)"),
            ("SELECT 1\n\tUNION\nSELECT 2 LIMIT 1 OFFSET 2", "select ? /*repeat union*/ limit ?"),
            ("  administrator command: Quit", "administrator command: quit"),
        ] {
            assert_eq!(current(sql), fingerprint, "{sql}");
        }
    }

    #[test]
    fn what_the_rules_leave_of_literals_has_a_fingerprint_without_them() {
        let left = current("SELECT a FROM t WHERE b = 'O''Hara' AND c = 1");
        assert_eq!(left, "select a from t where b = ?'hara' and c = ?");
        let mut shown = String::new();
        fingerprint(&left, &LexicalRules::unknown(SqlDialect::Mysql), &mut shown);
        assert!(!shown.contains("hara"), "{shown}");
    }

    #[test]
    fn hostile_texts_take_a_moment() {
        let pieces = ["--'", "/*!", "''", "\\'", "in((", "values(", "select a union ", "\x0b"];
        for piece in pieces {
            let sql = format!("insert into t {}", piece.repeat(5000));
            for rules in [PerconaRules::Current, PerconaRules::Old] {
                by_rules(&sql, rules);
            }
        }
    }

    /// Statements made of what the rules look for.
    fn statements() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "select ", " union ", "all ", "in(", "values (", "?", ")", ",", "'", "\"", "\\", "/*",
            "*/", "!", "--", "#", "\n", "1", "-", "x", "limit ", " offset ", "order ", "by ",
            " asc", "null", "use ", ";",
        ]);
        prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_fingerprint(sql in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut out = b"what was there".to_vec();
            for rules in [PerconaRules::Current, PerconaRules::Old] {
                percona_fingerprint(&sql, rules, &mut out);
                prop_assert!(out.len() <= 2 * sql.len() + 16);
            }
        }

        #[test]
        fn numbers_are_in_no_fingerprint(sql in statements()) {
            let both = [current(&sql), by_rules(&sql, PerconaRules::Old)];
            prop_assert!(both.iter().all(|fingerprint| !fingerprint.contains('1')), "{both:?}");
        }
    }
}
