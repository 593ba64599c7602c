//! What outlines say of statements.

use super::*;
use dbtime_model::SqlDialect::{self, Mysql, Postgres, Sqlite};
use dbtime_model::WireProtocol;

fn of(dialect: SqlDialect, sql: &str) -> StatementOutline {
    StatementOutline::of(sql, &LexicalRules::unknown(dialect))
}

fn other(word: &str) -> StatementVerb {
    StatementVerb::Other(word.to_owned())
}

#[test]
fn verbs_stand_behind_comments_parentheses_and_common_table_expressions() {
    for (dialect, sql, verb, writes) in [
        (Mysql, "/* DELETE */ SELECT 1 -- INSERT", StatementVerb::Select, false),
        (Mysql, "(SELECT a FROM t) UNION (SELECT 1)", StatementVerb::Select, false),
        (Postgres, "with a AS (SELECT 1) SELECT * FROM a", StatementVerb::With, false),
        (Postgres, "WITH a AS (SELECT 1) UPDATE t SET b = 2", StatementVerb::Update, true),
        (Postgres, "WITH a AS (DELETE FROM t RETURNING *) TABLE a", StatementVerb::With, true),
        (Postgres, "WITH a AS (WITH b AS (TABLE t) DELETE FROM u) TABLE a", with(), true),
        (Sqlite, "WITH a(b) AS (VALUES (1)) INSERT INTO t SELECT b FROM a", insert(), true),
        (Sqlite, "REPLACE INTO t VALUES (1)", StatementVerb::Replace, true),
        (Mysql, "SELECT REPLACE(a, 'b', 'c'), INSERT(a, 1, 2, 'd') FROM t", select(), false),
        (Mysql, "SELECT 'DELETE FROM t', `update` FROM t", select(), false),
        (Postgres, "SELECT a FROM t FOR UPDATE", select(), false),
        (Mysql, "SET STATEMENT max_statement_time=1 FOR DELETE FROM t", delete(), true),
        (Mysql, "EXPLAIN DELETE FROM t", other("EXPLAIN"), false),
        (Postgres, "SELECT pg_notify('a', 'b')", select(), true),
        (Postgres, "EXPLAIN SELECT lo_create(0)", other("EXPLAIN"), false),
        (Postgres, "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", other("EXPLAIN"), true),
        (Mysql, "ANALYZE FORMAT=JSON UPDATE t SET a = 1", other("ANALYZE"), true),
        (Mysql, "/*!50100 INSERT */ INTO t VALUES (1)", insert(), true),
        (Postgres, "SELECT a INTO u FROM t", StatementVerb::Definition, true),
        (Mysql, "SELECT a INTO @b FROM t", select(), false),
        (Postgres, "", other(""), false),
    ] {
        let outline = of(dialect, sql);
        assert_eq!((outline.verb, outline.writes), (verb, writes), "{sql}");
    }
}

fn select() -> StatementVerb {
    StatementVerb::Select
}

fn with() -> StatementVerb {
    StatementVerb::With
}

fn insert() -> StatementVerb {
    StatementVerb::Insert
}

fn delete() -> StatementVerb {
    StatementVerb::Delete
}

#[test]
fn what_no_rollback_undoes_is_named() {
    for (dialect, sql, part) in [
        (Mysql, "CREATE INDEX i ON t (a)", "CREATE commits"),
        (Postgres, "truncate t", "TRUNCATE changes"),
        (Mysql, "COMMIT", "COMMIT begins or ends"),
        (Mysql, "LOAD DATA INFILE 'x' INTO TABLE t", "LOAD may commit"),
        (Sqlite, "VACUUM", "VACUUM"),
        (Postgres, "COPY t TO PROGRAM 'rm x'", "runs a program"),
        (Postgres, "SELECT pg_catalog.pg_terminate_backend(1)", "pg_terminate_backend()"),
        (Postgres, "INSERT INTO t SELECT nextval('s')", "nextval()"),
        (Postgres, "SELECT pg_catalog.\"nextval\"('s')", "nextval()"),
        (Mysql, "SELECT NEXT VALUE FOR s", "nextval()"),
        (Mysql, "SELECT 1 INTO OUTFILE 'x'", "OUTFILE writes"),
        (Mysql, "SELECT GET_LOCK('a', 1)", "get_lock()"),
        (Postgres, "SELECT * FROM dblink('x', 'y') AS t(a int)", "dblink()"),
        (Mysql, "CALL p()", "CALL may"),
        (Postgres, "DO $$ BEGIN END $$", "DO may"),
        (Mysql, "FLUSH TABLES", "whether FLUSH"),
        (Sqlite, "PRAGMA journal_mode = wal", "PRAGMA sets"),
        (Postgres, "SELECT 1; DROP TABLE t", "DROP"),
        (Mysql, r"SELECT '\'; DROP TABLE t -- '", "within a string twice"),
        (Postgres, "SELECT a INTO u FROM t", "makes a table"),
    ] {
        let reason = of(dialect, sql).irrevocable;
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(part)), "{sql}: {reason:?}");
    }
    for (dialect, sql) in [
        (Mysql, "SELECT 'COMMIT', nextval FROM t"),
        (Postgres, "EXPLAIN SELECT nextval('s')"),
        (Postgres, "SELECT pg_advisory_xact_lock(1)"),
        (Postgres, "DELETE FROM t WHERE a = 1"),
        (Postgres, "COPY (SELECT 1) TO STDOUT"),
        (Sqlite, "PRAGMA table_info(t)"),
        (Mysql, r#"SELECT "a", 'it''s', '\%' FROM t"#),
        (Mysql, "SELECT `中` FROM `中`"),
        (Mysql, "SHOW TABLES"),
    ] {
        assert_eq!(of(dialect, sql).irrevocable, None, "{sql}");
    }
}

#[test]
fn values_that_change_between_executions_are_named_once() {
    for (dialect, sql, names) in [
        (Mysql, "SELECT RAND(), rand(), UUID(), rand FROM t", vec!["rand", "uuid"]),
        (Postgres, "SELECT clock_timestamp(), now() FROM t", vec!["clock_timestamp"]),
        (Postgres, "SELECT a FROM t TABLESAMPLE system (1)", vec!["TABLESAMPLE"]),
        (Postgres, "SELECT a FROM t TABLESAMPLE system (1) REPEATABLE (2)", vec![]),
        (Sqlite, "SELECT datetime('now'), CURRENT_TIMESTAMP", vec!["'now'", "current_timestamp"]),
        (Mysql, "SELECT @a := @a + 1", vec!["a variable that it assigns (:=)"]),
        (Mysql, "SELECT 'rand()', NOW() /* uuid() */", vec![]),
    ] {
        assert_eq!(of(dialect, sql).unstable, names, "{sql}");
    }
}

#[test]
fn the_outermost_query_has_the_order() {
    for (sql, terms, has_limit, has_offset) in [
        ("SELECT a FROM t ORDER BY a, t.b DESC LIMIT 3", vec!["a", "t.b DESC"], true, false),
        ("(SELECT a FROM t ORDER BY f(a, 1))", vec!["f(a, 1)"], false, false),
        ("SELECT a FROM t ORDER BY 1 FETCH FIRST 2 ROWS ONLY", vec!["1"], true, false),
        ("SELECT a FROM t ORDER BY a LIMIT 2, 3", vec!["a"], true, true),
        ("SELECT a FROM t ORDER BY a LIMIT 2 OFFSET 3", vec!["a"], true, true),
        ("SELECT a FROM t ORDER BY a FOR UPDATE;", vec!["a"], false, false),
    ] {
        let outline = of(Postgres, sql);
        let found: Vec<String> =
            outline.order_by.into_iter().flatten().map(|term| term.text).collect();
        assert_eq!(found, terms, "{sql}");
        assert_eq!((outline.has_limit, outline.has_offset), (has_limit, has_offset), "{sql}");
    }
    for (sql, limit) in [
        ("SELECT a FROM t ORDER BY a LIMIT 20 OFFSET 3", Some(20)),
        ("SELECT a FROM t ORDER BY a LIMIT 2, 30", Some(30)),
        ("SELECT a FROM t OFFSET 3 FETCH NEXT 40 ROWS ONLY", Some(40)),
        ("SELECT a FROM t LIMIT $1", None),
        ("SELECT a FROM t", None),
    ] {
        assert_eq!(of(Postgres, sql).limit, limit, "{sql}");
    }
    for sql in [
        "SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1) u",
        "SELECT rank() OVER (ORDER BY a) FROM t",
        "(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT 1)",
        "SELECT a FROM t ORDER BY NULL",
    ] {
        let outline = of(Postgres, sql);
        assert!(outline.order_by.is_none() && !outline.has_limit, "{sql}");
    }
}

#[test]
fn terms_are_found_among_columns_where_that_is_certain() {
    let columns = ["id", "Name", "id2", "twice", "twice"].map(str::to_owned);
    for (term, expected) in [
        ("id", Some(0)),
        ("t.name DESC", Some(1)),
        ("\"Name\" COLLATE \"C\"", Some(1)),
        ("2", Some(1)),
        ("9", None),
        ("0", None),
        ("twice", None),
        ("lower(name)", None),
        ("t.id2", None),
        ("missing", None),
    ] {
        let sql = format!("SELECT id, name, x AS id2 FROM t ORDER BY {term}");
        let terms = of(Postgres, &sql).order_by.unwrap_or_default();
        let found: Vec<_> = terms.iter().map(|term| term.column(&columns)).collect();
        assert_eq!(found, [expected], "{term}");
    }
    let terms = of(Mysql, "SELECT a FROM t ORDER BY a DESC, b ASC").order_by.unwrap_or_default();
    assert_eq!(terms.iter().map(|term| term.is_descending).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn locks_statements_and_null_traps_are_seen() {
    for sql in ["SELECT a FROM t FOR UPDATE", "SELECT a FROM t LOCK IN SHARE MODE"] {
        assert!(of(Mysql, sql).locks && !of(Mysql, sql).writes, "{sql}");
    }
    assert!(!of(Mysql, "UPDATE t SET a = 1").locks);
    assert_eq!(of(Postgres, "SELECT 1;; SELECT ';' -- ;\n;").statements, 2);
    assert!(of(Mysql, "SELECT a FROM t WHERE b NOT IN ((SELECT c FROM u))").not_in_subquery);
    assert!(!of(Mysql, "SELECT a FROM t WHERE b NOT IN (1, 2)").not_in_subquery);
    assert!(!of(Mysql, "SELECT a FROM t WHERE b IN (SELECT c FROM u)").not_in_subquery);
}

proptest::proptest! {
    #[test]
    fn any_text_has_an_outline(sql in "\\PC{0,200}") {
        for protocol in [None, Some(WireProtocol::Mysql), Some(WireProtocol::Postgres)] {
            StatementOutline::of(&sql, &LexicalRules::of_protocol(protocol));
        }
        of(Sqlite, &sql);
    }

    #[test]
    fn any_words_have_an_outline(
        sql in "((with|select|explain|analyze|set|statement|for|insert|into|update|delete|from|\
                order|by|limit|not|in|desc|a|[(),;.'`\"\\[\\]$1=é]|/\\*!|\\*/|--|\n) ?){0,40}",
    ) {
        for dialect in [Mysql, Postgres, Sqlite] {
            let outline = of(dialect, &sql);
            let columns = ["a".to_owned()];
            for term in outline.order_by.unwrap_or_default() {
                proptest::prop_assert!(term.column(&columns).is_none_or(|index| index == 0));
            }
        }
    }
}
