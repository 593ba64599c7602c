//! What differs between the databases: which of their counters are none, how they are grouped,
//! what counts transactions, which of them a run shows. The values are in a file for each database.

use dbtime_model::record::CounterUnit;

/// What is known of a database's counters.
pub(super) struct CounterDialect {
    /// Whether the number of that name is a gauge.
    pub(super) is_gauge: fn(name: &str) -> bool,
    /// What a counter is shown under.
    pub(super) family: fn(group: &str, name: &str) -> String,
    /// What may count transactions, the first that counted any: groups, and names to be added up.
    pub(super) transactions: &'static [(&'static str, &'static [&'static str])],
    /// Whether a counter may go past 2^32 and on from zero.
    pub(super) wraps: bool,
    /// Whether a restart of the server sets every counter to zero.
    pub(super) restart_resets: bool,
    /// The key counters, in the order in which they are shown.
    pub(super) key_counters: &'static [KeyCounter],
    /// What counts accesses to pages in memory.
    pub(super) pages: Option<PageCounters>,
}

/// The counters of a buffer pool.
pub(super) struct PageCounters {
    /// The pattern of the groups that they are added up over.
    pub(super) group: &'static str,
    /// Those that make up all accesses.
    pub(super) accesses: &'static [&'static str],
    /// The one of accesses to pages that had to be read.
    pub(super) reads: &'static str,
}

/// A counter that a run shows.
pub(super) struct KeyCounter {
    /// The pattern of the sample's groups that it is added up over.
    pub(super) group: &'static str,
    /// Its name there.
    pub(super) counter: &'static str,
    /// What it is called in a report, where its name alone would not say it.
    pub(super) label: Option<&'static str>,
    pub(super) unit: CounterUnit,
    /// What it counts, in a few words.
    pub(super) meaning: &'static str,
    /// The page of the manual that defines it.
    pub(super) source: &'static str,
}

/// Whether a text is of the form of a pattern, in which each `*` stands for any text.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let Some((head, mut patterns)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut rest) = text.strip_prefix(head) else { return false };
    while let Some((middle, more)) = patterns.split_once('*') {
        let Some(at) = rest.find(middle) else { return false };
        rest = &rest[at + middle.len()..];
        patterns = more;
    }
    rest.ends_with(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (text, pattern) in
            [("a", "a"), ("abc", "a*"), ("abc", "*c"), ("abc", "a*c"), ("", "*"), ("abxcd", "*b*d")]
        {
            assert!(is_like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in
            [("ab", "a"), ("a", "ab*"), ("aa", "aa*a"), ("abc", "*b"), ("b", "*a*")]
        {
            assert!(!is_like(text, pattern), "{text} {pattern}");
        }
    }
}
