//! The embedded engine on real files: identity, counts, locks, errors, allocations.
#![allow(clippy::print_stdout)]

mod admin;
mod allocations;
mod atm;
mod connection;
mod identity;
mod locks;
mod pool;
mod statements;
