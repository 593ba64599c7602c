//! A cache against the data and the memory: which regime a load will be measured in.

use super::check::{CheckVerdict, RuleResult};
use crate::targets::megabytes;

/// A server's cache, and what it stands against. Unit: bytes.
pub(super) struct CacheFit {
    pub(super) cache: u64,
    pub(super) data: u64,
    /// What would show data that this login does not see; `None`: it sees all.
    pub(super) hidden_from: Option<&'static str>,
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
    ///
    /// Errors: the data that are seen fit, and there may be others.
    pub(super) fn verdict(&self, set: impl Fn(u64) -> String) -> RuleResult {
        let Self { cache, data, manual, .. } = *self;
        let memory = match self.memory {
            Some(bytes) => format!("{} of memory", megabytes(bytes)),
            None => "memory unknown".to_owned(),
        };
        let at_least = if self.hidden_from.is_some() { "at least " } else { "" };
        let value =
            format!("{} for {at_least}{} of data, {memory}", megabytes(cache), megabytes(data));
        if let Some(size) = self.share(self.most_pct).filter(|most| cache > *most) {
            let because = format!("it takes more than {} % of the memory", self.most_pct);
            let costs = format!("Not measured here. A machine that swaps stalls for ms ({manual})");
            return Ok(CheckVerdict::bad(value, because, costs).mended(set(size), set(cache)));
        }
        if let Some(right) = self.hidden_from.filter(|_| data <= cache) {
            return Err(format!("{value}: this user may not see all of them: {right} shows them"));
        }
        if data <= cache {
            let because = "the data fit: reads miss only while it is cold";
            return Ok(CheckVerdict::good(value, because));
        }
        let because = match cache >= data / 4 {
            true => "a part of the data fits: figures depend on which rows are read",
            false => "it is tiny beside the data: most reads miss it",
        };
        let costs = format!("Not measured here. A read that misses waits for the disk ({manual})");
        let verdict = CheckVerdict::note(value, because, costs);
        // A tenth beyond the data is enough for what comes with them.
        let needed = data.saturating_add(data / 10);
        let enough = self.share(self.enough_pct).map(|most| most.min(needed));
        Ok(match enough.filter(|to| *to > cache) {
            Some(size) => verdict.mended(set(size), set(cache)),
            None => verdict,
        })
    }

    fn share(&self, pct: u64) -> Option<u64> {
        self.memory.map(|bytes| bytes / 100 * pct)
    }
}
