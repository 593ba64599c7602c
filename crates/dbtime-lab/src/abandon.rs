//! The end of a process that does not come back to what it has made.
//!
//! Who has a folder or a server removes it when it is dropped. Where a thread cannot be waited for,
//! another one does that in its place here; while it does, and for ever after, whoever would make
//! or remove something waits, so that nothing new comes up behind it.

use crate::{run_process, scratch, servers};

/// Ends the process of a run and all private servers, removes all temporary folders and all records
/// that are half written. The process is to end right after it: its other threads may hang. Blocks
/// until all is gone.
pub fn abandon() {
    run_process::abandon();
    // The servers first: they write into the folders.
    servers::abandon();
    scratch::abandon();
}
