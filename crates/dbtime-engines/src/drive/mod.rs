//! The loops that drive a load, and what they share. Nothing here knows a database or a socket.
//!
//! ```text
//!   LoadPlan ──► load_threads: connect, start at one instant, disconnect
//!                     │  PhaseGate between, LoadObserver beside
//!         ┌───────────┴────────────┐
//!   pool: a thread for each   shard: a thread for
//!   connection, PoolDatabase  many, Reactor
//!         └───────────┬────────────┘
//!              TransactionTiming ──► ThreadRecorder ──► LoadResult
//! ```
//!
//! [`shard`] is for databases that answer over a socket; [`pool`] for an engine that blocks its
//! caller. A database implements what its loop drives, in `databases`.

mod gate;
mod load_threads;
pub mod observer;
pub mod plan;
pub mod pool;
pub mod shard;
mod standstill_watch;
mod timing;
