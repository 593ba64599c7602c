//! The databases: each implements what a loop of [`crate::drive`] drives.
//!
//! A server has a protocol ([`crate::socket`]) and what the lab needs of it ([`crate::server`]).

pub mod mysql;
pub mod null;
pub mod postgres;
pub mod sqlite;
