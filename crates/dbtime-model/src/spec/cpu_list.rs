//! Lists of CPUs, as the kernel writes them: `0,2-3`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The CPU with the highest number that a list may name; what the kernel's usual mask holds.
const LAST_CPU: u32 = 1023;

/// A set of CPUs by their number. Shape: never empty, each at most 1023.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(BTreeSet<u32>);

/// Why a text is no list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of CPUs: {why}; write numbers and ranges such as 0,2-3")]
pub struct CpuListError {
    text: String,
    why: String,
}

impl CpuList {
    /// The CPUs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// How many there are. Shape: at least 1.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Those that are not in `other`, in ascending order.
    pub fn missing_from<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> {
        self.0.difference(&other.0).copied()
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    /// Reads `0`, `0,2` or `0-3,8`; also what `/sys/devices/system/cpu/online` and the line
    /// `Cpus_allowed_list` of `/proc/PID/status` hold.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let refuse = |why: String| CpuListError { text: text.trim().to_owned(), why };
        let number = |digits: &str| match digits.trim().parse::<u32>() {
            Ok(cpu) if cpu <= LAST_CPU => Ok(cpu),
            Ok(cpu) => Err(refuse(format!("{cpu} is beyond {LAST_CPU}"))),
            Err(_) => Err(refuse(format!("`{}` is no number", digits.trim()))),
        };
        let mut cpus = BTreeSet::new();
        for item in text.split(',') {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(refuse(format!("{first}-{last} counts down")));
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    /// As short as it goes, in ascending order: `0,2-3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        let written = ranges.iter().map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        });
        f.write_str(&written.collect::<Vec<_>>().join(","))
    }
}

serde_as_text!(CpuList);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<CpuList, String> {
        text.parse().map_err(|error: CpuListError| error.to_string())
    }

    #[test]
    fn lists_are_read_and_written_short() {
        for (text, written) in
            [("0", "0"), ("3,1", "1,3"), ("0-1", "0-1"), (" 0,2-3,1\n", "0-3"), ("5-5,5", "5")]
        {
            assert_eq!(read(text).expect(text).to_string(), written);
        }
        let list = read("0-3,8").expect("a list");
        assert_eq!(list.count(), 5);
        assert_eq!(list.missing_from(&read("0-2").expect("a list")).collect::<Vec<_>>(), [3, 8]);
    }

    #[test]
    fn a_refusal_says_why() {
        for (text, why) in [
            ("", "`` is no number"),
            ("0,,1", "`` is no number"),
            ("a", "`a` is no number"),
            ("-1", "`` is no number"),
            ("3-1", "3-1 counts down"),
            ("0-4000000000", "4000000000 is beyond 1023"),
            ("1-2-3", "`2-3` is no number"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(why) && error.contains("such as 0,2-3"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(
            cpus in proptest::collection::btree_set(0..=LAST_CPU, 1..40),
        ) {
            let list = CpuList(cpus);
            prop_assert_eq!(read(&list.to_string()), Ok(list));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9, -]{0,20}|.*") {
            let _ = read(&text);
        }
    }
}
