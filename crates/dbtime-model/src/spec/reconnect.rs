//! The occasions for a new connection to a server.

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

one_of_words! {
    ReconnectPolicy, ReconnectError: "lost" => WhenLost, "every-transaction" => EveryTransaction
}
