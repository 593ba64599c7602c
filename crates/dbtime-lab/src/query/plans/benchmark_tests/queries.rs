//! Queries of two benchmarks' shapes, and the data that they read, in the SQL of a product: made of
//! the files in `tests/queries/`.
//!
//! Tables and questions are those of TPC-H (its specification, clause 2.4) and of the Join Order
//! Benchmark (Leis et al., "How Good Are Query Optimizers, Really?", VLDB 2015); texts and rows are
//! not. No product lacks anything that one of them takes.

use dbtime_model::SqlDialect;

const ORDERS_DATA: &str = include_str!("../../../../tests/queries/orders_data.sql");
const ORDERS_QUERIES: &str = include_str!("../../../../tests/queries/orders_queries.sql");
const FILMS_DATA: &str = include_str!("../../../../tests/queries/films_data.sql");
const FILMS_QUERIES: &str = include_str!("../../../../tests/queries/films_queries.txt");

/// A query of a benchmark.
#[derive(Debug)]
pub(super) struct BenchmarkQuery {
    /// `TPC-H 4`, `join order 17b`.
    pub(super) name: String,
    pub(super) sql: String,
    /// What it calls each table that it reads.
    pub(super) ranges: Vec<String>,
}

/// A table under the name that all queries about films have for it.
#[derive(Clone, Copy, Debug)]
struct FilmRange<'t> {
    alias: &'t str,
    table: &'t str,
    /// How it is joined with another one; empty: it is the first.
    link: &'t str,
}

/// What makes and fills the tables, in an empty database.
pub(super) fn data(dialect: SqlDialect) -> Vec<String> {
    let text = written(&[ORDERS_DATA, FILMS_DATA].concat(), dialect);
    let mut data: Vec<String> = statements(&text).map(str::to_owned).collect();
    data.push(match dialect {
        SqlDialect::Mysql => format!("ANALYZE TABLE {}", tables().join(", ")),
        SqlDialect::Postgres | SqlDialect::Sqlite => "ANALYZE".to_owned(),
    });
    data
}

/// The queries of both benchmarks.
pub(super) fn queries(dialect: SqlDialect) -> Vec<BenchmarkQuery> {
    order_queries(dialect).into_iter().chain(film_queries()).collect()
}

/// The tables that are there in the end.
fn tables() -> Vec<&'static str> {
    let lines = [ORDERS_DATA, FILMS_DATA].into_iter().flat_map(str::lines);
    let made = lines.filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split(' ').next());
    made.filter(|table| !FILMS_DATA.contains(&format!("DROP TABLE {table};"))).collect()
}

fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split(";\n").filter(|statement| !statement.trim().is_empty())
}

fn order_queries(dialect: SqlDialect) -> Vec<BenchmarkQuery> {
    let query = |text: &str| {
        let (_, text) = text.rsplit_once("\n-- ").expect("its number stands before it");
        let (line, sql) = text.split_once('\n').expect("a query below its number");
        let mut words = line.split(' ').map(str::to_owned);
        let number = words.next().expect("a number");
        BenchmarkQuery {
            name: format!("TPC-H {number}"),
            sql: written(sql, dialect),
            ranges: words.collect(),
        }
    };
    statements(ORDERS_QUERIES).map(query).collect()
}

fn film_queries() -> Vec<BenchmarkQuery> {
    let (ranges, graphs) = FILMS_QUERIES.split_once("\n= ").expect("ranges, then graphs");
    let ranges = ranges.lines().filter_map(|line| line.strip_prefix("+ "));
    let ranges: Vec<FilmRange<'_>> = ranges.map(FilmRange::read).collect();
    let mut queries = Vec::new();
    for (number, graph) in (1..).zip(graphs.split("\n= ")) {
        let (head, filters) = graph.split_once('\n').expect("filters below a graph");
        let (aliases, columns) = head.split_once(" > ").expect("columns behind a graph");
        let range = |alias: &str| *ranges.iter().find(|range| range.alias == alias).expect(alias);
        let graph: Vec<FilmRange<'_>> = aliases.split(' ').map(range).collect();
        let filters = filters.lines().filter(|line| !line.is_empty());
        queries.extend(('a'..).zip(filters).map(|(letter, filter)| BenchmarkQuery {
            name: format!("join order {number}{letter}"),
            sql: film_query(&graph, columns, filter),
            ranges: graph.iter().map(|range| range.alias.to_owned()).collect(),
        }));
    }
    queries
}

impl<'t> FilmRange<'t> {
    /// Reads `mc movie_companies mc.movie_id = t.id`.
    fn read(line: &'t str) -> Self {
        let (alias, rest) = line.split_once(' ').expect("a table behind an alias");
        let (table, link) = rest.split_once(' ').unwrap_or((rest, ""));
        Self { alias, table, link }
    }
}

/// The query of a join graph and a filter; what belongs to one film is joined with each other, too.
fn film_query(graph: &[FilmRange<'_>], columns: &str, filter: &str) -> String {
    let columns: Vec<String> = columns.split(", ").map(|one| format!("min({one})")).collect();
    let tables: Vec<String> =
        graph.iter().map(|range| format!("{} {}", range.table, range.alias)).collect();
    let links = graph.iter().map(|range| range.link).filter(|link| !link.is_empty());
    let of_film = links.clone().filter_map(|link| link.strip_suffix(" = t.id"));
    let of_film: Vec<&str> = of_film.collect();
    let siblings = of_film.windows(2).map(|pair| format!("{} = {}", pair[0], pair[1]));
    let conditions: Vec<String> =
        links.map(str::to_owned).chain(siblings).chain([filter.to_owned()]).collect();
    format!(
        "SELECT {} FROM {} WHERE {}",
        columns.join(", "),
        tables.join(", "),
        conditions.join(" AND ")
    )
}

/// A text whose marks in braces are as a product writes them.
fn written(text: &str, dialect: SqlDialect) -> String {
    let mut pieces = text.split('{');
    let mut sql = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (mark, behind) = piece.split_once('}').expect("a mark has an end");
        sql.push_str(&date_of(mark, dialect));
        sql.push_str(behind);
    }
    sql
}

/// What a mark stands for: `year D`, `day N`, `later D N UNIT`.
fn date_of(mark: &str, dialect: SqlDialect) -> String {
    use SqlDialect::{Mysql, Postgres, Sqlite};
    let (kind, of) = mark.split_once(' ').expect("a mark has a value");
    let (date, span) = of.split_once(' ').unwrap_or((of, ""));
    match (kind, dialect) {
        ("year", Mysql | Postgres) => format!("EXTRACT(YEAR FROM {of})"),
        ("year", Sqlite) => format!("strftime('%Y', {of})"),
        ("day", Mysql) => format!("DATE '1992-01-01' + INTERVAL ({of}) DAY"),
        ("day", Postgres) => format!("DATE '1992-01-01' + CAST({of} AS int)"),
        ("day", Sqlite) => format!("date('1992-01-01', ({of}) || ' day')"),
        ("later", Mysql) => format!("DATE '{date}' + INTERVAL {span}"),
        ("later", Postgres) => format!("DATE '{date}' + INTERVAL '{span}'"),
        ("later", Sqlite) => format!("date('{date}', '{span}')"),
        _ => panic!("no mark: {mark}"),
    }
}

#[test]
fn the_files_have_all_tables_and_queries() {
    assert_eq!(tables().len(), 8 + 21, "{:?}", tables());
    for dialect in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
        let queries = queries(dialect);
        assert_eq!(queries.len(), 22 + 113);
        let ends = [&queries[21], &queries[22], &queries[134]].map(|query| query.name.as_str());
        assert_eq!(ends, ["TPC-H 22", "join order 1a", "join order 33c"]);
        for query in queries {
            assert!(query.sql.starts_with("SELECT") && !query.sql.contains('{'), "{query:?}");
            assert!(!query.ranges.is_empty(), "{query:?}");
        }
    }
}

#[test]
fn a_graph_and_a_filter_make_a_query() {
    let query = &film_queries()[4];
    assert_eq!(query.ranges, ["t", "mc", "cn", "mk", "k"]);
    assert_eq!(
        query.sql,
        "SELECT min(t.title) FROM title t, movie_companies mc, company_name cn, movie_keyword mk, \
         keyword k WHERE mc.movie_id = t.id AND cn.id = mc.company_id AND mk.movie_id = t.id AND \
         k.id = mk.keyword_id AND mc.movie_id = mk.movie_id AND cn.country_code = '[de]' AND \
         k.keyword = 'sequel'"
    );
}
