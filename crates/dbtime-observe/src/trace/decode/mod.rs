//! From records of the kernel's side to requests, connections and sums with names.
//!
//! - `request_decoder`: the stream, in order;
//! - `sessions`, `meaning`, `listed`, `returning_texts`: which statement a request executes;
//! - `literals`, `fingerprint_cache`: its text without literals;
//! - `blockers`, `transactions`, `lock_sums`: who held the lock that was waited for;
//! - `stack_collector`: where its threads were;
//! - `traced_request`: a request as it is shown;
//! - `naming`, `locks`, `origins`: names in place of a server's numbers;
//! - `sums`, `heavy_rows`, `lost_weights`: aggregates; `walks`: all connections at one instant.

mod blockers;
pub(super) mod fingerprint_cache;
pub(super) mod heavy_rows;
pub(super) mod listed;
pub(super) mod literals;
mod lock_sums;
mod locks;
mod lost_weights;
mod meaning;
pub(super) mod naming;
mod origins;
pub(super) mod request_decoder;
mod returning_texts;
pub(super) mod sessions;
mod stack_collector;
pub(super) mod sums;
mod traced_request;
mod transactions;
pub(super) mod walks;
