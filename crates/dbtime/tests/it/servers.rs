//! Real servers: started for the run, or there before it.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up, number};
use crate::small_workloads::write_small;
use dbtime_model::Product;
use std::fs;

#[test]
fn a_private_server_is_started_loaded_driven_and_gone() {
    for product in PRODUCTS {
        for protocol in ["prepared", "text"] {
            let sandbox = Sandbox::new();
            let workload = write_small(&sandbox, "point-select");
            let word = product.name();
            let json = sandbox
                .run(&format!(
                    "run {workload} --target {word} --protocol {protocol} --connections 4 \
                     --transactions 2000 --out r --json"
                ))
                .fine()
                .json();
            assert_eq!(json["counts"]["completed"], 2000, "{}", json["counts"]);
            counts_add_up(&json);
            assert_eq!(json["counts"]["failed"], 0, "{}", json["errors"]);
            assert_eq!(json["target"]["protocol"], protocol);
            assert!(json["target"]["settings"].as_object().expect("settings").len() > 5);
            let trips = number(&json, "/round_trips_per_tx");
            assert!((1.0..1.2).contains(&trips), "{trips}");
            assert!(number(&json, "/server/cpu_us_per_tx") > 1.0);
            assert!(count(&json, "/server/rss_bytes") > 1 << 20);
            assert!(count(&json, "/server/rss_idle_bytes") > 1 << 20, "{}", json["server"]);
            if product != Product::Postgres {
                let most = count(&json, "/server/rss_peak_bytes");
                assert!(most >= count(&json, "/server/rss_bytes"), "{}", json["server"]);
            }
            assert_eq!(count(&json, "/connections/lost"), 0);
            assert_eq!(count(&json, "/connections/failed"), 0);
            let log = fs::read_to_string(sandbox.path("r/server.log")).expect("its log");
            assert!(!log.is_empty());
            assert_eq!(sandbox.left(), ["point-select.toml", "r"], "nothing else is left");
        }
    }
}

#[test]
fn every_shipped_workload_runs_on_every_server() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let (sandbox, target) = (Sandbox::new(), given.target());
        for workload in [
            "atm",
            "oltp-read-only",
            "oltp-read-write",
            "point-select",
            "report-scan",
            "tpcb",
            "values1",
        ] {
            write_small(&sandbox, workload);
            // Tables of one name belong to one workload.
            if ["oltp-read-write", "point-select"].contains(&workload) {
                given.sql("DROP TABLE sbtest1");
            }
            if workload != "values1" {
                sandbox.run(&format!("init {workload}.toml --target '{target}'")).fine();
            }
            for protocol in ["prepared", "text"] {
                let line = format!(
                    "run {workload}.toml --target '{target}' --protocol {protocol} --connections 3 \
                     --transactions 60 --no-record --json"
                );
                let json = sandbox.run(&line).fine().json();
                counts_add_up(&json);
                let completed = &json["counts"]["completed"];
                assert_eq!(completed, 60, "{product:?} {workload}: {}", json["error_messages"]);
            }
        }
    }
}

#[test]
fn who_cannot_log_in_is_told_why() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let refused = |target: &str| {
            let line = format!("run values1 --target '{target}' --transactions 1 --no-record");
            let ran = sandbox.run(&line).refused(3, &[]);
            assert!(!ran.err.contains("secret"), "{}", ran.err);
            ran.err
        };
        if product != Product::Postgres {
            let error = refused(&given.target_as("nobody-here", ":secret", "d"));
            assert!(error.contains("1045") && error.contains("check user and password"), "{error}");
        }
        let error = refused(&given.target_as(given.server.user(), "", "no_such_database"));
        assert!(error.contains("no_such_database"), "{error}");
        let error = refused("mysql://x@127.0.0.1:1/d");
        assert!(error.contains("ECONNREFUSED") && error.contains("nothing listens"), "{error}");
        let error = refused("mysql://x@/d?socket=/nowhere/s.sock");
        assert!(error.contains("is the server running?"), "{error}");
    }
}

#[test]
fn data_is_looked_for_before_it_is_used() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let (sandbox, target) = (Sandbox::new(), given.target());
        // These have few rows and the names of the shipped ones, and so do their loads.
        for workload in ["tpcb", "point-select", "oltp-read-only"] {
            write_small(&sandbox, workload);
        }
        let run = |more: &str| {
            sandbox
                .run(&format!("run tpcb --target '{target}' --transactions 5 --no-record {more}"))
        };
        run("").refused(3, &["dbtime init tpcb --target"]);
        if matches!(product, Product::Postgres) {
            // Nobody gives the parameter a value, which no connection dies of.
            let query = format!("run --query 'SELECT $1' --target '{target}' --no-record");
            sandbox.run(&query).refused(3, &["`query` (SELECT $1) is refused", "sees in it: 1"]);
            let explain = format!("{query} --transactions 1").replace("SELECT", "EXPLAIN SELECT");
            let json = sandbox.run(&format!("{explain} --json")).with(3, &[]).json();
            assert_eq!(json["errors"], serde_json::json!({"08P01": 1}));
            assert_eq!(count(&json, "/connections/lost"), 0, "{}", json["connections"]);
        }
        sandbox.run(&format!("init tpcb.toml --target '{target}'")).fine();
        run("").fine();
        run("--scale 2").refused(3, &["loaded at scale 1, not 2"]);
        given.sql("DROP TABLE pgbench_history");
        run("").refused(3, &["without pgbench_history"]);
        given.sql("CREATE TABLE sbtest1 (id INT)");
        let ran = sandbox.run(&format!("init point-select --target '{target}'"));
        ran.refused(3, &["nothing was changed", "sysbench prepare", "--replace"]);
        let other = format!("init tpcb.toml --scale 2 --target '{target}'");
        let told = ["holds workload tpcb at scale 1", "add --replace to load it at scale 2"];
        sandbox.run(&other).refused(3, &told);
        let again = sandbox.run(&format!("{other} --replace")).fine();
        again.prints(&["4,022 rows loaded into", "in the place of its data at scale 1"]);
        // What others have loaded into tables of the same names does not count any more.
        let replace = |workload: &str| {
            let line = format!("init {workload}.toml --target '{target}' --replace");
            sandbox.run(&line).fine().prints(&["in the place of tables that were not made for it"])
        };
        replace("point-select");
        replace("oltp-read-only");
        let run = format!("run point-select --target '{target}' --transactions 1 --no-record");
        sandbox.run(&run).refused(3, &["holds no data of workload point-select", "tpcb"]);
        let far = format!("init tpcb --scale 10000000 --replace --target '{target}'");
        sandbox.run(&far).refused(3, &["needs about 120 TB", "smaller --scale"]);
    }
}

#[test]
fn too_many_connections_are_counted_and_explained() {
    for product in PRODUCTS {
        let setting = ("max_connections", "10");
        let given = GivenServer::start(product, &[setting]);
        let (sandbox, target) = (Sandbox::new(), given.target());
        let ran = sandbox.run(&format!(
            "run values1 --target '{target}' --connections 20 --transactions 3000 --no-record \
             --json"
        ));
        ran.exits(0);
        let ran = ran.stderr_has(&["max_connections: 10, ", "20 planned"]);
        let json = ran.json();
        counts_add_up(&json);
        let code = if product == Product::Postgres { "53300" } else { "1040" };
        assert!(count(&json, &format!("/errors/{code}")) >= 1);
        let said = json["error_messages"][code].as_str().expect("explained");
        assert!(said.contains("max_connections"), "{said}");
        assert!(count(&json, "/counts/completed") > 100);
    }
}

#[test]
fn connections_can_be_made_anew_for_every_transaction() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let (sandbox, target) = (Sandbox::new(), given.target_tcp());
        let json = sandbox
            .run(&format!(
                "run values1 --target '{target}' --connections 2 --transactions 100 --no-record \
                 --json --reconnect every-transaction"
            ))
            .fine()
            .json();
        counts_add_up(&json);
        assert_eq!(json["counts"]["completed"], 100, "{}", json["error_messages"]);
        assert!((100..=102).contains(&count(&json, "/connections/made")));
        // The means are not comparable: the first connections are in no transaction.
        let connect = number(&json, "/latency_us/connect/p50");
        let response = number(&json, "/latency_us/response/p50");
        assert!(0.0 < connect && connect < response, "{connect} of {response}");
    }
}

#[test]
fn statements_that_take_too_long_are_ended() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let (sandbox, target) = (Sandbox::new(), given.target());
        let sleep = if product == Product::Postgres { "pg_sleep(5)" } else { "SLEEP(5)" };
        let json = sandbox
            .run(&format!(
                "run --query 'SELECT {sleep}' --target '{target}' --connections 1 \
                 --transactions 2 --statement-timeout 300ms --no-record --json"
            ))
            .unserved()
            .json();
        counts_add_up(&json);
        let max = number(&json, "/latency_us/service/max");
        assert!((250e3..4.9e6).contains(&max), "{max}");
    }
}

#[test]
fn a_wrong_statement_is_known_before_the_run() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let (sandbox, target) = (Sandbox::new(), given.target());
        let ran = sandbox.run(&format!(
            "run --query 'SELEC 1' --target '{target}' --transactions 1 --no-record"
        ));
        ran.refused(3, &["SELEC 1", "syntax"]);
        // PostgreSQL prepares none about logins.
        if product != Product::Postgres {
            let ran = sandbox.run(&format!(
                "run --query 'ALTER USER u IDENTIFED BY l4nt3d' --target '{target}' \
                 --transactions 1 --no-record"
            ));
            let ran = ran.refused(3, &["statement `query` is refused", "near ***"]);
            assert!(!ran.err.contains("l4nt3d"), "{ran:?}");
        }
    }
}

#[test]
fn flags_of_private_servers_are_for_private_servers() {
    let sandbox = Sandbox::new();
    let refused = |line: &str, text: &str| drop(sandbox.run(line).refused(2, &[text]));
    refused(
        "run values1 --server-cpus 0 --transactions 1 --no-record",
        "--server-cpus is for a private server",
    );
    refused("init values1 --target mariadb", "a private server is loaded by run");
    refused("run values1 --target mariadb: --transactions 1", "mariadb:/PREFIX");
    refused("run values1 --target mariadb --server-cpus 4711 --transactions 1", "4711");
}

#[test]
fn no_password_leaves_the_command_line() {
    let given = GivenServer::start(Product::Mariadb, &[]);
    given.sql("CREATE USER 'u'@'%' IDENTIFIED BY 'top-secret'");
    let sandbox = Sandbox::new();
    let target = given.target_as("u", ":top-secret", "");
    let ran = sandbox
        .run(&format!(
            "run values1 --target '{target}' --connections 1 --transactions 5 --details --out r"
        ))
        .fine();
    assert!(!ran.out.contains("secret"), "{}", ran.out);
    for name in crate::sandbox::names(&sandbox.path("r")) {
        let text = fs::read(sandbox.path("r").join(&name)).expect("a file");
        assert!(!String::from_utf8_lossy(&text).contains("secret"), "{name}");
    }
    let swept = sandbox
        .run(&format!(
            "run values1 --connections 1 --transactions 5 --sweep 'target={target} connections=1,2' \
             --server-threads --out s"
        ))
        .fine();
    assert!(!swept.out.contains("secret") && !swept.err.contains("secret"), "{}", swept.out);
    for name in ["001", "002"] {
        let text = fs::read_to_string(sandbox.path("s").join(name).join("run.json"));
        assert!(!text.expect("a record").contains("secret"), "{name}");
    }
    for wrong in
        ["mysq://u:secret@h", "mysql:u:secret@h", "mysql://u:se/cret@h", "mysql://u:cret@h:x"]
    {
        let ran =
            sandbox.run(&format!("run values1 --target {wrong} --transactions 1 --no-record"));
        assert!(!ran.refused(2, &[]).err.contains("cret"), "{wrong}");
    }
}

#[test]
fn a_hundred_transactions_show_what_they_cost_the_server() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let json = Sandbox::new()
            .run(&format!(
                "run --query 'SELECT 1' --target '{}' --connections 1 --transactions 100 \
                 --no-record --json",
                given.target()
            ))
            .fine()
            .json();
        counts_add_up(&json);
        assert!(number(&json, "/server/cpu_us_per_tx") > 0.0, "{}", json["server"]);
        let counters = json["counters"]["key_counters"].as_array().expect("counters").clone();
        let name = if product == Product::Postgres { "xact_commit" } else { "Com_select" };
        let counter = counters.iter().find(|counter| counter["name"] == name);
        let all = counter.and_then(|counter| counter["difference"].as_f64());
        assert!(all.is_some_and(|all| (100.0..110.0).contains(&all)), "{counters:?}");
    }
}

/// A pool that got half of its connections works with those.
#[test]
fn refused_connections_get_nothing_while_others_are_idle() {
    let given = GivenServer::start(Product::Mariadb, &[("max_connections", "10")]);
    let line = format!(
        "run values1 --target '{}' --connections 18 --rate 50/s --time 4s --warmup 0s --shards 1 \
         --no-record --json",
        given.target()
    );
    let ran = Sandbox::new().run(&line);
    let json = ran.json();
    counts_add_up(&json);
    assert!(count(&json, "/connections/failed") >= 5, "{}", json["connections"]);
    // In turn nearly a half would fail; on a busy machine some are due while all others are busy.
    let [failed, offered] = ["failed", "offered"].map(|of| count(&json, &format!("/counts/{of}")));
    assert!(failed < offered / 4, "{}", json["counts"]);
    assert_eq!(json["connections"]["outages"].as_array().map(Vec::len), Some(0));
}

#[test]
fn refused_connections_are_tried_again_while_others_are_busy() {
    let given = GivenServer::start(Product::Mariadb, &[("max_connections", "10")]);
    // The others are busy all the time, and take hardly any CPU.
    let line = format!(
        "run --query 'SELECT SLEEP(0.002)' --target '{}' --connections 20 --time 6s --warmup 0s \
         --no-record --json",
        given.target()
    );
    let ran = Sandbox::new().run(&line);
    let json = ran.json();
    counts_add_up(&json);
    let of = |name: &str| count(&json, &format!("/counts/{name}"));
    let (failed, completed) = (of("failed"), of("completed"));
    // On a busy machine they answer so seldom that more than a tenth of all fails.
    ran.exits(if 10 * failed > failed + completed { 3 } else { 0 });
    // Nine clients pause for 200 ms at most, which is 270 attempts. Were it a second, it were 54.
    assert!(failed >= 90, "{}", json["counts"]);
    assert_eq!(json["connections"]["outages"].as_array().map(Vec::len), Some(0));
    let statement = &json["statements"][0];
    assert!(number(statement, "/latency_us/p50") < 100e3, "{statement}");
}
