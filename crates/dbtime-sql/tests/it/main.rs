//! Statements as other tools see them.

mod percona_toolkit;
mod statement_maker;
