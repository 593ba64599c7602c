//! The databases behind the load, and the loops that drive them.
//!
//! ```text
//!   databases   SQLite, MySQL, PostgreSQL, null: the only ones that know a client library
//!      │  └───► server   what all servers share: tables, SQL, targets, secrets
//!      │          │
//!      ├───► socket      connections that never block, bytes in and out
//!      │          │
//!      └───► drive       the loops, and what they record
//! ```
//!
//! An arrow points to what is used. `load_marker` says whether the data that a database holds will
//! do, for all of them.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod databases;
pub mod drive;
pub mod load_marker;
pub mod server;
pub mod socket;
