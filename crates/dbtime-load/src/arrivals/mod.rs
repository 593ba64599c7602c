//! When transactions are due: a pure function of (seed, index), whatever the number of connections,
//! shards or threads.
//!
//! A [`Rate`] says how many are wanted by when; an [`Arrivals`] process says how they fall around
//! that; a [`Schedule`] walks both and gives each transaction its number and its due instant.
//! A shard that serves only some of the 64 virtual streams walks the same schedule and passes over
//! the rest.

mod due;
mod schedule;

pub use dbtime_model::spec::{Arrivals, Rate};
pub use schedule::{Arrival, Schedule};

/// How many virtual streams a schedule is dealt out in: transaction `index` belongs to stream
/// `index % STREAMS`.
pub(crate) const STREAMS: u64 = 64;
