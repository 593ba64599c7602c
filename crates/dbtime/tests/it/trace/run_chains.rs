//! A row that all transactions of a traced run change: who let it go, what its holders did while
//! others waited for it, and what is advised.

use super::run_waits::{part_s, traced_in, traced_tpcb};
use super::*;
use crate::explain::{advice, of_rule};
use crate::given_server::PRODUCTS;
use crate::small_workloads::write_small;

fn sum(rows: &Value) -> f64 {
    let rows = rows.as_array().expect("a list");
    rows.iter().filter_map(|row| row["wait_s"].as_f64()).sum()
}

/// Rows are of the longest wait of each request for a lock: no more than all waits for locks, but
/// some of the time that the clients had.
fn are_the_longest_waits(rows: &Value, record: &Value) {
    let (all, lock) = (sum(rows), part_s(record, "lock"));
    assert!(all <= lock * 1.001, "{all} of {lock}: {rows:#}");
    let took_s = record["window"]["measure_s"].as_f64().expect("a length");
    assert!(all > 0.25 * took_s, "{all} in {took_s}: {rows:#}");
}

/// With one branch all transactions wait for the one that has its row until it has committed, which
/// is a sync; and for those that wait themselves.
#[test]
fn chains_end_at_the_sync_of_a_commit() {
    for product in PRODUCTS {
        let load = "--connections 8 --transactions 400";
        let Some(record) = traced_tpcb(&format!("--target {} {load}", product.name())) else {
            return;
        };
        let (chains, holders) = (&record["lock_chains"], &record["lock_holders"]);
        let all = sum(chains);
        assert!((all - sum(holders)).abs() <= 1e-6 * all, "{all}: {chains:#}");
        are_the_longest_waits(chains, &record);

        let rows = chains.as_array().expect("a list");
        let of = |row: &&Value| {
            let names: Vec<_> = row["statements"].as_array().into_iter().flatten().collect();
            names.len() > 1 && *names[names.len() - 1] == "tpcb: commit" && row["cause"] == "sync"
        };
        let by_sync: Vec<&Value> = rows.iter().filter(of).collect();
        assert!(!by_sync.is_empty(), "{chains:#}");
        assert!(by_sync.iter().all(|row| row["count"].as_u64() > Some(0)), "{by_sync:#?}");
        let depth = |row: &&Value| row["statements"].as_array().map_or(0, Vec::len);
        assert!(rows.iter().map(|row| depth(&row)).max() > Some(2), "{chains:#}");
        assert!(rows.iter().all(|row| depth(&row) <= 10), "{chains:#}");
        // Most of what a holder does is seen.
        let unknown = rows.iter().filter(|row| row["cause"] == "not_known");
        let unknown: f64 = unknown.filter_map(|row| row["wait_s"].as_f64()).sum();
        assert!(unknown < 0.5 * all, "{unknown} of {all}: {chains:#}");
    }
}

/// As the workload names it: that is the one that has the row of the branch until it commits, or
/// the first of those that wait. Nobody waits for a disk beside that.
#[test]
fn who_let_a_hot_row_go_is_named_and_advised_on() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let workload = write_small(&sandbox, "tpcb");
        let load = "--connections 8 --transactions 1000 --out r";
        let line = format!("{workload} --target {} {load}", product.name());
        let Some(record) = traced_in(&sandbox, &line) else { return };
        let holders = &record["lock_holders"];
        are_the_longest_waits(holders, &record);
        let rows = holders.as_array().expect("a list");
        let is_commit = |row: &&Value| row["holder"].as_str() == Some("tpcb: commit");
        assert!(rows.first().is_some_and(|row| is_commit(&row)), "{rows:#?}");
        let by_commit = rows.iter().filter(is_commit).filter_map(|row| row["wait_s"].as_f64());
        assert!(by_commit.sum::<f64>() > 0.5 * sum(holders), "{rows:#?}");

        let locks = of_rule(&advice(&sandbox, "r"), "lock_waits").to_string();
        assert!(locks.contains("were for tpcb: commit"), "{locks}");
        assert!(locks.contains("as late in the transaction"), "{locks}");
    }
}
