//! A server behind a socket that holds nothing: hundreds of connections, and answers that are late,
//! wrong or missing. Whatever it does, every transaction is counted once.

use crate::sandbox::{Sandbox, count, counts_add_up, number};
use dbtime_model::{Nanos, WireProtocol};
use dbtime_null_server::{
    FaultSchedule, ListenAddress, NullServer, NullServerOptions, ServerStall,
};
use serde_json::{Value, json};

fn server(
    listen: (WireProtocol, ListenAddress),
    threads: usize,
    faults: FaultSchedule,
) -> NullServer {
    let options = NullServerOptions { listen: vec![listen], threads, faults };
    NullServer::start(&options).expect("a port is free")
}

/// One that speaks this protocol over TCP.
pub(crate) fn serve(wire: WireProtocol, faults: FaultSchedule) -> NullServer {
    server((wire, ListenAddress::Port(0)), 1, faults)
}

const WIRES: [WireProtocol; 2] = [WireProtocol::Mysql, WireProtocol::Postgres];

/// A run of values1 on the server, which ends well and whose counts add up.
fn run(server: &NullServer, line: &str) -> Value {
    let target = WIRES.iter().find_map(|wire| server.target(*wire)).expect("it speaks one");
    let line = format!("run values1 --target '{target}' --no-record --json --warmup 0s {line}");
    let json = Sandbox::new().run(&line).fine().json();
    counts_add_up(&json);
    json
}

/// The same, of which most fails.
fn run_unserved(server: &NullServer, line: &str) -> Value {
    let target = WIRES.iter().find_map(|wire| server.target(*wire)).expect("it speaks one");
    let line = format!("run values1 --target '{target}' --no-record --json --warmup 0s {line}");
    let json = Sandbox::new().run(&line).unserved().json();
    counts_add_up(&json);
    json
}

#[test]
fn five_hundred_connections_are_all_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mysql, postgres) = (WireProtocol::Mysql, WireProtocol::Postgres);
    let socket = |name: &str| ListenAddress::Socket(folder.path().join(name));
    for (listen, threads, flags) in [
        ((mysql, ListenAddress::Port(0)), 1, "--protocol prepared"),
        ((mysql, ListenAddress::Port(0)), 1, "--protocol text --shards 2"),
        ((mysql, socket("s")), 2, "--protocol prepared --shards 2"),
        ((postgres, ListenAddress::Port(0)), 1, "--protocol text"),
        ((postgres, socket(".s.PGSQL.9")), 2, "--protocol prepared --rate 5000/s"),
    ] {
        let version = if listen.0 == mysql { "MySQL 8.0.0-null" } else { "PostgreSQL 15.0" };
        let server = server(listen, threads, FaultSchedule::default());
        let json = run(&server, &format!("--connections 500 --transactions 3000 {flags}"));
        assert_eq!(count(&json, "/counts/completed"), 3000, "{flags}");
        assert_eq!(server.statements(), 3000, "{flags}");
        let all = &json["connections"];
        assert_eq!(json!([all["made"], all["failed"], all["lost"]]), json!([500, 0, 0]), "{flags}");
        assert!(number(all, "/opening_s") > 0.0, "{all}");
        assert_eq!(json["target"]["version"], version);
    }
}

#[test]
fn failures_are_counted_by_their_code() {
    for (wire, code) in [(WireProtocol::Mysql, "1205"), (WireProtocol::Postgres, "55P03")] {
        let faults = FaultSchedule {
            fail_every: Some(7),
            mysql_error: 1205,
            postgres_error: "55P03".to_owned(),
            ..FaultSchedule::default()
        };
        let server = serve(wire, faults);
        let json = run_unserved(&server, "--connections 20 --transactions 700");
        assert_eq!(json["errors"], json!({code: 100}));
        assert_eq!((count(&json, "/counts/failed"), count(&json, "/counts/completed")), (100, 600));
        let said = json["error_messages"][code].as_str().expect("what the server said");
        assert!(said.contains("told to fail"), "{said}");
        assert_eq!(count(&json, "/connections/lost"), 0);
    }
}

#[test]
fn where_nothing_is_completed_nothing_is_per_transaction() {
    let faults = FaultSchedule { fail_every: Some(1), ..FaultSchedule::default() };
    let server = serve(WireProtocol::Mysql, FaultSchedule { mysql_error: 1205, ..faults });
    let json = run_unserved(&server, "--connections 2 --transactions 20");
    assert_eq!(count(&json, "/counts/completed"), 0, "{}", json["counts"]);
    assert!(number(&json, "/client/threads_cpu_s") > 0.0, "{}", json["client"]);
    assert_eq!(json["round_trips_per_tx"], Value::Null);
    assert_eq!(json["client"]["cpu_us_per_tx"], Value::Null);
    // The server is the process of this test.
    assert!(number(&json, "/server/cpu_s") > 0.0, "{}", json["server"]);
    assert_eq!(json["server"]["cpu_us_per_tx"], Value::Null);
    let threads = json["server"]["by_thread"].as_array().expect("threads");
    assert!(threads.iter().all(|thread| thread["cpu_us_per_tx"].is_null()), "{threads:?}");
}

#[test]
fn broken_connections_are_made_again() {
    for wire in WIRES {
        let server =
            serve(wire, FaultSchedule { close_every: Some(50), ..FaultSchedule::default() });
        let json = run(&server, "--connections 10 --transactions 500");
        assert_eq!((count(&json, "/counts/failed"), count(&json, "/connections/lost")), (10, 10));
        let codes = json["errors"].as_object().expect("codes");
        assert_eq!(codes.values().filter_map(Value::as_u64).sum::<u64>(), 10, "{codes:?}");
        // One that breaks at the end is not needed any more.
        assert!((10..=20).contains(&count(&json, "/connections/made")), "{}", json["connections"]);
    }
}

#[test]
fn a_stall_shows_in_the_response_of_all_that_was_due_in_it() {
    let stall = ServerStall { at: 300, length: Nanos::from_millis(400) };
    let mut seen = Vec::new();
    let mut tried = || {
        let faults = FaultSchedule { stall: Some(stall), ..FaultSchedule::default() };
        let server = serve(WireProtocol::Mysql, faults);
        let json = run(&server, "--connections 2 --rate 1000/s --transactions 1000");
        assert_eq!(count(&json, "/counts/completed"), 1000);
        let of = |name: &str| number(&json, &format!("/latency_us/{name}"));
        // Four hundred were due while two were under way.
        let shows = of("response/p90") > 100e3
            && of("queue/p90") > 100e3
            && of("service/max") > 390e3
            && of("service/p90") < of("response/p90") / 2.0;
        seen.push(json["latency_us"].clone());
        shows
    };
    // What is due while the driver has no CPU does not wait for the server.
    assert!((0..5).any(|_| tried()), "no stall shows, in five tries: {seen:#?}");
}

/// One of two threads stands still from amid the window on: the clients of the other go on, and so
/// much of the time of all is in no response that no percentile is known.
#[test]
fn clients_without_an_answer_to_the_end_leave_limits_open() {
    let stall = ServerStall { at: 100, length: Nanos::from_secs(10) };
    let delay = Some(Nanos::from_millis(10));
    let faults = FaultSchedule { stall: Some(stall), delay, ..FaultSchedule::default() };
    let server = server((WireProtocol::Postgres, ListenAddress::Port(0)), 2, faults);
    let target = server.target(WireProtocol::Postgres).expect("it speaks it");
    let line = format!(
        "run values1 --target '{target}' --no-record --json --connections 4 --time 2s --warmup 0s \
         --limit 'p90<=1h'"
    );
    let json = Sandbox::new().run(&line).with(4, &[]).json();
    counts_add_up(&json);
    assert_eq!((count(&json, "/counts/unfinished"), count(&json, "/counts/held")), (2, 0));
    assert_eq!(json["operations"][0]["limits"][0]["doubt"], "unfinished");
    assert_eq!(json["validity"]["reasons"][0]["kind"], "unfinished", "{}", json["validity"]);
}

/// The server refused nothing: there is no advice to let it admit more.
#[test]
fn a_script_that_needs_no_connection_lacks_none() {
    let sandbox = Sandbox::new();
    sandbox.write("idle.lua", "function event() os.execute('sleep 0.02') end");
    for wire in WIRES {
        let server = serve(wire, FaultSchedule::default());
        let target = server.target(wire).expect("it speaks it");
        let ran = sandbox.run(&format!(
            "run --script idle.lua --target '{target}' --no-record --json --connections 2 \
             --transactions 4 --warmup 0s"
        ));
        ran.exits(0);
        let json = ran.json();
        counts_add_up(&json);
        assert_eq!(count(&json, "/connections/never_made"), 0, "{}", json["connections"]);
        let validity = json["validity"].to_string();
        assert!(!validity.contains("mostly_failed"), "{validity}");
        assert!(!validity.contains("few_connections"), "{validity}");
    }
}

#[test]
fn late_answers_hold_up_nobody_else() {
    for wire in WIRES {
        let delay = Some(Nanos::from_millis(5));
        let server = serve(wire, FaultSchedule { delay, ..FaultSchedule::default() });
        let json = run(&server, "--connections 100 --transactions 300");
        assert_eq!(count(&json, "/counts/completed"), 300);
        assert!(number(&json, "/latency_us/service/min") >= 5e3, "{}", json["latency_us"]);
        // One after the other the hundredth would wait for half a second.
        assert!(number(&json, "/latency_us/service/p50") < 250e3, "{}", json["latency_us"]);
    }
}

#[test]
fn connections_are_made_for_every_transaction() {
    for wire in WIRES {
        let server = serve(wire, FaultSchedule::default());
        let json = run(&server, "--connections 5 --transactions 50 --reconnect every-transaction");
        let made = count(&json, "/connections/made");
        assert_eq!((count(&json, "/counts/completed"), made), (50, 50));
        assert_eq!(count(&json, "/connections/lost"), 0);
        assert!(number(&json, "/latency_us/connect/max") > 0.0);
    }
}

/// Requests of many connections and of one are late by the delay, on average.
#[test]
fn requests_are_held_back_as_a_network_would() {
    for wire in WIRES {
        let server = serve(wire, FaultSchedule::default());
        for flags in ["--connections 1", "--connections 16", "--connections 8 --rate 400/s"] {
            let flags = format!("{flags} --transactions 200");
            // Beside something loud either of them may be slow for a while.
            let mut tried = (0..8).map(|_| {
                let fast = run(&server, &format!("{flags} --network-delay 0s"));
                let slow = run(&server, &format!("{flags} --network-delay 10ms"));
                assert_eq!(fast["load"]["network_delay_us"], Value::Null);
                assert_eq!(number(&slow, "/load/network_delay_us"), 10e3);
                let least = number(&slow, "/latency_us/response/min");
                let median = |json: &Value| number(json, "/latency_us/response/p50");
                let part = number(&slow, "/budget_us/server_and_wire");
                [least, median(&slow) - median(&fast), part]
            });
            let mut seen = Vec::new();
            // Late wake-ups teach to wake early: by half of the delay at most.
            let found = tried.any(|[least, added, part]| {
                seen.push([least, added, part]);
                least >= 5e3 && (9e3..15e3).contains(&added) && part >= 9.5e3
            });
            assert!(found, "{flags}: no delay, or none in its part, in eight tries: {seen:?}");
        }
        // A connection that is made anew while others wait loses nothing.
        let anew = "--connections 8 --transactions 100 --network-delay 1ms \
                    --reconnect every-transaction";
        assert_eq!(count(&run(&server, anew), "/counts/completed"), 100);
    }
}

#[test]
fn statements_that_take_too_long_fail() {
    // The server is asked to end such a statement itself, and has a second for it.
    let delay = Some(Nanos::from_secs(5));
    let server = serve(WireProtocol::Mysql, FaultSchedule { delay, ..FaultSchedule::default() });
    let json = run_unserved(&server, "--connections 4 --transactions 4 --statement-timeout 50ms");
    assert_eq!(json["errors"], json!({"timeout": 4}));
    assert_eq!((count(&json, "/counts/failed"), count(&json, "/connections/lost")), (4, 4));
    assert!(number(&json, "/latency_us/response/min") >= 50e3, "{}", json["latency_us"]);
}
