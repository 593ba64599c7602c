//! The loops that drive a load: on a simulated clock, on SQLite, and on a real PostgreSQL; and
//! MySQL's protocol with servers that break it.

mod listed_rows;
mod mysql;
mod postgres;
mod rogue_servers;
mod simulated_load;
mod sqlite;
