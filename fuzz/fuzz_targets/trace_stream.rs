//! Whatever clients say, what the kernel's side hands over of it is read and shown without a panic,
//! and without a control character on the terminal.
#![cfg_attr(feature = "link", no_main)]

use dbtime_fuzz::shown;
use dbtime_model::MonoNanos;
use dbtime_observe::trace::fuzzing::{connections, requests};
use libfuzzer_sys::fuzz_target;

/// Records, each behind its length of two bytes.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (record, rest) = rest.split_at(length);
        self.0 = rest;
        Some(record)
    }
}

fuzz_target!(|bytes: &[u8]| {
    requests(Records(bytes)).iter().for_each(|request| shown(request, MonoNanos(0)));
    connections(bytes).iter().for_each(|one| shown(&one.request, MonoNanos(0)));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
