//! Rules on what was read of a file: good, bad, missing, and hostile.

use super::super::examined::ExaminedServer;
use super::super::findings;
use super::{CHECKS, SqliteExamination, SqliteTarget, examined, taken};
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::doctor::FindingGrade::{self, Bad, Good, Note, Unknown};

/// Settings of a connection that keeps commits and has its data in memory.
const GOOD: [(&str, &str); 6] = [
    ("cache_size", "-65536"),
    ("journal_mode", "wal"),
    ("mmap_size", "0"),
    ("page_size", "4096"),
    ("synchronous", "full"),
    ("wal_autocheckpoint", "1000"),
];

fn examination(other: &[(&str, &str)]) -> SqliteExamination {
    let settings = GOOD.iter().chain(other);
    SqliteExamination {
        settings: settings.map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        compile_options: vec!["THREADSAFE=1".to_owned()],
        file_bytes: 1 << 20,
        file_system: "ext4".to_owned(),
        ..SqliteExamination::default()
    }
}

fn server(found: SqliteExamination) -> ExaminedServer {
    taken(found, 8 << 30)
}

fn all(server: &ExaminedServer) -> Vec<DoctorFinding> {
    findings(CHECKS, server)
}

#[test]
fn a_database_that_is_as_it_should_be_has_good_findings() {
    let findings = all(&server(examination(&[])));
    assert_eq!(findings.len(), 9);
    for finding in findings {
        assert_eq!(finding.grade, Good, "{finding:?}");
        assert!(!finding.value.is_empty() && finding.costs.is_empty(), "{finding:?}");
    }
}

#[test]
fn durability_is_a_class() {
    for (journal, synchronous, class) in [
        ("wal", "full", "D3"),
        ("delete", "extra", "D3"),
        ("delete", "normal", "D2"),
        ("wal", "normal", "D1"),
        ("wal", "off", "D0"),
        ("memory", "full", "D0"),
    ] {
        let found = examination(&[("journal_mode", journal), ("synchronous", synchronous)]);
        let finding = server(found).finding(CHECKS, "durability");
        assert!(finding.value.starts_with(&format!("{class} (")), "{finding:?}");
        assert_eq!(finding.grade == Good, class == "D3", "{finding:?}");
    }
}

#[test]
fn settings_and_files_are_judged() {
    let graded =
        |id: &str, other: &[(&str, &str)]| server(examination(other)).finding(CHECKS, id).grade;
    assert_eq!(graded("page_size", &[("page_size", "1024")]), Note);
    assert_eq!(graded("cache_size", &[("cache_size", "10")]), Note);
    assert_eq!(graded("cache_size", &[("cache_size", "-2000000000")]), Bad);
    assert_eq!(graded("mmap_size", &[("mmap_size", "1000000")]), Note);
    let changed = |id: &str, change: fn(&mut SqliteExamination)| -> FindingGrade {
        let mut found = examination(&[]);
        change(&mut found);
        server(found).finding(CHECKS, id).grade
    };
    assert_eq!(changed("wal_size", |found| found.wal_bytes = 100 << 20), Note);
    assert_eq!(changed("wal_size", |found| found.wal_bytes = 4 << 20), Good);
    let left = |found: &mut SqliteExamination| {
        (found.wal_bytes, found.is_log_left) = (1 << 20, true);
        found.refusal = Some("it is not opened".to_owned());
        found.settings.remove("page_size");
    };
    assert_eq!(changed("wal_size", left), Note);
    assert_eq!(changed("page_size", left), Unknown);
    let large = |found: &mut SqliteExamination| found.large_tables = vec!["t".to_owned()];
    assert_eq!(changed("table_statistics", large), Note);
    assert_eq!(changed("table_statistics", |found| found.is_partial = true), Unknown);
    let place = "database_file_system";
    assert_eq!(changed(place, |found| found.file_system = "nfs".to_owned()), Bad);
    assert_eq!(changed(place, |found| found.file_system = "tmpfs".to_owned()), Note);
    let held = |found: &mut SqliteExamination| found.holder = Some("pid 7 (x)".to_owned());
    assert_eq!(changed("other_processes", held), Note);
    let debug = |found: &mut SqliteExamination| found.compile_options = vec!["DEBUG".to_owned()];
    assert_eq!(changed("library_build", debug), Bad);
}

#[test]
fn a_file_that_is_not_there_has_its_reason_and_no_panic() {
    let findings = all(&examined(&SqliteTarget::new("/nowhere/at/all.db")));
    let find = |id: &str| findings.iter().find(|finding| finding.id == id).expect("a finding");
    for id in ["page_size", "cache_size", "table_statistics"] {
        let finding = find(id);
        assert_eq!(finding.grade, Unknown, "{finding:?}");
        assert!(finding.because.contains("/nowhere/at/all.db cannot be read"), "{finding:?}");
    }
    // What dbtime sets itself is known all the same.
    assert!(find("durability").value.starts_with("D1 ("));
}

#[test]
fn hostile_values_are_unknown_or_shown_on_one_short_line() {
    for value in ["", "999999999999999999999999999999", "\u{1b}[2J\n", "'; DROP TABLE t"] {
        let other = GOOD.map(|(name, _)| (name, value));
        let mut found = examination(&other);
        found.large_tables = vec![value.repeat(1_000)];
        found.file_system = value.to_owned();
        for finding in all(&server(found)) {
            for text in [&finding.value, &finding.because, &finding.fix, &finding.undo] {
                assert!(text.chars().count() < 600, "{finding:?}");
                assert!(!text.contains(['\u{1b}', '\n']), "{finding:?}");
            }
            assert!(!finding.fix.contains("DROP") && !finding.undo.contains("DROP"));
        }
    }
}
