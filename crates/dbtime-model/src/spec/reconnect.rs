//! The occasions for a new connection to a server.

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
#[error("`{0}` does not say when to reconnect: write lost or every-transaction")]
pub struct ReconnectError(String);

impl FromStr for ReconnectPolicy {
    type Err = ReconnectError;

    /// Reads `lost`, `every-transaction`.
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

serde_as_text!(ReconnectPolicy);
