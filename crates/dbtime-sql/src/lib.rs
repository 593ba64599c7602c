//! SQL as text: what is left of a statement without its literals. Knows no database and no grammar,
//! so that cut and hostile text is as welcome as any.
#![forbid(unsafe_code)]

mod fingerprint;

pub use fingerprint::fingerprint;
