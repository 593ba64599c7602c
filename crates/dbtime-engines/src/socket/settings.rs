//! How a server is reached.

use super::address::ServerAddress;
use super::keepalive::TcpKeepalive;
use super::tls::TlsSettings;
pub use dbtime_model::spec::ReconnectPolicy;
use dbtime_model::{BitRate, Nanos};

/// A network that is not there, and that driver and server shall notice nevertheless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedNetwork {
    /// How long each request is held back before it is sent, as a round trip would; `None`: it is
    /// not.
    pub delay: Option<Nanos>,
    /// What all connections together may pass in each direction; `None`: without a limit.
    pub rate: Option<BitRate>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct SocketSettings {
    /// Where it listens.
    pub address: ServerAddress,
    /// What the kernel does about a server that says nothing.
    pub keepalive: TcpKeepalive,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// How long a statement may take before its connection is given up.
    pub statement_timeout: Option<Nanos>,
    /// When connections are made anew.
    pub reconnect: ReconnectPolicy,
    /// What is simulated between driver and server.
    pub network: SimulatedNetwork,
    /// How connections are encrypted; `None`: not.
    pub tls: Option<TlsSettings>,
}
