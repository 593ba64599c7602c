//! Counters of real servers as they were saved, and the processes of a server that is running.

mod counters;
mod server_watch;
