//! Throughput at equal intervals, of requests that are over one after another.

use crate::format::counted;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::{MonoNanos, Nanos};
use std::fmt::Write;

/// How many intervals with nothing in them have a line each; more in a row have one together.
const MOST_QUIET: u64 = 20;

/// Counts statements, and has a line for each interval that is over.
#[derive(Debug)]
pub struct ThroughputTicks {
    since: MonoNanos,
    every: Nanos,
    /// When the present interval is over.
    due: MonoNanos,
    count: u64,
}

impl ThroughputTicks {
    /// Intervals of this length, from the beginning of the watching on.
    pub fn new(since: MonoNanos, every: Nanos) -> Self {
        // Of no length there would be no end of them.
        let every = every.max(Nanos(1));
        Self { since, every, due: since + every, count: 0 }
    }

    /// Takes a request that ended then, and may be a statement; appends the lines of what was over
    /// by then.
    pub fn take(&mut self, ended: MonoNanos, is_statement: bool, lines: &mut String) {
        if ended >= self.due {
            self.line(lines);
            let quiet = match ended >= self.due {
                true => (ended - self.due).0 / self.every.0 + 1,
                false => 0,
            };
            match quiet <= MOST_QUIET {
                true => (0..quiet).for_each(|_| self.line(lines)),
                false => self.quiet_line(quiet, lines),
            }
        }
        self.count += u64::from(is_statement);
    }

    /// Of the interval that is over now.
    fn line(&mut self, lines: &mut String) {
        let (at, rate) = (self.due_s(), self.count as f64 / self.every.as_secs());
        // Writing into a `String` cannot fail.
        let _ = writeln!(lines, "{at:>18.1} s   throughput {rate:.0} queries/sec");
        (self.due, self.count) = (self.due + self.every, 0);
    }

    /// Of so many intervals with nothing in them.
    fn quiet_line(&mut self, intervals: u64, lines: &mut String) {
        let from = self.due_s() - self.every.as_secs();
        self.due = self.due + Nanos(self.every.0.saturating_mul(intervals - 1));
        let at = self.due_s();
        let _ = writeln!(lines, "{at:>18.1} s   throughput 0 queries/sec since {from:.1} s");
        self.due = self.due + self.every;
    }

    fn due_s(&self) -> f64 {
        (self.due - self.since).as_secs()
    }
}

/// A line on what the intervals of a recording lack: requests that it has in its sums alone.
pub fn throughput_gap(ledger: &TraceLedger) -> Option<String> {
    let missing = ledger.dropped.saturating_add(ledger.not_streamed);
    (missing > 0).then(|| {
        let missing = counted(missing, "request");
        format!("throughput is without {missing} that the recording has in its sums alone\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(every: u64, ends: &[u64]) -> String {
        let mut ticks = ThroughputTicks::new(MonoNanos(0), Nanos(every));
        let mut lines = String::new();
        ends.iter().for_each(|end| ticks.take(MonoNanos(*end), true, &mut lines));
        lines
    }

    #[test]
    fn each_interval_has_a_line_and_a_long_silence_one() {
        const SECOND: u64 = 1_000_000_000;
        let text = lines(SECOND, &[1, 2, SECOND, 3 * SECOND + 1]);
        let line = |at: &str, rest: &str| format!("{at:>18} s   throughput {rest}\n");
        let expected = [("1.0", "2"), ("2.0", "1"), ("3.0", "0")];
        let expected = expected.map(|(at, rate)| line(at, &format!("{rate} queries/sec")));
        assert_eq!(text, expected.concat());
        let text = lines(SECOND, &[1, 100 * SECOND + 1, 101 * SECOND]);
        let expected = [
            line("1.0", "1 queries/sec"),
            line("100.0", "0 queries/sec since 1.0 s"),
            line("101.0", "1 queries/sec"),
        ];
        assert_eq!(text, expected.concat());
    }

    #[test]
    fn requests_that_were_only_counted_are_told_to_be_in_no_interval() {
        assert_eq!(throughput_gap(&TraceLedger::default()), None);
        let ledger = TraceLedger { dropped: 1_200, not_streamed: 34, ..TraceLedger::default() };
        let gap = throughput_gap(&ledger).expect("a line");
        assert!(gap.starts_with("throughput is without 1,234 requests that"), "{gap}");
    }

    proptest! {
        #[test]
        fn no_instant_has_many_lines(
            every in prop_oneof![0u64..3, any::<u64>()],
            ends in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX)], 1..20),
        ) {
            let lines = lines(every, &ends).lines().count();
            prop_assert!(lines <= ends.len() * (2 + MOST_QUIET as usize), "{}", lines);
        }
    }
}
