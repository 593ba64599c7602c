//! How far reading is, in a line.

use crate::format::{bytes, finite, percent, us};

/// How much was read of how much, and how long the rest takes at the rate so far.
///
/// Shape: one line of at most 80 columns.
pub fn progress_text(done_bytes: u64, all_bytes: Option<u64>, elapsed_s: f64) -> String {
    let done = bytes(done_bytes);
    let per_s = finite(done_bytes as f64 / elapsed_s).max(0.0);
    let rate = format!("{}/s", bytes(per_s as u64));
    let Some(all_bytes) = all_bytes.filter(|all| *all > 0) else {
        return format!("reading: {done}, {rate}");
    };
    // A log may grow while it is read.
    let share = (done_bytes as f64 / all_bytes as f64).min(1.0);
    let left_us = all_bytes.saturating_sub(done_bytes) as f64 / per_s * 1e6;
    let left = if left_us.is_finite() { format!(", {} left", us(left_us)) } else { String::new() };
    format!("reading: {} of {}, {rate}{left}", percent(share * 100.0), bytes(all_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_at_the_rate_so_far() {
        assert_eq!(
            progress_text(1 << 30, Some(3 << 30), 2.0),
            "reading: 33 % of 3.00 GiB, 512 MiB/s, 4.00 s left"
        );
        assert_eq!(progress_text(1 << 20, None, 1.0), "reading: 1.00 MiB, 1.00 MiB/s");
        assert_eq!(progress_text(0, Some(5), 0.0), "reading: 0 % of 5 B, 0 B/s");
        assert_eq!(progress_text(10, Some(5), 1.0), "reading: 100 % of 5 B, 10 B/s, 0 ns left");
    }
}
