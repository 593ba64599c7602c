//! What a database counts about itself: a sample of its status counters, and the difference of two.
//!
//! A [`CounterSample`] is what a server or file said at one instant; a [`CounterReport`] is what
//! changed between two of them.
//! Both can be saved as a JSON document ([`CounterDocument`]) that names its own kind and schema.
//! Taking a sample, reading one that other programs printed, and telling counters from gauges are
//! the affair of crates further up.

mod document;
mod report;
mod sample;
mod value;

pub use document::{CounterDocument, DocumentError, SCHEMA};
pub use report::{CounterDelta, CounterKind, CounterNote, CounterReport, IntervalSource};
pub use sample::{CounterSample, CounterSource, CounterValues, SampleInstant};
pub use value::CounterValue;
