//! Causes that are the disk's.

use super::preload::{SlowDisk, compile, environment, number_at, shared_file};
use super::*;

/// How long each sync of the slow disk takes. Unit: milliseconds.
const SYNC_MS: u32 = 8;

/// How long the thread that synced most often was off the CPU each time. Unit: microseconds.
fn blocked_us(sandbox: &Sandbox) -> f64 {
    let totals = std::fs::read(sandbox.path("totals")).expect("a file");
    let rows = totals.chunks_exact(24).filter(|row| number_at(row, 1) > 0);
    let most = rows.max_by_key(|row| number_at(row, 1)).expect("somebody syncs");
    number_at(most, 2) as f64 / number_at(most, 1) as f64 / 1e3
}

#[test]
fn a_slow_disk_is_the_sync() {
    for product in PRODUCTS {
        is_found(|| {
            let sandbox = Sandbox::new();
            compile(&sandbox, "slow_sync");
            shared_file(&sandbox, "totals", 4096);
            let _disk = SlowDisk::mount(&sandbox, "slow", SYNC_MS)?;
            let variables = [("SLOW_SYNC_FILE", "slow"), ("SLOW_SYNC_TOTALS_FILE", "totals")];
            let environment = environment(&sandbox, "slow_sync", &variables);
            let load = "--connections 1 --time 3s";
            let line = format!("tpcb --target {} {load} {environment}", product.name());
            let with = ExplainedRun::of_in(&sandbox, &line, |_| {})?;
            let planted = blocked_us(&sandbox);
            assert!(planted > f64::from(SYNC_MS) * 1e3, "{planted}");
            with.advises("log_sync", &["in tpcb: commit", "faster syncs"]);
            Some(with.if_first("the disk is slow", (with.commit_us(), planted)))
        });
    }
}
