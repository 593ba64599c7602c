//! Functions of the program that runs a script, which the script's clients call.

use std::fmt;
use std::sync::Arc;

/// A function that engine threads call, one at a time or several at once.
#[derive(Clone)]
pub struct SharedCall<T>(Arc<dyn Fn(T) + Send + Sync>);

impl<T> SharedCall<T> {
    /// Calls this one.
    pub fn new(call: impl Fn(T) + Send + Sync + 'static) -> Self {
        Self(Arc::new(call))
    }

    pub(crate) fn call(&self, argument: T) {
        (self.0)(argument);
    }
}

impl<T> Default for SharedCall<T> {
    /// Nothing is done.
    fn default() -> Self {
        Self::new(|_| ())
    }
}

impl<T> fmt::Debug for SharedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCall")
    }
}
