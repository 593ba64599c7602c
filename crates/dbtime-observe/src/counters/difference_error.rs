//! Why two samples have no difference.

use dbtime_model::Product;

/// Why two samples have no difference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DifferenceError {
    /// Their counters mean different things.
    #[error("the first sample is of {}, the second of {}: they have no counters in common",
        .0.title(), .1.title())]
    Products(Product, Product),
    /// Their clocks say that the second was taken before the first.
    #[error(
        "the second sample was taken before the first ({earlier} before {later}): give them in the \
         other order"
    )]
    Swapped {
        /// When the second was taken.
        earlier: String,
        /// When the first was.
        later: String,
    },
}
