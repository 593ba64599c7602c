//! PostgreSQL, live: each test starts a server of its own.
#![allow(clippy::print_stdout)]

mod connections;
mod conversation;
mod driving;
mod failures;
mod login;
mod outages;
mod private;
mod required_login;
mod rows;
mod select;
mod statements;
