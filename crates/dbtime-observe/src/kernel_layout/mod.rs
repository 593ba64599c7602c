//! The layout of what crosses the border to the kernel's programs: records of the ring buffer, rows
//! and keys of tables, and numbers that both sides know.
//!
//! Each type here mirrors one of `bpf/capture.h` or `bpf/scheduler.h`, member by member and under
//! the same names. A test compares size, order, offsets and numbers with the BTF of the built
//! programs of every machine. What the bytes mean is none of this module's business.

#[macro_use]
mod mirror;

pub(crate) mod capture;
pub(crate) mod numbers;
pub(crate) mod scheduler;

#[cfg(test)]
mod btf;
#[cfg(test)]
mod tests;

use zerocopy::FromBytes;

// The programs are built for machines of this kind, and recordings of their bytes are tested.
const _: () = assert!(cfg!(target_endian = "little"), "the kernel's programs are little-endian");

/// The record at the beginning of `bytes`, and what follows it; `None` where they are too short.
pub(crate) fn split_record<T: FromBytes>(bytes: &[u8]) -> Option<(T, &[u8])> {
    T::read_from_prefix(bytes).ok()
}

/// The record at the beginning of `bytes`; `None` where they are too short.
pub(crate) fn read_record<T: FromBytes>(bytes: &[u8]) -> Option<T> {
    split_record(bytes).map(|(record, _)| record)
}

/// A text with zeros behind it; what is longer than the room is cut, so that one zero is left.
pub(crate) fn padded<const ROOM: usize>(text: &str) -> [u8; ROOM] {
    let mut bytes = [0; ROOM];
    let kept = text.len().min(ROOM - 1);
    bytes[..kept].copy_from_slice(&text.as_bytes()[..kept]);
    bytes
}

/// A text up to the first zero, or to the end. What is no UTF-8 is replaced.
pub(crate) fn text_until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
