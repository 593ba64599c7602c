//! How a server is reached.

use super::address::ServerAddress;
use super::keepalive::TcpKeepalive;
use super::tls::TlsSettings;
use dbtime_model::{BitRate, Nanos};
use std::fmt;
use std::str::FromStr;

/// When connections are closed and made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReconnectPolicy {
    /// When they are lost.
    #[default]
    WhenLost,
    /// After every transaction.
    EveryTransaction,
}

/// Why a text says nothing of connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` says nothing of when connections are made anew: write lost or every-transaction")]
pub struct ReconnectError(String);

impl FromStr for ReconnectPolicy {
    type Err = ReconnectError;

    fn from_str(text: &str) -> Result<Self, ReconnectError> {
        match text {
            "lost" => Ok(Self::WhenLost),
            "every-transaction" => Ok(Self::EveryTransaction),
            _ => Err(ReconnectError(text.to_owned())),
        }
    }
}

impl fmt::Display for ReconnectPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WhenLost => "lost",
            Self::EveryTransaction => "every-transaction",
        })
    }
}

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
