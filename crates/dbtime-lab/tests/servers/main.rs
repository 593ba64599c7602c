//! Private servers, live: the MariaDB and PostgreSQL of this machine.

mod asking;
mod bad_input;
mod life;
mod live;
mod orphans;
mod strangers;
#[cfg(feature = "versions")]
mod versions;
