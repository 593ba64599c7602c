//! Private servers, live: the MariaDB and PostgreSQL of this machine.

mod asking;
mod bad_input;
mod life;
mod live;
mod orphans;
#[cfg(feature = "versions")]
mod versions;
