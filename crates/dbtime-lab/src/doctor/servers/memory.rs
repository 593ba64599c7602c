//! A cache against the data and the memory: which regime a load will be measured in.

use super::check::CheckVerdict;
use crate::targets::megabytes;

/// A server's cache, and what it stands against. Unit: bytes.
pub(super) struct CacheFit {
    pub(super) cache: u64,
    pub(super) data: u64,
    /// Of the machine; `None`: not known.
    pub(super) memory: Option<u64>,
    /// The share of the memory beyond which a cache is too large, and one that is enough. Unit: per
    /// cent.
    pub(super) most_pct: u64,
    pub(super) enough_pct: u64,
    /// Where the product describes both.
    pub(super) manual: &'static str,
}

impl CacheFit {
    /// The verdict; `set` makes the statement that gives the cache another size.
    pub(super) fn verdict(&self, set: impl Fn(u64) -> String) -> CheckVerdict {
        let Self { cache, data, manual, .. } = *self;
        let memory = match self.memory {
            Some(bytes) => format!("{} of memory", megabytes(bytes)),
            None => "memory unknown".to_owned(),
        };
        let value = format!("{} for {} of data, {memory}", megabytes(cache), megabytes(data));
        if let Some(size) = self.share(self.most_pct).filter(|most| cache > *most) {
            let because = format!("it takes more than {} % of the memory", self.most_pct);
            let costs = format!("Not measured here. A machine that swaps stalls for ms ({manual})");
            return CheckVerdict::bad(value, because, costs).mended(set(size), set(cache));
        }
        if data <= cache {
            return CheckVerdict::good(value, "the data fit: reads miss only while it is cold");
        }
        let because = match cache >= data / 4 {
            true => "a part of the data fits: figures depend on which rows are read",
            false => "it is tiny beside the data: most reads miss it",
        };
        let costs = format!("Not measured here. A read that misses waits for the disk ({manual})");
        let verdict = CheckVerdict::mind(value, because, costs);
        // A tenth beyond the data is enough for what comes with them.
        let needed = data.saturating_add(data / 10);
        match self.share(self.enough_pct).map(|most| most.min(needed)).filter(|to| *to > cache) {
            Some(size) => verdict.mended(set(size), set(cache)),
            None => verdict,
        }
    }

    fn share(&self, pct: u64) -> Option<u64> {
        self.memory.map(|bytes| bytes / 100 * pct)
    }
}
