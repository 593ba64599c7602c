//! Whatever bytes a tracer's reader sends, its session reads them as requests, connections and sums
//! without a panic, and shows no control character on the terminal.
#![cfg_attr(feature = "link", no_main)]

use dbtime_fuzz::shown;
use dbtime_model::MonoNanos;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_batch::RequestBatch;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_totals::TracedTotals;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(batch) = postcard::from_bytes::<RequestBatch<Vec<TracedRequest>>>(bytes) {
        batch.into_requests().iter().for_each(|request| shown(request, MonoNanos(0)));
    }
    if let Ok(connections) = postcard::from_bytes::<Vec<LiveConnection>>(bytes) {
        connections.iter().for_each(|one| shown(&one.request, MonoNanos(0)));
    }
    if let Ok(totals) = postcard::from_bytes::<TracedTotals>(bytes) {
        let _ = totals.all().quantile(0.99);
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
