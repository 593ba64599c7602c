//! Databases behind sockets: many connections on one thread, none of which ever blocks it.
//!
//! ```text
//!   Shard ── submit ──► SocketReactor ── execute ──► Protocol (MySQL, PostgreSQL)
//!         ◄─ events ──       │  ▲        ◄─ bytes ──
//!                            SocketConnection: socket, TLS, what is still to be sent
//! ```
//!
//! A [`Protocol`] is one connection's side of a conversation: it takes bytes and makes bytes, and
//! knows neither sockets nor clocks. A connection moves the bytes, and the reactor waits for all of
//! them.

mod address;
mod client;
mod connection;
mod drive;
mod exchange_bound;
mod io_failure;
mod keepalive;
mod kept_table;
mod link;
mod protocol;
mod reactor;
mod service;
mod settings;
mod tls;

pub use address::{AddressError, ServerAddress};
pub use client::SocketClient;
pub use drive::drive;
pub use exchange_bound::ExchangeBound;
pub use keepalive::TcpKeepalive;
pub(crate) use kept_table::KeptTable;
pub use protocol::{Protocol, ProtocolProgress, QueryTable, SubmitResult, Transport};
pub use reactor::SocketReactor;
pub(crate) use service::service_of;
pub use settings::{ReconnectPolicy, SimulatedNetwork, SocketSettings};
pub use tls::{KeyProof, TlsError, TlsFiles, TlsMode, TlsRequirement, TlsSettings};
