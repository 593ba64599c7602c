//! PostgreSQL, live: each test starts a server of its own.
#![allow(clippy::print_stdout)]

mod private;
mod select;
