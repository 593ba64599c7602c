//! Private servers, live: the MariaDB and PostgreSQL of this machine.

mod bad_input;
mod doctor;
mod lexers;
mod life;
mod live;
mod orphans;
mod queries;
#[path = "../../../dbtime-engines/tests/it/seen_rows.rs"]
mod seen_rows;
mod statements;
mod strangers;
#[cfg(feature = "versions")]
mod versions;
mod walk;
