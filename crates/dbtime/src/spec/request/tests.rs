//! Tests of what a written form makes.

use super::*;
use crate::cli::{self, CliCommand};
use crate::spec::{DescribedRun, described};
use dbtime_model::spec::SpecDocument;

/// The request of a command line, and that of its written form.
fn both(line: &str) -> [RunRequest; 2] {
    let CliCommand::Run(args) = cli::parse(line.split(' ')).expect(line).command else {
        panic!("a run: {line}")
    };
    let DescribedRun { spec, secrets, .. } = described(&args).expect(line);
    let first = request(&spec, &secrets, None).expect(line);
    let text = serde_json::to_string(&first.spec).expect("it can be written");
    let read = SpecDocument::read(&text).expect("a spec").spec;
    let second = request(&read, &secrets, None).expect(line);
    [first, second]
}

#[test]
fn what_is_written_down_is_the_same_run() {
    for line in [
        "dbtime run",
        "dbtime run atm --rate 500/s --jitter 200us --workers 4 --limit p90<=5ms",
        "dbtime run atm --connections 150 --think exp:10ms --target null:?service=1ms",
        "dbtime run values1 --rate ramp:10/s..20/s --arrivals poisson --on-backlog drop",
        "dbtime run report-scan --arrivals at-once --transactions 80 --workers 4",
        "dbtime run --query VALUES(1) --time 2s --warmup 0s --no-budget --seed 7",
        "dbtime run atm --target mysql://u@127.0.0.1/d --protocol text --pipeline --shards 2 \
         --reconnect every-transaction --statement-timeout 2s --scale 10",
        "dbtime run atm --target mariadb --server-set a=b=c --server-env A=1 --server-cpus 0 \
         --server-data /x --client-cpus 0-1 --budget-every 16",
    ] {
        let [first, second] = both(&line.replace("             ", ""));
        // What is run is a program; its text is in the written form.
        assert_eq!(first.spec, second.spec, "{line}");
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{line}");
    }
}

#[test]
fn an_embedded_database_has_no_more_connections_than_cpus_unless_told_so() {
    let connections = |line: &str| both(line)[0].spec.load.clients();
    assert_eq!(connections("dbtime run"), usable_cpus().min(8));
    assert_eq!(connections("dbtime run --connections 9"), 9);
    assert_eq!(connections("dbtime run values1"), 1, "of a closed loop");
    for target in ["mysql://u@127.0.0.1/d", "null:"] {
        let line = format!("dbtime run values1 --rate 500/s --target {target}");
        assert_eq!(connections(&line), 8, "{target}");
    }
}

#[test]
fn passwords_stay_out_of_it() {
    let line = "dbtime run values1 --target mysql://u:topsecret@127.0.0.1/d";
    let [first, second] = both(line);
    let written = serde_json::to_string(&first.spec).expect("it can be written");
    assert!(
        written.contains("mysql://u@127.0.0.1/d") && !written.contains("topsecret"),
        "{written}"
    );
    assert_eq!(first.spec, second.spec);
}

#[test]
fn settings_that_are_secrets_are_refused() {
    let mut spec = both("dbtime run values1")[0].spec.clone();
    for setting in [
        "report_password=hush",
        "primary_conninfo=host=h password=hush",
        "init_connect=ALTER USER u IDENTIFIED BY hush",
        "=hush",
    ] {
        spec.target.server_set = vec![setting.to_owned()];
        let error = request(&spec, &RunSecrets::default(), None).expect_err(setting).words();
        assert!(error.starts_with("--server-set: ") && !error.contains("hush"), "{error}");
    }
}

#[test]
fn another_text_is_refused() {
    let [run, _] = both("dbtime run values1");
    let mut spec = run.spec;
    spec.workload.sha256 = Some("00".repeat(32));
    let error = request(&spec, &RunSecrets::default(), None).expect_err("of another workload");
    assert!(error.words().contains("values1 has changed since the spec was written"), "{error:?}");
    spec.workload.sha256 = None;
    spec.workload.query = Some("SELECT 1".to_owned());
    let error = request(&spec, &RunSecrets::default(), None).expect_err("two workloads");
    assert!(error.words().contains("one of name, query and script"), "{error:?}");
}
