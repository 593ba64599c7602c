//! How statements go to a server.

use std::fmt;
use std::str::FromStr;

/// How statements go to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatementProtocol {
    /// As text with the values written into it (COM_QUERY, simple query).
    Text,
    /// Prepared once a connection, then only values are sent.
    #[default]
    Prepared,
}

/// Why a text is no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no protocol: write text or prepared")]
pub struct ProtocolError(String);

impl FromStr for StatementProtocol {
    type Err = ProtocolError;

    /// Reads `text`, `prepared`.
    fn from_str(text: &str) -> Result<Self, ProtocolError> {
        match text {
            "text" => Ok(Self::Text),
            "prepared" => Ok(Self::Prepared),
            _ => Err(ProtocolError(text.to_owned())),
        }
    }
}

impl fmt::Display for StatementProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Prepared => "prepared",
        })
    }
}

serde_as_text!(StatementProtocol);
