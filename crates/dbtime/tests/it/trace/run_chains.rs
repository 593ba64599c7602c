//! What the holders of locks did while transactions of a traced run waited for them.

use super::run_waits::{part_s, traced};
use super::*;
use crate::given_server::PRODUCTS;

fn sum(rows: &Value) -> f64 {
    let rows = rows.as_array().expect("a list");
    rows.iter().filter_map(|row| row["wait_s"].as_f64()).sum()
}

/// With one branch all transactions wait for the one that has its row until it has committed, which
/// is a sync; and for those that wait themselves.
#[test]
fn chains_end_at_the_sync_of_a_commit() {
    for product in PRODUCTS {
        let load = "--connections 8 --time 2s --warmup 200ms";
        let Some(record) = traced(&format!("tpcb --target {} {load}", product.name())) else {
            return;
        };
        let (chains, holders) = (&record["lock_chains"], &record["lock_holders"]);
        let (all, lock) = (sum(chains), part_s(&record, "lock"));
        assert!((all - sum(holders)).abs() <= 1e-6 * all, "{all}: {chains:#}");
        assert!(all <= lock * 1.001 && all > 0.5, "{all} of {lock}: {chains:#}");

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
