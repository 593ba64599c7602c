//! What sessions were at when the watching began, of which no request was seen: as the titles of
//! PostgreSQL's processes have it, and the calls in which threads of the others wait.
//!
//! ```text
//!   helper   glimpse: reads /proc, understands what the kernel has written
//!   reader   title: what a process says of itself, with names that clients have chosen
//!            sessions: which of it is from before, and still goes on
//! ```

pub(super) mod glimpse;
pub(super) mod sessions;
mod thread_call;
mod title;
