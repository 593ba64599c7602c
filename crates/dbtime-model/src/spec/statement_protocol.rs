//! How statements go to a server.

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

one_of_words! { StatementProtocol, ProtocolError: "text" => Text, "prepared" => Prepared }
