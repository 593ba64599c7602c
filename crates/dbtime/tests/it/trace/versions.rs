//! The same of other versions of the servers (`make test-versions`).

mod drivers;

use super::*;
use crate::tls::Certificates;
use crate::versions::{Version, speaking_mysql};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The oldest have not as much room by default as the tests ask for.
const SETTINGS: [(&str, &str); 1] = [("max_allowed_packet", "16M")];

/// PostgreSQL before 14 writes down what it waits for where nobody else finds it.
const NO_WAITS: &str = "not measured: locks apart from other waits, and the names of locks (the program \
                        does not export my_wait_event_info)\n";

fn start(version: &Version) -> GivenServer {
    if version.product.speaks_mysql() {
        return version.start(&SETTINGS);
    }
    let mut server = version.start(&postgres::SETTINGS);
    server.not_measured = not_measured(version);
    server
}

fn not_measured(version: &Version) -> &'static str {
    if version.product.speaks_mysql() || tells_waits(version) { "" } else { NO_WAITS }
}

fn tells_waits(version: &Version) -> bool {
    version.number()[0] >= 14
}

/// Tries them all, whatever becomes of the first.
fn each(speaks_mysql: bool, check: impl Fn(&Version)) {
    let fails = |version: &Version| catch_unwind(AssertUnwindSafe(|| check(version))).is_err();
    let failed: Vec<String> =
        speaking_mysql(speaks_mysql).filter(fails).map(|version| version.name).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn requests_of_every_version_of_mysql_are_seen_once() {
    each(true, |version| requests::each_is_seen_once(&start(version)));
}

#[test]
fn every_version_of_mysql_tells_texts() {
    each(true, |version| match version.name.starts_with("mysql-5.6") {
        // Its connections have their text elsewhere than its statements have it.
        true => version.lacks("texts of statements that were prepared before"),
        false => requests::the_server_tells_texts(&start(version)),
    });
}

#[test]
fn sleeps_of_every_version_of_mysql_are_no_locks() {
    each(true, |version| match version.name.starts_with("mysql-5.5") {
        // It does not say so.
        true => version.lacks("SLEEP() apart from locks"),
        false => parts::a_sleep_is_no_lock(&start(version)),
    });
}

#[test]
fn holders_of_rows_are_named_in_every_version_of_mysql() {
    each(true, |version| parts::the_holder_of_a_row_is_named(&start(version)));
}

#[test]
fn waits_for_other_commits_have_names_in_every_version_of_mariadb() {
    each(true, |version| {
        // Before, most of them are within InnoDB, which shows nothing of itself.
        let shows_them = version.product == Product::Mariadb && version.number() >= vec![10, 6];
        match shows_them {
            true => parts::waits_for_commits_have_names(&version.start(&parts::BINLOG)),
            false => version.lacks("waits for other commits that can be found"),
        }
    });
}

#[test]
fn rows_of_every_version_are_counted() {
    each(true, |version| rows::of_packets_and_changes(&version.start(&rows::LARGE)));
    each(false, |version| rows::of_commands(&start(version)));
}

#[test]
fn caches_and_pools_of_every_version_are_known() {
    each(true, |version| {
        match version.product {
            Product::Mariadb => requests::a_pool_shows_answers(&version.start(&requests::POOL)),
            _ => version.lacks("a pool of threads"),
        }
        match version.name.starts_with("mysql-9") {
            true => version.lacks("a query cache"),
            false => sums::hits_are_told_from_misses(&version.start(&sums::CACHES)),
        }
    });
}

#[test]
fn requests_of_every_version_of_postgres_are_seen_once() {
    each(false, |version| postgres::each_is_seen_once(&start(version)));
}

#[test]
fn waits_have_names_in_every_version_of_postgres() {
    each(false, |version| match tells_waits(version) {
        true => {
            postgres::waits_have_names(&start(version));
            postgres::lightweight_locks_have_names(&start(version));
        }
        false => version.lacks("names of waits that can be found"),
    });
}

#[test]
fn files_have_names_in_every_version_of_postgres() {
    each(false, |version| postgres::files_have_names(&start(version)));
}

#[test]
fn encrypted_requests_of_every_version_are_those_that_are_not() {
    let check = |version: &Version| {
        if ["mariadb-10.2", "mysql-5.5", "mysql-5.6"]
            .iter()
            .any(|old| version.name.starts_with(old))
        {
            return version.lacks("TLS with keys on elliptic curves");
        }
        let probe = start(version);
        let certificates = Certificates::new(&probe);
        drop(probe);
        let mut server =
            certificates.server_by(version.product, |settings| version.start(settings));
        server.not_measured = not_measured(version);
        encrypted::same_as_not_encrypted(version.product, &server);
    };
    each(true, check);
    each(false, check);
}

#[test]
fn holders_that_do_nothing_are_named_in_every_version() {
    for speaks_mysql in [false, true] {
        each(speaks_mysql, |version| {
            let server = start(version);
            let has_plugin = version.name.starts_with("mariadb-11.8");
            if has_plugin {
                server.sql("INSTALL SONAME 'metadata_lock_info'");
            }
            // Without it only holders of rows are known.
            let knows_all = has_plugin || !speaks_mysql;
            holders::are_named(version.product, &server, if knows_all { 3 } else { 1 });
        });
    }
}

#[test]
fn sessions_from_before_are_known_in_every_version_of_mysql() {
    each(true, |version| {
        logins::client_from_before_is_known_by_port(&start(version));
        let bare = version.start(&[("performance_schema", "OFF")]);
        logins::client_from_before_is_known_by_port(&bare);
    });
}
