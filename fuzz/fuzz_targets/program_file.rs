//! No program file makes the search for its functions and calls panic or hang. The seed is a small
//! library that exports what is looked for.
#![cfg_attr(feature = "link", no_main)]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dbtime_observe::trace::fuzzing::program(bytes));

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
