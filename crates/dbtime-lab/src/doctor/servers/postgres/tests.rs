//! Rules on what servers say of themselves: good, bad, missing, and hostile.

use super::super::examined::{ExaminedServer, SETTINGS};
use super::super::findings;
use super::CHECKS;
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::doctor::FindingGrade::{self, Bad, Good, Note, Unknown};

/// A check, settings, and what it makes of them.
type SettingCase<'a> = (&'static str, &'a [(&'static str, &'static str)], FindingGrade);

const GOOD: &[(&str, &str)] = &[
    ("autovacuum", "on"),
    ("autovacuum_freeze_max_age", "200000000"),
    ("autovacuum_multixact_freeze_max_age", "400000000"),
    ("autovacuum_vacuum_insert_threshold", "1000"),
    ("checkpoint_timeout", "300000"),
    ("debug_assertions", "off"),
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("huge_pages", "try"),
    ("jit", "on"),
    ("jit_above_cost", "100000"),
    ("log_duration", "off"),
    ("log_min_duration_statement", "-1"),
    ("log_statement", "none"),
    ("max_connections", "100"),
    ("max_wal_size", "1073741824"),
    ("shared_buffers", "134217728"),
    ("superuser_reserved_connections", "3"),
    ("synchronous_commit", "on"),
    ("track_counts", "on"),
    ("track_io_timing", "off"),
    ("wal_sync_method", "fdatasync"),
];

/// Queries that give names, and those that give one number.
const NAMED: [&str; 6] = [
    "tables due for vacuum",
    "tables due for vacuum by new rows",
    "tables with old statistics",
    "changed collations",
    "inactive slots",
    "unlogged tables",
];
const COUNTED: [&str; 5] = [
    "running vacuums",
    "idle transactions",
    "hidden sessions",
    "oldest snapshot",
    "prepared transactions",
];

/// A server that is as it should be, but for these variables.
fn server(other: &[(&str, &str)]) -> ExaminedServer {
    let mut server = ExaminedServer::of(GOOD, &[])
        .with_row("data size", &["8000000"])
        .with_row("checkpoints before 17", &["100", "5"])
        .with_row("size of the WAL", &["16777216"])
        .with_row("oldest rows", &["150000000", "3"])
        .with_row("database counters", &["7200", "1", "1000", "7200"])
        .with_row("client connections", &["1"]);
    for query in NAMED {
        server.take(query, Vec::new());
    }
    for query in COUNTED {
        server = server.with_row(query, &["0"]);
    }
    server.memory_bytes = Some(8 << 30);
    server.clock_source = Some("tsc".to_owned());
    server.planned.connections = Some(90);
    server.planned.run_s = Some(600.0);
    server.settings.extend(other.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
    server
}

fn all(server: &ExaminedServer) -> Vec<DoctorFinding> {
    findings(CHECKS, server)
}

#[test]
fn a_server_that_is_as_it_should_be_has_good_findings() {
    let findings = all(&server(&[]));
    assert_eq!(findings.len(), 23);
    for finding in findings {
        assert_eq!(finding.grade, Good, "{finding:?}");
        assert!(!finding.value.is_empty() && finding.costs.is_empty(), "{finding:?}");
    }
}

#[test]
fn durability_is_a_class() {
    let commit = "synchronous_commit";
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[], "D3"),
        (&[(commit, "local")], "D3"),
        (&[("full_page_writes", "off")], "D2"),
        (&[(commit, "off")], "D1"),
        (&[(commit, "off"), ("full_page_writes", "off")], "D0"),
        (&[("fsync", "off")], "D0"),
    ];
    for (other, class) in cases {
        let finding = server(other).finding(CHECKS, "durability");
        assert!(finding.value.starts_with(&format!("{class} (")), "{finding:?}");
        assert_eq!(finding.grade == Good, class == "D3", "{finding:?}");
        assert_eq!(finding.fix.is_empty(), class == "D3", "{finding:?}");
    }
    let finding = server(&[(commit, "off")]).finding(CHECKS, "durability");
    let set = "ALTER SYSTEM SET synchronous_commit =";
    assert_eq!(finding.fix, format!("{set} 'on'; SELECT pg_reload_conf()"));
    assert_eq!(finding.undo, format!("{set} 'off'; SELECT pg_reload_conf()"));
}

#[test]
fn settings_that_change_figures_are_found() {
    let explained = [
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_min_duration", "1000"),
        ("auto_explain.log_timing", "on"),
    ];
    let large = ("shared_buffers", "9000000000");
    let cases: [SettingCase<'_>; 12] = [
        ("debug_build", &[("debug_assertions", "on")], Bad),
        ("shared_buffers", &[("shared_buffers", "4000000")], Note),
        ("shared_buffers", &[large], Bad),
        ("huge_pages", &[large, ("huge_pages_status", "off")], Note),
        ("huge_pages", &[large], Unknown),
        ("max_connections", &[("max_connections", "93")], Bad),
        ("jit", &[("jit_above_cost", "10")], Note),
        ("run_checkpoint", &[("checkpoint_timeout", "3600000")], Note),
        ("statement_log", &[("log_statement", "all"), ("log_duration", "on")], Note),
        ("statement_log", &[("log_min_duration_statement", "0")], Note),
        ("auto_explain", &explained, Note),
        ("track_io_timing", &[("track_io_timing", "on")], Good),
    ];
    for (id, other, grade) in cases {
        let finding = server(other).finding(CHECKS, id);
        assert_eq!(finding.grade, grade, "{finding:?}");
        assert_eq!(finding.costs.is_empty(), matches!(grade, Good | Unknown), "{finding:?}");
    }
    let mut slow = server(&[("track_io_timing", "on")]);
    slow.clock_source = Some("hpet".to_owned());
    assert_eq!(slow.finding(CHECKS, "track_io_timing").grade, Note);
    slow.clock_source = Some("hyperv_clocksource_tsc_page".to_owned());
    assert_eq!(slow.finding(CHECKS, "track_io_timing").grade, Good);
    slow.clock_source = None;
    assert_eq!(slow.finding(CHECKS, "track_io_timing").grade, Unknown);
}

#[test]
fn queries_are_judged() {
    let row = |id: &str, query: &'static str, cells: &[&str]| {
        server(&[]).with_row(query, cells).finding(CHECKS, id).grade
    };
    assert_eq!(row("forced_checkpoints", "checkpoints", &["1", "50"]), Bad);
    assert_eq!(row("forced_checkpoints", "checkpoints", &["1", "9"]), Good);
    assert_eq!(row("autovacuum", "running vacuums", &["1"]), Note);
    assert_eq!(row("autovacuum", "tables due for vacuum", &["public.t"]), Note);
    assert_eq!(row("table_statistics", "tables with old statistics", &["public.t"]), Note);
    assert_eq!(row("collation_version", "changed collations", &["shop"]), Bad);
    assert_eq!(row("wal_size", "size of the WAL", &["2147483649"]), Note);
    assert_eq!(row("wal_size", "size of the WAL", &["-1"]), Unknown);
    assert_eq!(row("unlogged_tables", "unlogged tables", &["public.t"]), Note);
    assert_eq!(row("wraparound", "oldest rows", &["200000000", "0"]), Note);
    assert_eq!(row("wraparound", "oldest rows", &["0", "400000000"]), Note);
    assert_eq!(row("wraparound", "oldest rows", &["1600000000", "0"]), Bad);
    assert_eq!(row("wraparound", "oldest rows", &["-1", ""]), Unknown);
    assert_eq!(row("idle_transactions", "idle transactions", &["1"]), Bad);
    assert_eq!(row("oldest_snapshot", "oldest snapshot", &["1000001"]), Note);
    assert_eq!(row("prepared_transactions", "prepared transactions", &["1"]), Note);
    assert_eq!(row("inactive_slots", "inactive slots", &["gone"]), Note);
    assert_eq!(row("autovacuum", "tables due for vacuum by new rows", &["public.t"]), Note);
    assert_eq!(row("statistics_reset", "database counters", &["60", "0", "0", "7200"]), Note);
    assert_eq!(row("statistics_reset", "database counters", &["60", "0", "0", "60"]), Good);
    assert_eq!(row("temporary_files", "database counters", &["7200", "1", "2000000000"]), Note);
    assert_eq!(row("temporary_files", "database counters", &["7200", "-1", ""]), Unknown);
}

#[test]
fn what_a_login_may_not_see_is_unknown_and_what_it_sees_counts() {
    let hidden = server(&[]).with_row("hidden sessions", &["2"]);
    let finding = hidden.finding(CHECKS, "idle_transactions");
    assert_eq!(finding.grade, Unknown, "{finding:?}");
    assert!(finding.because.contains("2 sessions"), "{finding:?}");
    let seen = hidden.with_row("idle transactions", &["1"]);
    assert_eq!(seen.finding(CHECKS, "idle_transactions").grade, Bad);
    let old = server(&[("server_version_num", "90624")]).finding(CHECKS, "collation_version");
    assert_eq!(old.grade, Unknown, "{old:?}");
}

#[test]
fn reserved_connections_are_for_superusers() {
    let grade = |cells: &[&str]| {
        let server = server(&[("max_connections", "92"), ("reserved_connections", "2")]);
        server.with_row("client connections", cells).finding(CHECKS, "max_connections").grade
    };
    assert_eq!([grade(&["1", "0"]), grade(&["1", "1"])], [Bad, Good]);
}

#[test]
fn a_remedy_is_where_the_setting_is_set() {
    let commit = "synchronous_commit";
    let mut server = server(&[("fsync", "off"), (commit, "off")]);
    let finding = server.finding(CHECKS, "durability");
    assert_eq!(finding.grade, Bad, "data may be damaged");
    let fix = "ALTER SYSTEM SET fsync = 'on'; ALTER SYSTEM SET synchronous_commit = 'on'; \
               SELECT pg_reload_conf()";
    assert_eq!(finding.fix, fix);
    for (source, fix) in [
        ("command line", "start the server with -c synchronous_commit=on"),
        ("database", "ALTER DATABASE … SET synchronous_commit = 'on'"),
        ("client", "synchronous_commit=on in the target's options"),
    ] {
        server.sources.insert(commit.to_owned(), source.to_owned());
        let finding = server.finding(CHECKS, "durability");
        assert!(finding.fix.contains(fix) && finding.undo.contains("off"), "{finding:?}");
        assert!(finding.fix.contains("ALTER SYSTEM SET fsync = 'on'"), "{finding:?}");
    }
    server.sources.insert("fsync".to_owned(), "command line".to_owned());
    assert!(!server.finding(CHECKS, "durability").fix.contains("pg_reload_conf"));
    server.settings.insert("autovacuum".to_owned(), "off".to_owned());
    let finding = server.finding(CHECKS, "autovacuum");
    assert_eq!(finding.fix, "ALTER SYSTEM SET autovacuum = 'on'; SELECT pg_reload_conf()");
    assert_eq!(finding.grade, Note);
    server.settings.insert("autovacuum".to_owned(), "on".to_owned());
    server.settings.insert("track_counts".to_owned(), "off".to_owned());
    let finding = server.finding(CHECKS, "autovacuum");
    assert!(finding.fix.starts_with("ALTER SYSTEM SET track_counts = 'on'"), "{finding:?}");
    assert_eq!(server.finding(CHECKS, "table_statistics").grade, Unknown, "nothing is counted");
}

#[test]
fn what_is_raised_has_an_upper_bound() {
    let forced = |room: &str| {
        let server = server(&[("max_wal_size", room)]).with_row("checkpoints", &["1", "50"]);
        server.finding(CHECKS, "forced_checkpoints").fix
    };
    let fix = forced("1073741824");
    assert_eq!(fix, "ALTER SYSTEM SET max_wal_size = '2048MB'; SELECT pg_reload_conf()");
    assert_eq!(forced("17179869184"), "");
    let mut server = server(&[]);
    server.planned.connections = Some(u64::MAX);
    let finding = server.finding(CHECKS, "max_connections");
    assert!(finding.grade == Bad && !finding.fix.contains("ALTER SYSTEM"), "{finding:?}");
}

#[test]
fn what_is_missing_or_refused_is_unknown_with_its_reason() {
    for finding in all(&ExaminedServer::default()) {
        assert_eq!(finding.grade, Unknown, "{finding:?}");
        assert!(finding.value.is_empty() && !finding.because.is_empty(), "{finding:?}");
    }
    let mut server = server(&[]);
    server.settings.clear();
    server.refusals.insert(SETTINGS, "permission denied".to_owned());
    let finding = server.finding(CHECKS, "durability");
    assert_eq!((finding.grade, finding.because.as_str()), (Unknown, "permission denied"));
    server.planned.run_s = None;
    assert_eq!(server.finding(CHECKS, "run_checkpoint").grade, Unknown);
}

#[test]
fn hostile_values_are_unknown_or_shown_on_one_short_line() {
    let hostile = ["", "-1", "999999999999999999999999999999", "\u{1b}[2J\n", "'; DROP TABLE t"];
    for value in hostile.map(str::to_owned).into_iter().chain(["x".repeat(100_000)]) {
        let mut server = server(&[]);
        for text in server.settings.values_mut() {
            text.clone_from(&value);
        }
        for query in COUNTED.into_iter().chain(NAMED) {
            server = server.with_row(query, &[&value]);
        }
        for finding in all(&server) {
            for text in [&finding.value, &finding.because, &finding.fix, &finding.undo] {
                assert!(text.chars().count() < 600, "{finding:?}");
                assert!(!text.contains(['\u{1b}', '\n']), "{finding:?}");
            }
            assert!(!finding.fix.contains("DROP") && !finding.undo.contains("DROP"));
        }
        assert_eq!(server.finding(CHECKS, "durability").grade, Unknown, "{value}");
    }
}
