//! A password, which nothing prints.

use std::fmt;

/// A password. Neither `Debug` nor anything else shows it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerSecret(String);

impl ServerSecret {
    /// Keeps a password.
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    /// The password, for whoever sends it to the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "(hidden)" })
    }
}
