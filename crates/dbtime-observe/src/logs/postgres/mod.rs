//! Logs of PostgreSQL: stderr and syslog behind a prefix, csvlog, jsonlog.
//!
//! ```text
//!   text ─ prefix ─┐
//!   csv ─ columns ─┼─► MessageLine ─► messages: pieces ─► joiner, by session ─► records
//!   json ── keys ──┘
//! ```
//!
//! The three formats differ in where a message, its severity and its session stand; what a message
//! means is the same. Parameters of statements (`DETAIL`) are literals, and are not read.

mod columns;
mod csv;
mod handing;
mod joiner;
mod json;
mod lone_durations;
mod message_line;
mod messages;
mod parsed_joiner;
mod plan_joiner;
mod plans;
mod prefix;
mod prefix_match;
mod session;
mod severity;
mod syslog;
#[cfg(test)]
mod tests;
mod text;
mod translations;

pub(crate) use csv::PostgresCsv;
pub(crate) use json::PostgresJson;
pub(crate) use prefix::PrefixPattern;
pub(crate) use text::PostgresText;
