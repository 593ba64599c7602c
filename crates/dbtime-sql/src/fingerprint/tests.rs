//! What fingerprints keep and what they leave out.

mod secrets;

use super::*;
use dbtime_model::SqlDialect::{self, Mysql, Postgres, Sqlite};
use dbtime_model::WireProtocol;

fn by(rules: &LexicalRules, sql: impl AsRef<[u8]>) -> String {
    let mut out = String::from("left over");
    fingerprint(sql, rules, &mut out);
    out
}

fn of(dialect: SqlDialect, sql: &str) -> String {
    by(&LexicalRules::defaults(dialect), sql)
}

/// Where all dialects agree.
fn all(sql: &str) -> String {
    let [mysql, postgres, sqlite] = [Mysql, Postgres, Sqlite].map(|dialect| of(dialect, sql));
    assert_eq!(mysql, postgres);
    assert_eq!(mysql, sqlite);
    for protocol in [None, Some(WireProtocol::Mysql), Some(WireProtocol::Postgres)] {
        assert_eq!(by(&LexicalRules::of_protocol(protocol), sql), mysql);
    }
    mysql
}

#[test]
fn literals_become_question_marks() {
    assert_eq!(
        all("SELECT c FROM sbtest12 WHERE id=42 AND s = 'it''s' OR r<-1.5e-3-2 - 1"),
        "SELECT c FROM sbtest12 WHERE id=? AND s = ? OR r<?-? - ?"
    );
    assert_eq!(all("SELECT f(-1, -0x2f), a -3 FROM t"), "SELECT f(?, ?), a -? FROM t");
    assert_eq!(all("SELECT x'ab', .5, t.a FROM t"), "SELECT ?, ?, t.a FROM t");
}

#[test]
fn lists_collapse_and_subqueries_and_names_do_not() {
    for (sql, shown) in [
        ("SELECT a FROM t WHERE k IN(1,2, 3) AND b=1", "SELECT a FROM t WHERE k IN (...) AND b=?"),
        (
            "SELECT a FROM t WHERE k in ( SELECT k FROM u WHERE v=3)",
            "SELECT a FROM t WHERE k in ( SELECT k FROM u WHERE v=?)",
        ),
        (
            "INSERT INTO t(a,b) VALUES (1,NOW(2)), (2, ')'),(3,4) ON CONFLICT DO NOTHING",
            "INSERT INTO t(a,b) VALUES (...) ON CONFLICT DO NOTHING",
        ),
        ("INSERT INTO t VALUES(1),", "INSERT INTO t VALUES (...),"),
        ("INSERT INTO t VALUES (1, 'cu", "INSERT INTO t VALUES (...)"),
        ("UPDATE t SET a=VALUES(b)", "UPDATE t SET a=VALUES(b)"),
        (
            "INSERT INTO t VALUES (1, (SELECT b FROM u))",
            "INSERT INTO t VALUES (?, (SELECT b FROM u))",
        ),
    ] {
        assert_eq!(all(sql), shown, "{sql}");
    }
    assert_eq!(of(Postgres, "INSERT INTO t VALUES ('a'::t2, $1)"), "INSERT INTO t VALUES (...)");
}

#[test]
fn names_that_clients_make_up_are_left_out() {
    for (sql, shown) in [
        ("SAVEPOINT s1", "SAVEPOINT ?"),
        ("RELEASE SAVEPOINT s1", "RELEASE SAVEPOINT ?"),
        ("ROLLBACK TO s1; SELECT a FROM t", "ROLLBACK TO ?; SELECT a FROM t"),
        ("ROLLBACK", "ROLLBACK"),
        ("DECLARE c1 CURSOR FOR SELECT a FROM t", "DECLARE ? CURSOR FOR SELECT a FROM t"),
        ("FETCH FORWARD 100 FROM c1", "FETCH FORWARD ? FROM ?"),
        ("CLOSE c1", "CLOSE ?"),
        ("DECLARE 'c1' CURSOR FOR SELECT a", "DECLARE ? CURSOR FOR SELECT a"),
        ("DELETE FROM t WHERE CURRENT OF c1", "DELETE FROM t WHERE CURRENT OF ?"),
        ("DEALLOCATE ALL", "DEALLOCATE ALL"),
    ] {
        assert_eq!(all(sql), shown, "{sql}");
    }
    assert_eq!(of(Postgres, "SAVEPOINT \"s1\""), "SAVEPOINT ?");
}

#[test]
fn space_and_comments_collapse() {
    assert_eq!(all("  SELECT\n\t 1 /* one */  -- two\n + 2 -- three"), "SELECT ? + ?");
    assert_eq!(all("CREATE TABLE t1(\n id INTEGER\n)"), "CREATE TABLE t1( id INTEGER )");
}

/// Else each of those that lie in each other is read to its end for each that it lies in.
#[test]
fn lists_with_names_are_read_in_vain_a_few_times_alone() {
    assert_eq!(all("a IN (1, b) AND c IN (1, 2)"), "a IN (?, b) AND c IN (...)");
    let nested = format!("{}{}b c IN (1, 2)", "IN (".repeat(20), "1,".repeat(500));
    assert!(of(Mysql, &nested).ends_with("?,b c IN (?, ?)"), "{}", of(Mysql, &nested));
}

#[test]
fn a_long_text_is_cut() {
    let long = of(Mysql, &"a,".repeat(10_000));
    assert!((MAX_TEXT_BYTES..=MAX_TEXT_BYTES + 2).contains(&long.len()), "{}", long.len());
}
