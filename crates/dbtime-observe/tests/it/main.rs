//! Counters and plans of real servers as they were saved, and the processes of a server that is
//! running.

mod counters;
mod mysql_plans;
mod server_watch;
