//! Copies of tables of real servers: the MariaDB and PostgreSQL of this machine.

use super::*;
use crate::query::form_text::FormText;
use crate::query::place::ServerPlace;
use crate::query::session::QuerySession;
use crate::servers::{PrivateServer, ServerRequest};
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::{Nanos, Product};

const LIMIT: Nanos = Nanos::from_secs(120);

const MARIADB: [&str; 5] = [
    "CREATE TABLE users (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) CHARACTER SET \
     utf8mb4, UNIQUE KEY by_name (name)) ENGINE=InnoDB",
    "CREATE TABLE events (id BIGINT PRIMARY KEY, user_id INT, at DATETIME(6), seen TIMESTAMP NULL, \
     price DECIMAL(10,2), score DOUBLE, body BLOB, flags BIT(9), twice INT GENERATED ALWAYS AS \
     (user_id * 2) STORED, KEY by_user (user_id), CONSTRAINT to_user FOREIGN KEY (user_id) \
     REFERENCES users (id)) ENGINE=InnoDB",
    "INSERT INTO users VALUES (1, 'it''s'), (2, NULL), (3, 'Straße \\\\ x')",
    "INSERT INTO events (id, user_id, at, seen, price, score, body, flags) SELECT seq, seq % 3 + \
     1, '2024-02-29 12:00:00.123456', '2024-02-29 12:00:00', seq / 7, seq / 3e0, \
     UNHEX(SHA1(seq)), seq % 512 FROM seq_1_to_20000",
    "SET GLOBAL sql_mode = 'ANSI_QUOTES'",
];

const POSTGRES: [&str; 13] = [
    "CREATE TABLE users (id serial PRIMARY KEY, name text COLLATE \"C\" UNIQUE)",
    "CREATE TABLE events (id bigint PRIMARY KEY, user_id int REFERENCES users, at timestamptz \
     DEFAULT now() NOT NULL, price numeric(10,2), score float8, body bytea, tags text[], twice int \
     GENERATED ALWAYS AS (user_id * 2) STORED)",
    "CREATE INDEX by_user ON events (user_id) WHERE user_id > 1",
    "INSERT INTO users (name) VALUES ('it''s'), (NULL), (E'Straße \\\\ x')",
    "INSERT INTO events (id, user_id, price, score, body, tags) SELECT n, n % 3 + 1, n / 7.0, n / \
     3e0, decode(md5(n::text), 'hex'), ARRAY['a,b', NULL, n::text] FROM generate_series(1, 20000) \
     n",
    "CREATE TABLE parts (id int) PARTITION BY RANGE (id)",
    "CREATE VIEW recent AS SELECT * FROM events WHERE id > 100",
    "CREATE SCHEMA other",
    "CREATE TYPE other.mood AS ENUM ('it''s fine', 'sad')",
    "CREATE DOMAIN rank AS int CHECK (VALUE > 0)",
    "CREATE TABLE other.users (place text, moods other.mood[], rank rank)",
    "INSERT INTO other.users VALUES ('here', '{sad}', 7)",
    "ALTER DATABASE shop SET search_path = other, public",
];

fn bound() -> StatementBound {
    StatementBound { limit: LIMIT, stop: RunStop::default() }
}

/// A server with the database `shop`, and how it is reached.
fn shop(product: Product) -> (PrivateServer, ServerPlace) {
    let (request, stop) = (ServerRequest::new(product), RunStop::default());
    let private = PrivateServer::start(&request, &|_| {}, &stop);
    let private = private.expect("make setup-test installs the servers on Debian");
    let mut admin = private.server().connect(&ExchangeBound::within(LIMIT)).expect("a login");
    admin.build("CREATE DATABASE shop").expect("a database");
    let server = Arc::from(private.server().with_database("shop"));
    (private, ServerPlace { server, pid: None })
}

fn cell_of(place: &dyn QueryPlace, sql: &str, column: usize) -> String {
    let mut session = QuerySession::open(place, &bound(), true).expect("a session");
    let table = session.table(sql).expect(sql);
    table.rows[0][column].clone().unwrap_or_default()
}

/// Copies the shop, and compares by what `checksum` has in this column.
fn compare(place: &ServerPlace, checksum: &str, column: usize) {
    let tables = ["users", "events"].map(str::to_owned);
    let copy = copy_of(place, &tables, &RunStop::default(), &|_| {}).expect("a copy");
    assert!(copy.notes.iter().any(|note| note.contains("no foreign keys")), "{:?}", copy.notes);
    assert!(copy.server_pid().is_some() && copy.copy_of() == Some(place.url()));
    assert_eq!(cell_of(&copy, checksum, column), cell_of(place, checksum, column));
    let mut session = QuerySession::open(&copy, &bound(), true).expect("a session");
    let cost = build_index(&mut session, "events", "CREATE INDEX by_price ON events (price)");
    let cost = cost.expect("an index");
    assert!(cost.bytes.is_some_and(|bytes| bytes > 100_000) && cost.build_s > 0.0, "{cost:?}");
    let (quoted, sql) = match place.dialect() {
        SqlDialect::Mysql => ("`events`", "CREATE INDEX by_score ON `events` (score)"),
        SqlDialect::Postgres | SqlDialect::Sqlite => {
            ("public.\"events\"", "CREATE INDEX by_score ON public.\"events\" (score)")
        }
    };
    let cost = build_index(&mut session, quoted, sql).expect("an index");
    assert!(cost.bytes.is_some_and(|bytes| bytes > 100_000), "{cost:?}");
    session.table("DELETE FROM events").expect("emptied");
    drop(session);
    assert_eq!(cell_of(place, "SELECT count(*) FROM events", 0), "20000");
    let missing = copy_of(place, &["nowhere".to_owned()], &RunStop::default(), &|_| {});
    let missing = missing.expect_err("there is no such table").to_string();
    assert!(missing.contains("has no table nowhere"), "{missing}");
}

fn fill(place: &ServerPlace, statements: &[&str]) {
    let mut session = QuerySession::open(place, &bound(), true).expect("a session");
    statements.iter().for_each(|sql| drop(session.table(sql).expect(sql)));
}

#[test]
fn tables_of_mariadb_are_copied_with_all_they_hold() {
    let (_private, place) = shop(Product::Mariadb);
    fill(&place, &MARIADB);
    compare(&place, "CHECKSUM TABLE events", 1);
    let copy = copy_of(&place, &["users".to_owned()], &RunStop::default(), &|_| {});
    let sql = "SELECT count(*) FROM \"users\"";
    assert_eq!(cell_of(&copy.expect("a copy"), sql, 0), "3");
}

#[test]
fn tables_of_postgres_are_copied_with_all_they_hold() {
    let (_private, place) = shop(Product::Postgres);
    fill(&place, &POSTGRES);
    let checksum = "SELECT md5(string_agg(e::text, ',' ORDER BY id)) FROM events e";
    compare(&place, checksum, 0);
    let mut session = QuerySession::open(&place, &bound(), true).expect("a session");
    let mut view = |sql: &str| {
        view_of(&mut session, &FormText { given: sql.to_owned(), ..FormText::default() })
    };
    assert_eq!(view("SELECT 1 FROM users u, recent r").as_deref(), Some("recent"));
    assert_eq!(view("SELECT recent FROM users"), None);
    let copy = copy_of(&place, &["users".to_owned()], &RunStop::default(), &|_| {});
    let copy = copy.expect("a copy");
    assert_eq!(cell_of(&copy, "SELECT place FROM users", 0), "here");
    assert_eq!(cell_of(&copy, "SELECT count(*) FROM public.users", 0), "3");
    drop(copy);
    let parts = copy_of(&place, &["parts".to_owned()], &RunStop::default(), &|_| {});
    let parts = parts.expect_err("it is partitioned").to_string();
    assert!(parts.contains("partitioned"), "{parts}");
}
