//! Watching servers from the kernel: which servers, what of it is recorded, and what it may cost.
//!
//! A [`TraceSession`] is what `dbtime trace` and `dbtime top` have in common. It
//! prints nothing: what there is to know on the way are notes, a sentence each.
//!
//! ```text
//!   this process                reader                        helper
//!     TraceSession  ── frames ──  CaptureReader
//!     HolderWatch                   Capture      ── messages ──  loads, attaches, opens
//!     what it shows                 recording                    (keeps the rights)
//!                                 (no rights, seccomp)
//! ```

mod attended_stream;
mod capture_reader;
mod cost_limiter;
mod holder_watch;
mod prior_listing;
mod reader_messages;
mod reader_process;
mod server_set;
mod trace_options;
mod trace_recording;
mod trace_session;
mod vacant_places;

pub use capture_reader::serve_reader;
pub use holder_watch::{HolderOptions, HolderWatch};
pub use reader_process::READER;
pub use trace_options::TraceOptions;
pub use trace_session::{DetachingReader, TraceOutcome, TraceProgress, TraceSession};

use dbtime_model::Nanos;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Who has been at work for so long, since before the watching began, is spoken of.
pub const PRIOR_AGE: Nanos = Nanos::from_secs(1);

/// The time of day, where this machine is.
fn wall_clock(zone: &TimeZone) -> String {
    Timestamp::now().to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
