//! Rules on what servers say of themselves: good, bad, missing, and hostile.

use super::super::examined::{AnswerRows, COUNTERS, ExaminedServer, SETTINGS};
use super::super::findings;
use super::CHECKS;
use super::data::CHANGED;
use dbtime_model::doctor::FindingGrade::{self, Bad, Good, Note, Unknown};
use dbtime_model::doctor::{DoctorFinding, FindingScope};

/// A check, settings, and what it makes of them.
type SettingCase<'a> = (&'static str, &'a [(&'static str, &'static str)], FindingGrade);

const GOOD: &[(&str, &str)] = &[
    ("autocommit", "ON"),
    ("event_scheduler", "OFF"),
    ("general_log", "OFF"),
    ("innodb_buffer_pool_size", "134217728"),
    ("innodb_doublewrite", "ON"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_flush_method", "O_DIRECT"),
    ("innodb_log_file_size", "100663296"),
    ("log_bin", "OFF"),
    ("long_query_time", "10.000000"),
    ("max_connections", "151"),
    ("max_prepared_stmt_count", "16382"),
    ("performance_schema", "OFF"),
    ("skip_name_resolve", "ON"),
    ("slow_query_log", "OFF"),
    ("sync_binlog", "0"),
    ("table_open_cache", "2000"),
    ("thread_cache_size", "151"),
    ("thread_handling", "one-thread-per-connection"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("userstat", "OFF"),
    ("version_comment", "Debian 12"),
];

const COUNTED: &[(&str, &str)] = &[
    ("Connections", "12"),
    ("Innodb_buffer_pool_load_status", "Buffer pool(s) load completed at 261130 17:57:30"),
    ("Innodb_history_list_length", "7"),
    ("Innodb_os_log_written", "4096"),
    ("Prepared_stmt_count", "0"),
    ("Table_open_cache_hits", "100"),
    ("Table_open_cache_misses", "20"),
    ("Threads_connected", "1"),
    ("Threads_created", "12"),
    ("Uptime", "120"),
];

/// Queries that give names.
const NAMED: [&str; 4] =
    ["wait consumers", "tables without primary key", "tables with old statistics", CHANGED[0]];

/// Rows of one column.
fn rows(cells: &[&str]) -> AnswerRows {
    cells.iter().map(|cell| vec![Some((*cell).to_owned())]).collect()
}

/// A server that is as it should be, but for these variables.
fn server(other: &[(&str, &str)]) -> ExaminedServer {
    let mut server = ExaminedServer::of(GOOD, COUNTED)
        .with_row("data size", &["1000000"])
        .with_row("enabled events", &["1"])
        .with_row("replicas", &["0"])
        .with_row("idle transactions", &["0"]);
    for query in NAMED {
        server.take(query, Vec::new());
    }
    server.take("own rights", rows(&["SELECT", "PROCESS", "EVENT"]));
    server.version = "10.11.19-MariaDB".to_owned();
    server.memory_bytes = Some(8 << 30);
    server.planned.connections = Some(100);
    server.planned.statements = Some(10);
    server.settings.extend(other.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
    server
}

fn found(id: &str, other: &[(&str, &str)]) -> DoctorFinding {
    server(other).finding(CHECKS, id)
}

fn all(server: &ExaminedServer) -> Vec<DoctorFinding> {
    findings(CHECKS, server)
}

#[test]
fn a_server_that_is_as_it_should_be_has_good_findings() {
    let findings = all(&server(&[]));
    assert_eq!(findings.len(), 24);
    for finding in findings {
        assert_eq!(finding.grade, Good, "{finding:?}");
        assert!(!finding.value.is_empty() && finding.costs.is_empty(), "{finding:?}");
    }
}

#[test]
fn durability_is_a_class() {
    let commit = "innodb_flush_log_at_trx_commit";
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[], "D3"),
        (&[("log_bin", "ON"), ("sync_binlog", "1")], "D3"),
        (&[("log_bin", "ON"), ("sync_binlog", "1000")], "D2"),
        (&[("innodb_doublewrite", "OFF")], "D2"),
        (&[(commit, "2")], "D1"),
        (&[(commit, "0"), ("innodb_doublewrite", "OFF")], "D0"),
        (&[("innodb_flush_method", "nosync")], "D0"),
    ];
    for (other, class) in cases {
        let finding = found("durability", other);
        assert!(finding.value.starts_with(&format!("{class} (")), "{finding:?}");
        assert_eq!(finding.grade == Good, class == "D3", "{finding:?}");
    }
    let finding = found("durability", &[(commit, "2")]);
    assert_eq!(finding.fix, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    assert_eq!(finding.undo, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    let mut unlogged = server(&[]);
    unlogged.counters.insert("Innodb_redo_log_enabled".to_owned(), "OFF".to_owned());
    let finding = unlogged.finding(CHECKS, "durability");
    assert!(finding.grade == Bad && finding.value.starts_with("D0 ("), "{finding:?}");
    assert_eq!(finding.undo, "ALTER INSTANCE DISABLE INNODB REDO_LOG");
    let finding = found("durability_pair", &[("log_bin", "ON")]);
    assert_eq!((finding.grade, finding.undo.as_str()), (Note, "SET GLOBAL sync_binlog = 0"));
}

#[test]
fn settings_that_change_figures_are_found() {
    let cases: [SettingCase<'_>; 17] = [
        ("debug_build", &[("version_comment", "Source, with Valgrind")], Bad),
        ("buffer_pool", &[("innodb_buffer_pool_size", "500000")], Note),
        ("buffer_pool", &[("innodb_buffer_pool_size", "8000000000")], Bad),
        ("redo_capacity", &[("innodb_log_file_size", "1000")], Note),
        ("redo_capacity", &[("innodb_redo_log_capacity", "1000")], Note),
        ("query_cache", &[("query_cache_type", "ON"), ("query_cache_size", "1048576")], Note),
        ("general_log", &[("general_log", "ON")], Note),
        ("slow_log", &[("slow_query_log", "ON"), ("long_query_time", "0.000000")], Note),
        ("slow_log", &[("slow_query_log", "ON"), ("long_query_time", "0.000100")], Note),
        ("userstat", &[("userstat", "ON")], Note),
        ("max_connections", &[("max_connections", "99")], Bad),
        ("prepared_statements", &[("max_prepared_stmt_count", "999")], Bad),
        ("thread_handling", &[("thread_handling", "pool-of-threads")], Note),
        ("session_defaults", &[("transaction_isolation", "READ-COMMITTED")], Note),
        ("session_defaults", &[("autocommit", "OFF")], Note),
        ("event_scheduler", &[("event_scheduler", "ON")], Note),
        ("replicas", &[("wsrep_on", "ON")], Note),
    ];
    for (id, other, grade) in cases {
        let finding = found(id, other);
        assert_eq!(finding.grade, grade, "{finding:?}");
        assert!(!finding.because.is_empty() && !finding.costs.is_empty(), "{finding:?}");
        assert_eq!(found(id, &[]).grade, Good, "{id}");
    }
}

#[test]
fn counters_and_queries_are_judged() {
    let counter = |id: &str, name: &str, value: &str| {
        let mut server = server(&[]);
        server.counters.insert(name.to_owned(), value.to_owned());
        server.finding(CHECKS, id).grade
    };
    let history = "Innodb_history_list_length";
    assert_eq!(counter("history_length", history, "100001"), Note);
    assert_eq!(counter("history_length", history, "1000001"), Bad);
    assert_eq!(counter("pool_load", "Innodb_buffer_pool_load_status", "Loaded 1/9 pages"), Note);
    assert_eq!(counter("table_cache", "Table_open_cache_misses", "5000"), Note);
    assert_eq!(counter("redo_capacity", "Uptime", "3"), Unknown);
    let named = |id: &str, query: &'static str| {
        server(&[("performance_schema", "ON")]).with_row(query, &["a.b"]).finding(CHECKS, id)
    };
    for (id, query) in [
        ("primary_keys", "tables without primary key"),
        ("table_statistics", "tables with old statistics"),
        ("table_statistics", CHANGED[0]),
        ("performance_schema", "wait consumers"),
    ] {
        let finding = named(id, query);
        assert!(finding.grade == Note && finding.value.contains("a.b"), "{finding:?}");
    }
    let mut server = server(&[("skip_name_resolve", "OFF")]);
    assert_eq!(server.finding(CHECKS, "name_resolve").grade, Good);
    server.is_networked = true;
    assert_eq!(server.finding(CHECKS, "name_resolve").grade, Note);
}

#[test]
fn what_is_raised_has_an_upper_bound() {
    let finding = found("max_connections", &[("max_connections", "99")]);
    assert_eq!(finding.fix, "SET GLOBAL max_connections = 100", "its own login is not counted");
    let mut server = server(&[]);
    server.planned.connections = Some(u64::MAX);
    for id in ["max_connections", "prepared_statements"] {
        let finding = server.finding(CHECKS, id);
        assert!(finding.grade == Bad && !finding.fix.contains("SET GLOBAL"), "{finding:?}");
    }
    let finding = found("redo_capacity", &[("innodb_redo_log_capacity", "1000")]);
    assert_eq!(finding.fix, "SET GLOBAL innodb_redo_log_capacity = 2040");
    assert_eq!(finding.undo, "SET GLOBAL innodb_redo_log_capacity = 1000");
}

#[test]
fn what_a_login_may_not_see_is_unknown_and_what_it_sees_counts() {
    let limited = |other: &[(&str, &str)]| {
        let mut server = server(other);
        server.take("own rights", Vec::new());
        server
    };
    let events = [("event_scheduler", "ON")];
    let unseen = limited(&events).with_row("enabled events", &["0"]);
    for (id, right) in [
        ("buffer_pool", "SELECT on *.*"),
        ("primary_keys", "SELECT on *.*"),
        ("event_scheduler", "EVENT on *.*"),
        ("replicas", "PROCESS"),
    ] {
        let finding = unseen.finding(CHECKS, id);
        assert_eq!(finding.grade, Unknown, "{finding:?}");
        assert!(finding.because.contains(right), "{finding:?}");
    }
    let seen = limited(&[("innodb_buffer_pool_size", "500000")])
        .with_row("tables without primary key", &["a.b"])
        .with_row("replicas", &["1"]);
    for id in ["buffer_pool", "primary_keys", "replicas"] {
        assert_eq!(seen.finding(CHECKS, id).grade, Note, "{id}");
    }
    assert!(seen.finding(CHECKS, "buffer_pool").value.contains("for at least 1 MB of data"));
    let mut refused = server(&[]).with_row("tables with old statistics", &["a.b"]);
    refused.answers.remove(CHANGED[0]);
    refused.refusals.insert(CHANGED[1], "denied".to_owned());
    assert_eq!(refused.finding(CHECKS, "table_statistics").value, "a.b", "found all the same");
    refused.take("tables with old statistics", Vec::new());
    assert_eq!(refused.finding(CHECKS, "table_statistics").because, "denied");
}

#[test]
fn a_remedy_is_one_that_this_server_takes_and_its_undo_brings_back_what_was_there() {
    let tiny = ("innodb_buffer_pool_size", "500000");
    let chunked = ("innodb_buffer_pool_chunk_size", "1048576");
    let fix = |other: &[(&str, &str)]| found("buffer_pool", other).fix;
    assert_eq!(fix(&[tiny]), "start the server with innodb_buffer_pool_size=1100000");
    assert_eq!(fix(&[tiny, chunked]), "SET GLOBAL innodb_buffer_pool_size = 1100000");
    let bounded = ("innodb_buffer_pool_size_max", "900000");
    assert!(fix(&[tiny, chunked, bounded]).starts_with("start the server with"));
    let finding = found("session_defaults", &[("tx_isolation", "SERIALIZABLE")]);
    let set = "SET GLOBAL TRANSACTION ISOLATION LEVEL";
    assert_eq!(finding.fix, format!("{set} REPEATABLE READ"));
    assert_eq!(finding.undo, format!("{set} SERIALIZABLE"));
    let finding = found("session_defaults", &[("autocommit", "OFF")]);
    assert_eq!(finding.undo, "SET GLOBAL autocommit = OFF");
    let idle = server(&[]).with_row("idle transactions", &["1"]);
    assert_eq!(idle.finding(CHECKS, "idle_transactions").grade, Bad);
}

#[test]
fn what_is_missing_or_refused_is_unknown_with_its_reason() {
    for finding in all(&ExaminedServer::default()) {
        assert_eq!(finding.grade, Unknown, "{finding:?}");
        assert!(finding.value.is_empty() && !finding.because.is_empty(), "{finding:?}");
    }
    let mut server = ExaminedServer::default();
    for query in [SETTINGS, COUNTERS] {
        server.refusals.insert(query, "access denied".to_owned());
    }
    let finding = server.finding(CHECKS, "durability");
    assert_eq!((finding.grade, finding.because.as_str()), (Unknown, "access denied"));
    assert_eq!(finding.scope, FindingScope::Server);
}

#[test]
fn hostile_values_are_unknown_or_shown_on_one_short_line() {
    let hostile = ["", "-1", "999999999999999999999999999999", "\u{1b}[2J\n", "'; DROP TABLE t"];
    for value in hostile.map(str::to_owned).into_iter().chain(["x".repeat(100_000)]) {
        let mut server = server(&[]);
        for text in server.settings.values_mut().chain(server.counters.values_mut()) {
            text.clone_from(&value);
        }
        for query in ["data size", "enabled events", "replicas", "idle transactions"] {
            server = server.with_row(query, &[&value]);
        }
        for finding in all(&server) {
            let texts = [&finding.value, &finding.because, &finding.fix, &finding.undo];
            for text in texts {
                assert!(text.chars().count() < 600, "{finding:?}");
                assert!(!text.contains(['\u{1b}', '\n']), "{finding:?}");
            }
            assert!(!finding.fix.contains("DROP") && !finding.undo.contains("DROP"));
        }
        assert_eq!(server.finding(CHECKS, "durability").grade, Unknown, "{value}");
    }
}
