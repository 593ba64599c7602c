//! What a process has open from the one that has started it.

use std::fs::read_dir;

/// The last of the descriptors that every process has: stderr.
const LAST_STANDARD: i32 = 2;

/// Closes all files that this process has open but its standard ones. For a process of dbtime's own
/// that has opened nothing yet: what scripts open goes to every process that is started, and a pipe
/// has no end as long as one of them has it.
pub fn close_inherited() {
    let names = read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> =
        names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > LAST_STANDARD) {
        // The one by which the folder was read is closed by now.
        let _ = nix::unistd::close(descriptor);
    }
}
