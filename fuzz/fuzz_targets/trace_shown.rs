//! No recording makes a view of it panic or hang, brings a control character to the terminal, or is
//! shown at a length that does not follow from its own.
#![cfg_attr(feature = "link", no_main)]

#[path = "../../crates/dbtime-report/tests/it/every_view.rs"]
mod every_view;

use dbtime_fuzz::with_check_sums;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    every_view::show(bytes);
    every_view::show(&with_check_sums(bytes));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
