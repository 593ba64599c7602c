//! Private servers, live: the MariaDB and PostgreSQL of this machine.

mod bad_input;
mod doctor;
mod lexers;
mod life;
#[path = "../../../dbtime-engines/tests/it/listed_rows.rs"]
mod listed_rows;
mod live;
mod orphans;
mod queries;
mod statements;
mod strangers;
#[cfg(feature = "versions")]
mod versions;
mod walk;
