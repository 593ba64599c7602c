//! What logs of servers hold, summed up, as text.

mod distilled;
mod percona;

pub use percona::percona_report;
