//! Which statements have other forms, and which have none.

use super::{TableColumns, rewrites, table_columns, text_findings};
use dbtime_model::SqlDialect::{self, Mysql, Postgres, Sqlite};
use proptest::prelude::*;

/// The form that a rule makes.
fn form(rule: &str, sql: &str, dialect: SqlDialect) -> Option<String> {
    rewrites(sql, dialect).into_iter().find(|one| one.rule == rule).map(|one| one.sql)
}

/// Demands that no rule of this name has a form for any of these.
fn none_of(rule: &str, statements: &[&str]) {
    for sql in statements {
        assert_eq!(form(rule, sql, Mysql), None, "{sql}");
    }
}

#[test]
fn a_subquery_becomes_a_join_that_multiplies_no_rows() {
    let sql = "SELECT * FROM a WHERE a.x > :x AND id IN (SELECT aid FROM b WHERE b.y = 'it''s')";
    for dialect in [Mysql, Postgres, Sqlite] {
        assert_eq!(
            form("in-to-join", sql, dialect).as_deref(),
            Some(
                "SELECT a.* FROM a JOIN (SELECT DISTINCT aid AS picked_key FROM b \
                 WHERE b.y = 'it''s') AS picked ON id = picked.picked_key WHERE a.x > :x"
            )
        );
    }
    none_of(
        "in-to-join",
        &[
            "SELECT * FROM a WHERE id IN (SELECT aid FROM b WHERE b.x = a.x)",
            "SELECT * FROM a WHERE id IN (SELECT aid FROM b LIMIT 5)",
            "SELECT * FROM a WHERE id IN (SELECT max(aid) FROM b)",
            "SELECT * FROM a WHERE id NOT IN (SELECT aid FROM b)",
            "SELECT * FROM a JOIN c USING (id) WHERE a.x IN (SELECT aid FROM b)",
        ],
    );
}

#[test]
fn forms_have_caveats_for_the_data_that_they_are_wrong_for() {
    let of = |rule: &str, sql: &str, dialect| {
        let form = rewrites(sql, dialect).into_iter().find(|one| one.rule == rule);
        form.expect("a form").caveats.join("; ")
    };
    let join = of("in-to-join", "SELECT x FROM a WHERE id IN (SELECT aid FROM b)", Sqlite);
    assert!(join.contains("one type and one collation"), "{join}");
    let [day, texts] = [Mysql, Sqlite]
        .map(|dialect| of("column-range", "SELECT x FROM t WHERE date(c) = :d", dialect));
    assert!(day.contains("values without a time") && day.contains("time zone"), "{day}");
    assert!(texts.contains("without an offset from UTC"), "{texts}");
    let year = of("column-range", "SELECT x FROM t WHERE year(c) = 2024", Mysql);
    assert!(year.contains("9999") && !year.contains("without a time"), "{year}");
}

#[test]
fn tables_with_commas_can_be_joined() {
    let sql = "SELECT a.x FROM a, c WHERE a.id = c.id AND a.id IN (SELECT aid FROM b)";
    assert_eq!(
        form("in-to-join", sql, Postgres).as_deref(),
        Some(
            "SELECT a.x FROM a CROSS JOIN c JOIN (SELECT DISTINCT aid AS picked_key FROM b) \
             AS picked ON a.id = picked.picked_key WHERE a.id = c.id"
        )
    );
}

#[test]
fn a_subquery_becomes_exists() {
    assert_eq!(
        form("in-to-exists", "SELECT x FROM a WHERE id IN (SELECT aid FROM b WHERE y = 1)", Sqlite)
            .as_deref(),
        Some("SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE y = 1 AND a.id = b.aid)")
    );
    assert_eq!(
        form("not-in", "SELECT x FROM a WHERE id NOT IN (SELECT aid FROM b)", Postgres).as_deref(),
        Some("SELECT x FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.id = b.aid)")
    );
    // The inner name hides the outer one; and of which table is `id`?
    let wrong = [
        "SELECT x FROM a WHERE id IN (SELECT parent FROM a)",
        "SELECT x FROM a, c WHERE id IN (SELECT aid FROM b)",
    ];
    none_of("in-to-exists", &wrong);
    none_of("not-in", &["SELECT x FROM a WHERE id NOT IN (1, 2)"]);
}

#[test]
fn a_subquery_for_a_value_becomes_a_join() {
    let sql = "SELECT a.x, (SELECT count(*) FROM b WHERE b.aid = a.id AND b.y = 1) AS n FROM a";
    assert_eq!(
        form("scalar-to-join", sql, Mysql).as_deref(),
        Some(
            "SELECT a.x, COALESCE(picked.picked_value, 0) AS n FROM a LEFT JOIN \
             (SELECT b.aid AS picked_key, count(*) AS picked_value FROM b WHERE b.y = 1 \
             GROUP BY b.aid) AS picked ON picked.picked_key = a.id"
        )
    );
    let sql = "SELECT x FROM a WHERE x > (SELECT avg(b.x) FROM b WHERE a.id = b.aid)";
    assert_eq!(
        form("scalar-to-join", sql, Postgres).as_deref(),
        Some(
            "SELECT x FROM a LEFT JOIN (SELECT b.aid AS picked_key, avg(b.x) AS picked_value \
             FROM b GROUP BY b.aid) AS picked ON picked.picked_key = a.id \
             WHERE x > picked.picked_value"
        )
    );
    none_of(
        "scalar-to-join",
        &[
            "SELECT (SELECT b.x FROM b WHERE b.aid = a.id) FROM a",
            "SELECT (SELECT max(b.x) FROM b WHERE b.aid > a.id) FROM a",
            "SELECT (SELECT max(b.x) FROM b WHERE b.aid = a.id AND b.y < a.y) FROM a",
            "SELECT (SELECT max(b.x) FROM b WHERE b.aid = a.id LIMIT 1) FROM a",
            "SELECT sum(x), (SELECT max(b.x) FROM b WHERE b.aid = a.id) FROM a",
        ],
    );
}

#[test]
fn the_few_rows_are_counted_and_null_is_among_them() {
    assert_eq!(
        form("rare-complement", "SELECT count(*) FROM e WHERE d >= '2009-01-01'", Mysql).as_deref(),
        Some(
            "SELECT ((SELECT count(*) FROM e) - (SELECT count(*) FROM e \
             WHERE (d < '2009-01-01' OR d IS NULL)))"
        )
    );
    let with_key = form("rare-complement", "SELECT count(*) AS n FROM e WHERE :d > d", Postgres);
    assert_eq!(
        with_key.as_deref(),
        Some(
            "SELECT ((SELECT count(*) FROM e) - (SELECT count(*) FROM e \
             WHERE (d >= :d OR d IS NULL OR :d IS NULL))) AS n"
        )
    );
    none_of(
        "rare-complement",
        &[
            "SELECT count(d) FROM e WHERE d >= 5",
            "SELECT count(*) FROM e WHERE d = 5",
            "SELECT count(*) FROM e WHERE d > 5 GROUP BY x",
            "SELECT count(*) FROM e JOIN f ON f.id = e.id WHERE d > 5",
        ],
    );
}

#[test]
fn a_function_becomes_a_range() {
    for (dialect, expected) in [
        (Mysql, "c >= DATE('2024-02-28') AND c < DATE('2024-02-28') + INTERVAL 1 DAY"),
        (Postgres, "c >= CAST('2024-02-28' AS DATE) AND c < CAST('2024-02-28' AS DATE) + 1"),
        (Sqlite, "c >= date('2024-02-28') AND c < date('2024-02-28', '+1 day')"),
    ] {
        let found = form("column-range", "SELECT x FROM t WHERE date(c) = '2024-02-28'", dialect);
        assert_eq!(found, Some(format!("SELECT x FROM t WHERE {expected}")));
    }
    assert_eq!(
        form("column-range", "SELECT x FROM t WHERE YEAR(c) = 2024", Mysql).as_deref(),
        Some("SELECT x FROM t WHERE c >= MAKEDATE(2024, 1) AND c < MAKEDATE(2024 + 1, 1)")
    );
    none_of(
        "column-range",
        &[
            "SELECT x FROM t WHERE date(c) = '2024-02-28 05:00'",
            "SELECT x FROM t WHERE date(c) > '2024-02-28'",
            "SELECT x FROM t WHERE date(c) = d",
            "SELECT x FROM t WHERE lower(c) = 'x'",
        ],
    );
}

#[test]
fn an_or_becomes_two_queries_without_a_row_twice() {
    assert_eq!(
        form("or-to-union", "SELECT x FROM t WHERE z = 3 AND (a = 1 OR b = :b)", Mysql).as_deref(),
        Some(
            "SELECT x FROM t WHERE z = 3 AND a = 1 UNION ALL SELECT x FROM t \
             WHERE z = 3 AND b = :b AND (a = 1) IS NOT TRUE"
        )
    );
    none_of(
        "or-to-union",
        &[
            "SELECT x FROM t WHERE a = 1 OR a = 2",
            "SELECT x FROM t WHERE a = 1 OR b = 2 ORDER BY x",
            "SELECT x FROM t WHERE a = 1 OR b = 2 LIMIT 3",
            "SELECT count(*) FROM t WHERE a = 1 OR b = 2",
            "SELECT x FROM t WHERE a = 1 OR b = 2 OR c = 3",
        ],
    );
}

#[test]
fn places_of_parameters_are_numbered() {
    let sql = "SELECT x FROM t WHERE (a = ? OR b = ?) AND c <> '?'";
    for dialect in [Mysql, Sqlite] {
        assert_eq!(
            form("or-to-union", sql, dialect).as_deref(),
            Some(
                "SELECT x FROM t WHERE a = $1 AND c <> '?' UNION ALL SELECT x FROM t \
                 WHERE b = $2 AND c <> '?' AND (a = $1) IS NOT TRUE"
            )
        );
    }
}

#[test]
fn columns_are_known_by_what_they_are_used_for() {
    let sql = "SELECT a.x FROM shop.a JOIN b ON b.aid = a.id \
               WHERE a.y = 1 AND a.z > 2 AND a.y <> 3 ORDER BY a.w";
    let of = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let a = TableColumns {
        table: "shop.a".to_owned(),
        name: "a".to_owned(),
        equal: of(&["y"]),
        joined: of(&["id"]),
        ranges: of(&["z"]),
        ordered: of(&["w"]),
        used: of(&["x", "id", "y", "z", "w"]),
    };
    let b = TableColumns {
        table: "b".to_owned(),
        name: "b".to_owned(),
        joined: of(&["aid"]),
        used: of(&["aid"]),
        ..TableColumns::default()
    };
    assert_eq!(table_columns(sql, Mysql), [a, b]);
    assert_eq!(table_columns("SELECT * FROM t WHERE a = 1", Mysql)[0].used, of(&[]));
    assert_eq!(table_columns("DELETE FROM t WHERE a = 1", Mysql), []);
}

#[test]
fn unions_keep_duplicates_only_where_all_of_them_removed_them() {
    let sql = "SELECT a FROM t UNION SELECT b FROM u UNION SELECT c FROM v ORDER BY 1 LIMIT 3";
    assert_eq!(
        form("union-all", sql, Postgres).as_deref(),
        Some(
            "SELECT a FROM t UNION ALL SELECT b FROM u UNION ALL SELECT c FROM v ORDER BY 1 LIMIT 3"
        )
    );
    let wrong = [
        "SELECT a FROM t UNION ALL SELECT b FROM u",
        "SELECT a FROM t UNION SELECT b FROM u EXCEPT SELECT c FROM v",
    ];
    none_of("union-all", &wrong);
}

#[test]
fn a_join_under_distinct_becomes_exists() {
    let sql = "SELECT DISTINCT a.x FROM a JOIN b ON b.aid = a.id WHERE b.y = 1 AND a.z > 2";
    assert_eq!(
        form("distinct-join", sql, Mysql).as_deref(),
        Some(
            "SELECT DISTINCT a.x FROM a WHERE a.z > 2 AND EXISTS \
             (SELECT 1 FROM b WHERE b.aid = a.id AND b.y = 1)"
        )
    );
    none_of(
        "distinct-join",
        &[
            "SELECT DISTINCT a.x, b.y FROM a JOIN b ON b.aid = a.id",
            "SELECT DISTINCT a.x FROM a LEFT JOIN b ON b.aid = a.id",
            "SELECT DISTINCT x FROM a JOIN b ON b.aid = a.id",
            "SELECT a.x FROM a JOIN b ON b.aid = a.id",
            "SELECT DISTINCT a.x FROM a, b WHERE b.y = 1",
        ],
    );
}

#[test]
fn rows_come_in_the_order_of_the_column_they_are_found_by() {
    let sql = "SELECT * FROM e WHERE eventtimestamp >= :t ORDER BY eventdate DESC LIMIT 10";
    assert_eq!(
        form("order-column", sql, Mysql).as_deref(),
        Some("SELECT * FROM e WHERE eventtimestamp >= :t ORDER BY eventtimestamp DESC LIMIT 10")
    );
    none_of(
        "order-column",
        &[
            "SELECT * FROM e WHERE t >= 5 ORDER BY d",
            "SELECT * FROM e WHERE t >= 5 ORDER BY t LIMIT 10",
            "SELECT * FROM e WHERE t >= 5 AND u < 3 ORDER BY d LIMIT 10",
            "SELECT * FROM e WHERE t = 5 ORDER BY d LIMIT 10",
        ],
    );
}

#[test]
fn texts_that_are_not_understood_have_no_forms() {
    let deep = format!("SELECT x FROM t WHERE a = 1 OR b = {}1{}", "(".repeat(60), ")".repeat(60));
    let many = format!("SELECT x FROM t WHERE a = 1 OR b = {}1", "1 + ".repeat(150));
    let long = format!("SELECT x FROM t WHERE a = 1 OR b = {}1", " ".repeat(70_000));
    for sql in [
        "SELECT x FROM t WHERE a = $1 OR b = ?",
        "SELECT x FROM t WHERE a = 1 OR b = 2; SELECT 1",
        "SELECT x FROM t WHERE a = 1 OR b = 2 FOR UPDATE",
        "SELECT /*! STRAIGHT_JOIN */ x FROM t WHERE a = 1 OR b = 2",
        "WITH c AS (SELECT 1) SELECT x FROM c WHERE a = 1 OR b = 2",
        "SELECT FROM WHERE",
        "",
        &deep,
        &many,
        &long,
    ] {
        assert_eq!(rewrites(sql, Mysql), [], "{sql:.80}");
    }
}

#[test]
fn findings_have_no_literals() {
    let values = vec!["7"; 201].join(", ");
    for (rule, sql) in [
        ("leading-wildcard", "SELECT x FROM t WHERE c LIKE '%secret'".to_owned()),
        ("order-by-random", "SELECT x FROM t ORDER BY RAND() LIMIT 1".to_owned()),
        ("offset-paging", "SELECT x FROM t ORDER BY c LIMIT 10 OFFSET 1000".to_owned()),
        ("huge-in-list", format!("SELECT x FROM t WHERE c IN ({values})")),
        ("wide-rows", "SELECT * FROM t".to_owned()),
    ] {
        let found = text_findings(&sql, Mysql);
        let rules: Vec<&str> = found.iter().map(|one| one.rule).collect();
        assert_eq!(rules, [rule], "{sql:.80}");
        assert!(!format!("{found:?}").contains("secret"));
    }
    let fine = "SELECT x FROM t WHERE c LIKE 'a%' AND d IN (1, 2) ORDER BY c LIMIT 10";
    assert_eq!(text_findings(fine, Postgres), []);
}

proptest! {
    #[test]
    fn no_text_panics(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "SELECT", "FROM", "WHERE", "t", "a.x", "b.y", ",", "(", ")", "=", ">=", "IN", "NOT",
                "AND", "OR", "'x'", ":p", "$1", "?", "5", "count(*)", "UNION", "ORDER BY", "LIMIT",
                "JOIN", "ON", "*", "DISTINCT", "LIKE", "EXISTS", "GROUP BY", "\"", "`", "é", "::",
            ]),
            0..40,
        )
    ) {
        let sql = words.join(" ");
        for dialect in [Mysql, Postgres, Sqlite] {
            rewrites(&sql, dialect);
            text_findings(&sql, dialect);
        }
    }
}
