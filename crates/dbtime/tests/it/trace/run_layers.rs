//! The layers of a traced run, which agree with everything else that its record has.

use super::run_waits::{part_s, syncs_are_those_of_the_log, traced_tpcb};
use super::*;

/// What a layer has under a name that ends so.
fn layer<'a>(record: &'a Value, name: &str) -> &'a Value {
    let layers = record["layers"].as_array().expect("a list");
    let is_it = |layer: &&Value| layer["name"].as_str().is_some_and(|of| of.ends_with(name));
    layers.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {layers:#?}"))
}

/// The sum of a figure over all rows of a list that `is_it` picks; a null is none.
fn sum(rows: &Value, figure: impl Fn(&Value) -> Option<f64>) -> f64 {
    rows.as_array().expect("a list").iter().filter_map(figure).sum()
}

fn is_about(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what} is {found}"));
    assert!((found - expected).abs() <= 1e-6 * expected.max(1.0), "{what}: {found} of {expected}");
}

/// Quotients are what they are called, and where one cannot be known there is none.
fn quotients_hold(record: &Value) {
    let unit = layer(record, "SQL to buffer pool: CPU")["time_per_op_ns"].as_f64();
    for layer in record["layers"].as_array().expect("a list") {
        let (time_s, operations) = (layer["time_s"].as_f64(), layer["operations"].as_f64());
        let each = time_s.zip(operations.filter(|count| *count > 0.0));
        match each.map(|(time_s, count)| time_s * 1e9 / count) {
            Some(ns) => {
                is_about(&layer["time_per_op_ns"], ns, "time_per_op_ns");
                is_about(&layer["relative"], ns / unit.expect("a unit"), "relative");
            }
            None => assert!(layer["time_per_op_ns"].is_null() && layer["relative"].is_null()),
        }
        for figure in ["time", "records", "operations"] {
            let name = if figure == "time" { "time_s" } else { figure };
            let from = &layer[format!("{figure}_from")];
            assert_eq!(layer[name].is_null(), from.is_null(), "{figure}: {layer}");
        }
    }
}

/// What the driver counted.
fn the_load_is_that_of_the_tables(record: &Value) {
    let statements = &record["statements"];
    let took_s = sum(statements, |one| {
        Some(one["count"].as_f64()? * one["latency_us"]["mean"].as_f64()? / 1e6)
    });
    let all = layer(record, "statements, all layers");
    is_about(&all["time_s"], took_s, "statements");
    is_about(&all["operations"], sum(statements, |one| one["count"].as_f64()), "executions");
    is_about(&all["records"], sum(statements, |one| one["rows"].as_f64()), "rows");
    assert!(all["records"].as_u64() > Some(0), "{all}");
    let all = layer(record, "transactions, all layers");
    let of = record["budget"]["of"].as_f64().expect("a count");
    is_about(&all["operations"], of, "transactions");
    let mean_us = record["latency_us"]["response"]["mean"].as_f64().expect("a mean");
    is_about(&all["time_s"], of * mean_us / 1e6, "responses");
}

/// What the tracer saw.
fn the_waits_are_those_of_the_files(record: &Value) {
    for (name, part) in [
        ("waits for file reads", "io_read"),
        ("waits for file writes", "io_write"),
        ("waits for file syncs", "sync"),
    ] {
        let waits = layer(record, name);
        is_about(&waits["time_s"], part_s(record, part), name);
        let counted = |row: &Value| row["count"].as_f64().filter(|_| row["part"] == part);
        is_about(&waits["operations"], sum(&record["file_waits"], counted), name);
        assert_eq!(waits["scope"], "traced");
    }
}

/// What the server counted.
fn the_accesses_are_those_of_the_counters(record: &Value, counters: [&[&str]; 2]) {
    let key_counters = &record["counters"]["key_counters"];
    let counted = |names: &[&str]| {
        sum(key_counters, |one| {
            let is_named = names.iter().any(|name| one["name"] == *name);
            one["difference"].as_f64().filter(|_| is_named)
        })
    };
    let pool = layer(record, "SQL to buffer pool: CPU");
    is_about(&pool["operations"], counted(counters[0]), "accesses");
    is_about(&pool["time_s"], part_s(record, "cpu"), "CPU");
    assert_eq!((&pool["time_from"], &pool["scope"]), (&"derived".into(), &"server".into()));
    // Every transaction looks for rows by their keys.
    assert!(
        pool["operations"].as_u64()
            > layer(record, "transactions, all layers")["operations"].as_u64()
    );
    let reads = layer(record, "buffer pool: page reads");
    is_about(&reads["operations"], counted(counters[1]), "page reads");
    assert!(reads["time_s"].is_null(), "{reads}");
}

/// What the kernel counted of the device, where the data is on one.
fn the_device_wrote_what_was_synced(record: &Value) {
    let layers = record["layers"].as_array().expect("a list");
    let is_device = |layer: &&Value| layer["scope"] == "machine";
    if layers.iter().filter(is_device).count() == 0 {
        // Memory or an overlay.
        return;
    }
    let writes = layer(record, ": writes");
    assert!(writes["operations"].as_u64() > Some(0), "{writes}");
    assert!(writes["records"].is_null(), "{writes}");
    assert!(layer(record, ": reads")["time_s"].as_f64() >= Some(0.0));
}

#[test]
fn the_layers_of_a_server_agree_with_the_rest_of_its_record() {
    let innodb = "Innodb_buffer_pool_read_requests";
    let mariadb: [&[&str]; 2] = [&[innodb], &["Innodb_buffer_pool_reads"]];
    let postgres: [&[&str]; 2] = [&["blks_hit", "blks_read"], &["blks_read"]];
    for (product, log, counters) in
        [(Product::Mariadb, "ib_logfile0", mariadb), (Product::Postgres, "pg_wal", postgres)]
    {
        let load = "--connections 2 --time 3s --warmup 200ms";
        let Some(record) = traced_tpcb(&format!("--target {} {load}", product.name())) else {
            return;
        };
        syncs_are_those_of_the_log(&record, log);
        assert_eq!(record["budget"]["sampled"], record["budget"]["of"], "{}", record["trace"]);
        the_load_is_that_of_the_tables(&record);
        the_waits_are_those_of_the_files(&record);
        the_accesses_are_those_of_the_counters(&record, counters);
        the_device_wrote_what_was_synced(&record);
        quotients_hold(&record);
    }
}

/// Data in memory is on no device that could serve a request, and nobody waits for its files.
#[test]
fn data_in_memory_has_no_device() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    let load = "--connections 2 --time 1s --warmup 200ms";
    let folder = memory.path().display();
    let Some(record) = traced_tpcb(&format!("--target postgres --server-data {folder} {load}"))
    else {
        return;
    };
    let layers = record["layers"].as_array().expect("a list");
    assert!(layers.iter().all(|layer| layer["scope"] != "machine"), "{layers:#?}");
    assert_eq!(layer(&record, "waits for file syncs")["operations"], 0);
    quotients_hold(&record);
}

/// Without a trace nobody knows what was between a statement and the disk.
#[test]
fn an_untraced_server_has_no_layers() {
    let sandbox = Sandbox::new();
    let line = "run --query 'SELECT 1' --target postgres --transactions 50 --no-record --json";
    assert_eq!(sandbox.run(line).fine().json()["layers"], serde_json::json!([]));
}
