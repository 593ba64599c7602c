//! Watching servers from the kernel: which servers, what of it is recorded, and what it may cost.
//!
//! A [`TraceSession`] is what `dbtime trace`, `dbtime top` and a traced run have in common. It
//! prints nothing: what there is to know on the way are notes, a sentence each.

mod cost_limiter;
mod holder_watch;
mod server_set;
mod trace_recording;
mod trace_session;

pub use holder_watch::{HolderOptions, HolderWatch};
pub use trace_session::{TraceOptions, TraceOutcome, TraceProgress, TraceSession};
