//! What is found in servers and databases that are there: each check looks, and changes nothing.

use crate::live::{query, start, with};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::load_marker::ReplaceScope;
use dbtime_lab::doctor::{PlannedServerUse, server_findings};
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_lab::{Dataset, Target};
use dbtime_load::workload::Workload;
use dbtime_model::Product;
use dbtime_model::doctor::{DoctorFinding, FindingGrade};
use std::fs;
use std::time::{Duration, Instant};

/// The server as a target, with its password.
fn target_of(server: &PrivateServer) -> Target {
    let (scheme, database) = match server.product() {
        Product::Postgres => ("postgres", "postgres"),
        _ => ("mysql", ""),
    };
    let login = format!("{}:{}", server.user(), server.password().reveal());
    let target = format!("{scheme}://{login}@127.0.0.1:{}/{database}", server.port());
    target.parse().expect("a target")
}

/// All findings, of which none has the password.
fn findings(target: &Target, server: &PrivateServer) -> Vec<DoctorFinding> {
    let planned =
        PlannedServerUse { connections: Some(10), statements: Some(5), run_s: Some(10.0) };
    let findings = server_findings(target, &planned);
    assert!(!format!("{findings:?}").contains(server.password().reveal()), "{findings:?}");
    findings
}

fn find<'a>(findings: &'a [DoctorFinding], id: &str) -> &'a DoctorFinding {
    findings.iter().find(|finding| finding.id == id).expect("a check of that name")
}

/// Checks that had nothing to look at.
fn unknown(findings: &[DoctorFinding]) -> Vec<&str> {
    let unknown = findings.iter().filter(|finding| finding.grade == FindingGrade::Unknown);
    unknown.map(|finding| finding.id.as_str()).collect()
}

/// A server of the product with one setting that costs durability, one as it is, and none.
fn examined(product: Product, name: &str, value: &str, show: &str, checks: usize) {
    let server = start(&ServerRequest::new(product));
    let plain = findings(&target_of(&server), &server);
    assert_eq!(plain.len(), checks, "{plain:?}");
    assert!(find(&plain, "durability").value.starts_with("D3 ("), "{plain:?}");
    // A rate of writes takes a server that runs for a minute.
    let unknown = unknown(&plain);
    assert!(unknown.iter().all(|id| *id == "redo_capacity"), "{plain:?}");
    drop(server);

    let server = start(&with(product, name, value));
    let target = target_of(&server);
    let begun = Instant::now();
    let weak = findings(&target, &server);
    assert!(begun.elapsed() < Duration::from_secs(30), "the look is bounded");
    let durability = find(&weak, "durability");
    assert!(durability.value.starts_with("D1 ("), "{durability:?}");
    assert_eq!(durability.grade, FindingGrade::Note);
    assert!(durability.fix.contains(name) && durability.undo.contains(value), "{durability:?}");
    assert_eq!(query(&server, false, show), value, "nothing is changed");

    server.kill();
    let gone = findings(&target, &server);
    assert_eq!(gone.len(), checks);
    for finding in gone {
        assert_eq!(finding.grade, FindingGrade::Unknown, "{finding:?}");
        assert!(!finding.because.is_empty(), "{finding:?}");
    }
}

#[test]
fn a_mariadb_server_is_examined_by_every_check() {
    let name = "innodb_flush_log_at_trx_commit";
    examined(Product::Mariadb, name, "2", &format!("SELECT @@{name}"), 24);
}

#[test]
fn what_a_login_may_not_see_is_unknown_and_not_absent() {
    let server = start(&ServerRequest::new(Product::Mariadb));
    let made = "CREATE DATABASE shop; CREATE TABLE shop.keyless (n INT); CREATE USER \
                low@localhost IDENTIFIED BY 'few', low@'127.0.0.1' IDENTIFIED BY 'few'";
    query(&server, false, made);
    let all = findings(&target_of(&server), &server);
    let keyless = find(&all, "primary_keys");
    assert_eq!((keyless.grade, keyless.value.as_str()), (FindingGrade::Note, "shop.keyless"));
    let low = format!("mysql://low:few@127.0.0.1:{}/", server.port());
    let few = findings(&low.parse().expect("a target"), &server);
    for id in ["primary_keys", "buffer_pool", "replicas", "idle_transactions"] {
        let finding = find(&few, id);
        assert_eq!(finding.grade, FindingGrade::Unknown, "{finding:?}");
        assert!(!finding.because.is_empty(), "{finding:?}");
    }
    assert!(find(&few, "durability").value.starts_with("D3 ("), "{few:?}");
}

#[test]
fn a_postgres_server_is_examined_by_every_check() {
    examined(Product::Postgres, "synchronous_commit", "off", "SHOW synchronous_commit", 23);
}

#[test]
fn a_database_file_is_examined_by_every_check_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let target: Target = format!("sqlite:{}", path.display()).parse().expect("a target");
    let workload = Workload::find("point-select").expect("a shipped workload");
    let data = Dataset { workload: &workload, scale: 1, seed: 1, replacing: ReplaceScope::Same };
    target.init(&data, &|_| {}, &RunStop::default()).expect("it is loaded");
    let before = fs::read(&path).expect("a file");
    let findings = server_findings(&target, &PlannedServerUse::default());
    assert_eq!(findings.len(), 9, "{findings:?}");
    assert!(unknown(&findings).is_empty(), "{findings:?}");
    assert!(find(&findings, "durability").value.starts_with("D1 ("), "{findings:?}");
    let statistics = find(&findings, "table_statistics");
    assert_eq!(statistics.grade, FindingGrade::Note, "{statistics:?}");
    assert!(fs::read(&path).expect("a file") == before, "the file has changed");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn what_a_run_makes_itself_has_a_reason_and_the_null_target_has_no_findings() {
    for text in ["sqlite", "mariadb", "postgres"] {
        let target: Target = text.parse().expect("a target");
        let findings = server_findings(&target, &PlannedServerUse::default());
        assert_eq!(unknown(&findings), ["target"], "{findings:?}");
        assert!(findings[0].because.contains("name a server"), "{findings:?}");
    }
    let target: Target = "null".parse().expect("a target");
    assert!(server_findings(&target, &PlannedServerUse::default()).is_empty());
}
