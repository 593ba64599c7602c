//! `dbtime join`: a run and a recording that was made apart from it are what a traced run is.

use super::statement_file::{adds_up, number, rows_of};
use super::*;
use crate::given_server::PRODUCTS;
use crate::relay::relay;
use crate::small_workloads::write_small;
use crate::written_trace::TestRecording;
use dbtime_model::driven_file::{DrivenNames, DrivenReader, DrivenWriter};
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::{MonoNanos, Nanos};
use std::fs::File;
use std::io::BufReader;
use std::net::Ipv4Addr;
use std::path::Path;

/// So much the clock of the other host is ahead, in nanoseconds: it was started long before.
const AHEAD: u64 = 777_777_777_777_777;

/// A run `r` and a recording `it.trace` of it; `None` without eBPF.
fn recorded(sandbox: &Sandbox, server: &GivenServer) -> Option<()> {
    recorded_at(sandbox, server, &server.target_tcp())
}

/// The same, driven at another address.
fn recorded_at(sandbox: &Sandbox, server: &GivenServer, target: &str) -> Option<()> {
    let workload = write_small(sandbox, "tpcb");
    sandbox.run(&format!("init {workload} --target '{}'", server.target())).exits(0);
    let tracer = Tracer::start(sandbox, server, "--record it.trace")?;
    let load = "--connections 4 --rate 200/s --arrivals poisson --warmup 300ms --time 2s";
    let line = format!("run {workload} --target '{target}' {load} --statements --out r");
    let ran = sandbox.run(&line);
    assert!(ran.out.contains("server_and_wire"), "{ran:?}");
    tracer.interrupt();
    assert_eq!(tracer.printed().0, Some(0));
    Some(())
}

fn copied(sandbox: &Sandbox, from: &str, to: &str) {
    std::fs::create_dir(sandbox.path(to)).expect("a folder");
    for entry in std::fs::read_dir(sandbox.path(from)).expect("a folder").flatten() {
        std::fs::copy(entry.path(), sandbox.path(to).join(entry.file_name())).expect("a copy");
    }
}

/// The same recording of a host whose clock is ahead.
fn put_ahead(from: &Path, to: &Path) {
    let at = |at: MonoNanos| MonoNanos(at.0 + AHEAD);
    let mut recording = TestRecording::read(from);
    recording.begin.since = at(recording.begin.since);
    recording.begin.clock_id = Some("another".to_owned());
    for request in &mut recording.requests {
        request.start = at(request.start);
        request.first_sent = request.first_sent.map(at);
        request.end = at(request.end);
    }
    recording.write(to);
}

/// The server sees the relay's address; its own number of each connection says whose it is.
#[test]
fn a_run_through_a_relay_is_joined_with_a_recording_of_another_host() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let at = relay(Ipv4Addr::LOCALHOST, server.server.port(), Duration::from_micros(300));
        let target = server.target_at(server.server.user(), "", at);
        let Some(()) = recorded_at(&sandbox, &server, &target) else { return };
        put_ahead(&sandbox.path("it.trace"), &sandbox.path("there.trace"));
        let there = joined(&sandbox, "join r there.trace --json");
        let join = &there["trace"]["join"];
        let count = |name: &str| join[name].as_u64().expect("a count");
        let all = count("matched") + count("unmatched") + count("ambiguous");
        assert!(count("matched") > 200 && count("matched") * 1_000 >= all * 999, "{join}");
        let recording = &there["trace"]["recording"];
        let figure = |name: &str| recording[name].as_f64().expect("a figure");
        let off = (figure("offset_us") - AHEAD as f64 / 1e3).abs();
        assert!(off <= figure("uncertainty_us"), "{recording}");
        let wire = there["budget_us"]["wire"].as_f64().expect("a part");
        assert!(wire > 2.0 * 300.0, "{wire}");
    }
}

fn joined(sandbox: &Sandbox, line: &str) -> Value {
    let ran = sandbox.run(line);
    ran.exits(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

#[test]
fn a_recording_of_this_host_or_of_another_gives_the_same_parts() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let Some(()) = recorded(&sandbox, &server) else { return };
        copied(&sandbox, "r", "there");
        let here = joined(&sandbox, "join r it.trace --json");
        put_ahead(&sandbox.path("it.trace"), &sandbox.path("there.trace"));
        let there = joined(&sandbox, "join there/run.json there.trace --json");

        let join = &here["trace"]["join"];
        let count = |name: &str| join[name].as_u64().expect("a count");
        let all = count("matched") + count("unmatched") + count("ambiguous");
        assert!(count("matched") > 200 && count("matched") * 1_000 >= all * 999, "{join}");
        counts_agree(&sandbox, &here, &there);
        assert_eq!(here["budget"]["method"], "traced");
        for of in ["budget_us", "lock_holders", "file_waits", "cpu_holders", "layers"] {
            assert_eq!(here[of], there[of], "{of}");
        }
        let layers = here["layers"].as_array().expect("a list");
        let is_known = |layer: &Value| layer["operations"].as_u64() > Some(0);
        assert!(layers.len() == 9 && layers[..3].iter().all(is_known), "{layers:#?}");
        assert!(here["budget_us"]["cpu"].as_f64() > Some(10.0), "{}", here["budget_us"]);
        assert_eq!(here["budget_us"]["server_and_wire"], Value::Null);
        let parts = here["budget_us"].as_object().expect("parts by name");
        let sum: f64 = parts
            .iter()
            .filter(|(name, _)| *name != "total")
            .filter_map(|(_, us)| us.as_f64())
            .sum();
        let total = parts["total"].as_f64().expect("a total");
        assert!((sum - total).abs() < 0.01, "{sum}: {parts:?}");
        for statement in here["statements"].as_array().expect("a list") {
            assert!(statement["budget_us"]["cpu"].as_f64() > Some(0.0), "{statement}");
        }
        clocks_are_mapped(&here, &there);
        ways_are_known_where_they_are_longer_than_that(&sandbox, &there);
        let report = sandbox.run("report there --text --details");
        let words: Vec<&str> = report.out.split_whitespace().collect();
        assert!(
            words.join(" ").contains("of another host, whose clock is known to ±"),
            "{report:?}"
        );
        sandbox.run("explain there").exits(0);
        let html = std::fs::read_to_string(sandbox.path("there/report.html")).expect("a page");
        assert!(html.contains("on a CPU in the database"));
    }
}

/// All counts are the same but that of the requests of others: one at an end of the run is of its
/// time or not, as far as the clocks are known.
fn counts_agree(sandbox: &Sandbox, here: &Value, there: &Value) {
    let join = |record: &Value| record["trace"]["join"].as_object().expect("counts").clone();
    let (mut exact, mut mapped) = (join(here), join(there));
    let foreign = |counts: &mut serde_json::Map<String, Value>| {
        counts.remove("foreign").and_then(|count| count.as_u64()).expect("a count")
    };
    let apart = foreign(&mut exact).abs_diff(foreign(&mut mapped));
    assert_eq!(exact, mapped);
    let known_us = there["trace"]["recording"]["uncertainty_us"].as_f64().expect("a figure");
    let file = File::open(sandbox.path("r/driven.blocks")).expect("a file");
    let (_, driven) = DrivenReader::begin(BufReader::new(file)).expect("the driver's side");
    let (first, last) = (driven.end().first_sent_ns, driven.end().last_read_ns);
    let is_near = |at: MonoNanos, end: u64| at.0.abs_diff(end) as f64 <= known_us * 1e3;
    let recorded = TestRecording::read(&sandbox.path("it.trace")).requests;
    let at_ends = recorded.iter().filter(|it| is_near(it.end, first) || is_near(it.start, last));
    let at_ends = at_ends.count() as u64;
    assert!(apart <= at_ends, "{apart} more or fewer, and {at_ends} at the ends");
}

/// The truth is within what is known of it.
fn clocks_are_mapped(here: &Value, there: &Value) {
    let number = |record: &Value, name: &str| {
        record["trace"]["recording"][name].as_f64().unwrap_or_else(|| panic!("{name}: {record}"))
    };
    assert_eq!(here["trace"]["recording"]["is_same_clock"], true);
    assert_eq!((number(here, "offset_us"), number(here, "uncertainty_us")), (0.0, 0.0));
    assert_eq!(there["trace"]["recording"]["is_same_clock"], false);
    let off = (number(there, "offset_us") - AHEAD as f64 / 1e3).abs();
    let uncertainty = number(there, "uncertainty_us");
    assert!(off <= uncertainty && uncertainty < 10_000.0, "{off} {uncertainty}");
}

fn ways_are_known_where_they_are_longer_than_that(sandbox: &Sandbox, there: &Value) {
    let rows = rows_of(&sandbox.path("r/statements.parquet"));
    let mapped = rows_of(&sandbox.path("there/statements.parquet"));
    assert_eq!(rows.len(), mapped.len());
    let known_to = there["trace"]["recording"]["uncertainty_us"].as_f64().expect("a figure") * 1e3;
    let out = |row: &parquet::record::Row| number(row, "wire_out_ns");
    let ways = rows.iter().map(out).zip(mapped.iter().map(out));
    let mut unknown = 0;
    for (exact, mapped) in ways.filter_map(|(exact, mapped)| Some((exact?, mapped))) {
        let is_near = |mapped: i64| (exact - mapped).abs() as f64 <= known_to + 1.0;
        assert!(mapped.is_none_or(is_near), "{exact} {mapped:?} {known_to}");
        unknown += u32::from(mapped.is_none());
    }
    assert!(unknown > 0, "all ways are longer than {known_to} ns");
    let parts = |row: &parquet::record::Row| {
        ["sent_ns", "wire_ns", "server_queue_ns", "cpu_ns", "lock_ns"].map(|name| number(row, name))
    };
    for (row, mapped) in rows.iter().zip(&mapped).filter(|(row, _)| parts(row)[1].is_some()) {
        adds_up(row);
        adds_up(mapped);
        assert_eq!(parts(row), parts(mapped));
    }
    let text = there["trace"]["notes"].to_string();
    assert!(text.contains("another clock"), "{text}");
}

/// Of a run `first` and its recording, by that server, and of others.
fn what_cannot_be_joined_says_why(sandbox: &Sandbox, server: &GivenServer) {
    copied(sandbox, "first", "other");
    sandbox.run("join first it.trace").exits(0);
    sandbox.run("join first it.trace").refused(2, &["is joined already", "--force"]);
    sandbox.run("join first it.trace --force").exits(0);
    sandbox.run("join first nowhere.trace --force").refused(3, &["nowhere.trace", "No such file"]);
    sandbox.run("join nowhere it.trace").refused(3, &["nowhere"]);
    let target = server.target_tcp();
    let bare = format!("run values1 --target '{target}' --transactions 20 --out bare");
    sandbox.run(&bare).exits(0);
    sandbox
        .run("join bare it.trace")
        .refused(2, &["driven.blocks", "run it again with --statements"]);

    let later = format!("run --query 'DO 1' --target '{target}' --transactions 20 --statements");
    sandbox.run(&format!("{later} --out later")).exits(0);
    // A port may have come again, and the clock knows better.
    let ran = sandbox.run("join later it.trace");
    ran.exits(3);
    assert!(
        ["is among the", "of the run: record from before"].iter().any(|one| ran.err.contains(one)),
        "{}",
        ran.err
    );

    // Another run's statements on the same connections.
    put_ahead(&sandbox.path("it.trace"), &sandbox.path("there.trace"));
    let there = || TestRecording::read(&sandbox.path("there.trace"));
    let none = TestRecording { requests: Vec::new(), ..there() };
    none.write(&sandbox.path("none.trace"));
    sandbox.run("join other none.trace").refused(3, &["holds no statement"]);
    let mut scattered = there();
    scattered.requests = scattered.requests.into_iter().step_by(7).collect();
    scattered.write(&sandbox.path("scattered.trace"));
    sandbox.run("join other scattered.trace").refused(3, &["do not fit", "--summary"]);
    assert!(!sandbox.path("other/statements.parquet").exists());
}

/// The run with what is left of the driver's side.
fn rewritten(sandbox: &Sandbox, change: impl Fn(&mut ExchangeBatch, &mut DrivenNames)) {
    copied(sandbox, "r", "changed");
    let path = sandbox.path("changed/driven.blocks");
    let file = BufReader::new(File::open(&path).expect("a file"));
    let (begin, mut reader) = DrivenReader::begin(file).expect("a beginning");
    let mut names = reader.end().names.clone();
    // What was opened is read from the file that is no longer there.
    std::fs::remove_file(&path).expect("a file");
    let mut writer =
        DrivenWriter::begin(File::create(&path).expect("a file"), &begin).expect("written");
    while let Some(mut batch) = reader.next().expect("a block") {
        change(&mut batch, &mut names);
        writer.batch(&batch).expect("written");
    }
    writer.end(names).expect("written");
}

/// The recording without the first second of the run.
fn put_late(sandbox: &Sandbox, to: &Path) {
    let file = BufReader::new(File::open(sandbox.path("r/driven.blocks")).expect("a file"));
    let (_, driven) = DrivenReader::begin(file).expect("the driver's side");
    let since = MonoNanos(driven.end().first_sent_ns) + Nanos(1_000_000_000);
    let mut recording = TestRecording::read(&sandbox.path("it.trace"));
    let end = recording.end.as_mut().expect("it is whole");
    end.length = Nanos(end.length.0 - (since - recording.begin.since).0);
    recording.begin.since = since;
    recording.requests.retain(|request| request.start >= since);
    recording.write(to);
}

#[test]
fn what_a_side_lacks_or_does_not_fit_is_refused_or_named() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(()) = recorded(&sandbox, &server) else { return };
    copied(&sandbox, "r", "first");
    what_a_side_lacks_is_refused_or_named(&sandbox);
    what_cannot_be_joined_says_why(&sandbox, &server);
}

/// Of the run `r` and its recording.
fn what_a_side_lacks_is_refused_or_named(sandbox: &Sandbox) {
    let before = std::fs::read_dir(sandbox.path("r")).expect("a folder").count();
    let refused = |words: &[&str]| {
        sandbox.run("join changed it.trace").refused(3, words);
        let files = std::fs::read_dir(sandbox.path("changed")).expect("a folder");
        assert_eq!(files.count(), before, "nothing is left behind");
        std::fs::remove_dir_all(sandbox.path("changed")).expect("a folder");
    };
    let driven = std::fs::read(sandbox.path("r/driven.blocks")).expect("a file");
    let with_bytes = |bytes: &[u8]| {
        copied(sandbox, "r", "changed");
        std::fs::write(sandbox.path("changed/driven.blocks"), bytes).expect("written");
    };
    with_bytes(&driven[..driven.len() - 9]);
    refused(&["driven.blocks: it has no end", "restore it from a copy"]);
    with_bytes(b"{\"begin\":{\"version\":1}}\n");
    refused(&["driven.blocks", "format 2"]);
    let mut bytes = driven.clone();
    bytes[driven.len() / 2] ^= 1;
    with_bytes(&bytes);
    refused(&["driven.blocks: block ", "its contents have changed", "restore it from a copy"]);
    rewritten(sandbox, |_, names| names.operations.clear());
    refused(&["does not name operation 0", "restore it from a copy"]);

    // Half of the transactions, and all of the statements.
    rewritten(sandbox, |batch, _| {
        let mut number = 0;
        batch.transactions.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    });
    let ran = sandbox.run("join changed it.trace");
    ran.exits(0);
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("transactions of the window: the others are in no part"), "{ran:?}");

    sandbox.run("join it.trace r").refused(3, &["it.trace holds no run: it is a file"]);
    sandbox.run("join r r").refused(3, &["r: it is no recording of `dbtime trace --record`"]);
    let mut short = TestRecording::read(&sandbox.path("it.trace"));
    let first = short.requests.iter().position(|one| one.text.contains("pgbench_history"));
    short.requests.truncate(first.expect("a transaction") + 20);
    short.end = None;
    short.write(&sandbox.path("short.trace"));
    let ran = sandbox.run("join r short.trace");
    ran.refused(3, &["no whole transaction of the run's window", "it ended"]);
    put_late(sandbox, &sandbox.path("late.trace"));
    let joined = joined(sandbox, "join r late.trace --json");
    let warnings = joined["validity"]["warnings"].as_array().expect("a list");
    let unmatched = warnings.iter().find(|warning| warning["kind"] == "unmatched");
    let text = unmatched.expect("some have no request")["text"].to_string();
    assert!(text.contains("of the recording, it began 1.0") && !text.contains("ended"), "{text}");
}

#[test]
fn a_recording_that_is_cut_or_goes_on_is_judged_as_where_it_is_shown() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(()) = recorded(&sandbox, &server) else { return };
    let whole = std::fs::read(sandbox.path("it.trace")).expect("a file");
    // Such as a second recording, which somebody has appended.
    std::fs::write(sandbox.path("more.trace"), [&whole[..], &whole].concat()).expect("written");
    std::fs::write(sandbox.path("cut.trace"), &whole[..whole.len() - 1]).expect("written");
    let behind = format!("more.trace: {} bytes after the end", whole.len());
    for (name, code, told) in
        [("more.trace", 0, &behind[..]), ("cut.trace", 4, "cut.trace ends in the middle")]
    {
        let shown = sandbox.run(&format!("trace {name} --summary"));
        let joined = sandbox.run(&format!("join r {name} --force"));
        for ran in [shown, joined] {
            ran.exits(code);
            ran.stderr_has(&[told]);
        }
    }
    what_is_whole_of_a_cut_one_is_joined(&sandbox, &whole);
}

/// Of the run `r` and its recording.
fn what_is_whole_of_a_cut_one_is_joined(sandbox: &Sandbox, whole: &[u8]) {
    let mut half = TestRecording::read(&sandbox.path("it.trace"));
    half.requests.truncate(half.requests.len() / 2);
    half.end = None;
    half.write(&sandbox.path("half.trace"));
    let bytes = std::fs::read(sandbox.path("half.trace")).expect("a file");
    std::fs::write(sandbox.path("half.trace"), &bytes[..bytes.len() - 1]).expect("written");
    let ran = sandbox.run("join r half.trace --force --json");
    ran.exits(4);
    let record: Value = serde_json::from_str(&ran.out).expect("a record");
    assert!(record["trace"]["join"]["matched"].as_u64() > Some(0), "{record}");
    let note = record["trace"]["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("the recording was cut short (it ended "), "{note}");
    let lacks = "half.trace lacks part of the run: it ended ";
    ran.stderr_has(&["half.trace ends in the middle", lacks, " before the last answer"]);

    // Of these no request is whole, on the same clock or on another.
    let heading = whole.iter().position(|byte| *byte == b'\n').expect("a heading") + 1;
    std::fs::write(sandbox.path("none.trace"), &whole[..heading + 3]).expect("written");
    let mut elsewhere = TestRecording::read(&sandbox.path("it.trace"));
    elsewhere.begin.clock_id = Some("another".to_owned());
    (elsewhere.requests, elsewhere.end) = (Vec::new(), None);
    elsewhere.write(&sandbox.path("elsewhere.trace"));
    for (name, how) in [("none", "in the middle"), ("elsewhere", "without its ledger")] {
        let end = format!("{name}.trace ends {how}: the rest is unknown; up to there, ");
        let ran = sandbox.run(&format!("join r {name}.trace --force"));
        ran.refused(3, &[&end, "holds no statement: record the server"]);
    }
}

/// It is read several times, and nobody may ever write into it.
#[test]
fn a_pipe_in_the_place_of_a_recording_is_refused() {
    let sandbox = Sandbox::new();
    let load = "--connections 1 --transactions 20 --warmup 0s";
    sandbox.run(&format!("run values1 --target mariadb {load} --statements --out r")).exits(0);
    let pipe = sandbox.path("it.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("coreutils");
    assert!(made.success());
    let ran = sandbox.run("join r it.pipe");
    ran.refused(3, &["it.pipe: it is no regular file: copy what it holds into one"]);
}

#[test]
fn the_drivers_side_is_recorded_of_servers_and_without_a_tracer() {
    let sandbox = Sandbox::new();
    let refused = sandbox.run("run values1 --target sqlite --transactions 1 --statements");
    refused.refused(2, &["--statements is for servers"]);
    sandbox.run("run values1 --target mariadb --statements --trace").exits(2);
    sandbox.run("run values1 --target mariadb --statements --no-record").exits(2);
    sandbox.write(
        "both.json",
        r#"{"schema":1,"workload":{"name":"values1"},"target":{"url":"mariadb"},"window":{"trace":true,"statements":true}}"#,
    );
    sandbox.run("run --spec both.json").refused(2, &["has both sides already"]);
}
