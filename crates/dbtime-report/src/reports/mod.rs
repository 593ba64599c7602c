//! What commands show besides runs and sweeps, each a file that makes a document of it.

mod counters;

pub use counters::{CounterOptions, counter_document};
