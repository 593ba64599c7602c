//! How a server is reached.

use super::address::Address;
use super::tls::TlsSettings;
use dbtime_model::Nanos;

/// When connections are closed and made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconnect {
    /// When they are lost.
    #[default]
    WhenLost,
    /// After every transaction.
    EveryTransaction,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct SocketSettings {
    /// Where it listens.
    pub address: Address,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// How long a statement may take before its connection is given up.
    pub statement_timeout: Option<Nanos>,
    /// When connections are made anew.
    pub reconnect: Reconnect,
    /// How connections are encrypted; `None`: not.
    pub tls: Option<TlsSettings>,
}
