//! The databases behind the load, and the loops that drive them.
//!
//! Two loops: [`shard`] keeps many connections on one thread, for databases that answer over a
//! socket; [`pool`] gives each connection a thread, for an engine that blocks its caller.
//! Engines are the only ones that know a database's client library.
#![deny(unsafe_op_in_unsafe_fn)]

pub use dbtime_load::failure;
pub use dbtime_model::shell;
mod gate;
mod load_threads;
pub mod loaded;
pub mod mysql;
pub mod null;
pub mod observer;
mod percent;
pub mod plan;
pub mod pool;
pub mod postgres;
pub mod secret;
pub mod server;
pub mod server_url;
pub mod shard;
pub mod socket;
pub mod sqlite;
pub mod sqlite_pool;
mod timing;
pub mod verifier;
