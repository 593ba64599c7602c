//! Why runs of a sweep or a search ended as they did: each reason once, with how many runs had it.

use dbtime_model::units::counted;

/// The reasons so far, in the order in which they came up.
#[derive(Default)]
pub(super) struct RunReasons(Vec<(String, u64)>);

impl RunReasons {
    /// Takes the reason of one more run.
    pub(super) fn add(&mut self, reason: &str) {
        match self.0.iter_mut().find(|(known, _)| known == reason) {
            Some((_, runs)) => *runs += 1,
            None => self.0.push((reason.to_owned(), 1)),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(reason, runs)| format!("{}: {reason}", counted(*runs, "run")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_runs_have_in_common_is_said_once() {
        let mut reasons = RunReasons::default();
        for reason in ["too late", "lost", "too late"] {
            reasons.add(reason);
        }
        assert!(reasons.lines().eq(["2 runs: too late", "1 run: lost"]));
    }
}
