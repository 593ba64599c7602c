//! Memory of a process, and of several that share some of it.

use serde::{Deserialize, Serialize};

/// Memory at one instant. Source: `/proc/PID/status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMemory {
    /// Pages in memory (VmRSS).
    ///
    /// Of several processes: what each has to itself, and the shared part of the one that holds the
    /// most of it, once. PostgreSQL's shared buffers would otherwise count in every backend.
    pub rss_bytes: u64,
    /// Its part in files and shared memory (RssFile and RssShmem), which others may hold too.
    pub rss_shared_bytes: u64,
    /// The most that was ever in memory (VmHWM); not known of several processes together.
    pub rss_peak_bytes: Option<u64>,
    /// Address space (VmSize); of several processes the sum, shared parts counted in each.
    pub vsize_bytes: u64,
}

impl ProcessMemory {
    /// Memory of several processes together; `None` of none.
    pub fn together(each: impl Iterator<Item = Self>) -> Option<Self> {
        let mut count = 0u32;
        let (mut own, mut all) = (0, Self::default());
        for one in each {
            count = count.saturating_add(1);
            own = u64::saturating_add(own, one.rss_bytes.saturating_sub(one.rss_shared_bytes));
            all.rss_shared_bytes = all.rss_shared_bytes.max(one.rss_shared_bytes);
            all.rss_peak_bytes = one.rss_peak_bytes.filter(|_| count == 1);
            all.vsize_bytes = all.vsize_bytes.saturating_add(one.vsize_bytes);
        }
        all.rss_bytes = own.saturating_add(all.rss_shared_bytes);
        (count > 0).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_counts_once() {
        let one = |rss, shared, peak| ProcessMemory {
            rss_bytes: rss,
            rss_shared_bytes: shared,
            rss_peak_bytes: Some(peak),
            vsize_bytes: 1000,
        };
        assert_eq!(ProcessMemory::together([one(10, 7, 12)].into_iter()), Some(one(10, 7, 12)));
        let two =
            ProcessMemory::together([one(10, 7, 12), one(20, 15, 20)].into_iter()).expect("two");
        assert_eq!((two.rss_bytes, two.rss_peak_bytes, two.vsize_bytes), (3 + 5 + 15, None, 2000));
        assert_eq!(ProcessMemory::together([].into_iter()), None);
        let most = ProcessMemory { vsize_bytes: u64::MAX, ..one(u64::MAX, 1, 1) };
        let all = ProcessMemory::together([most, most].into_iter()).expect("two");
        assert_eq!((all.rss_bytes, all.vsize_bytes), (u64::MAX, u64::MAX));
    }
}
