//! No file of a PostgreSQL server makes the search for the names of its tables panic or hang, or
//! find more of them than there is room for. The seed is a map of files and a page of three rows.
#![cfg_attr(feature = "link", no_main)]

use dbtime_observe::trace::fuzzing::catalog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let names = catalog(bytes);
    // Each of them has a pointer of its own of four bytes, and may be in all three lists.
    assert!(names.len() <= bytes.len());
    assert!(names.iter().all(|name| !name.contains('\0')));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
