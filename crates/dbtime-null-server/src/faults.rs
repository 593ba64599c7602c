//! What a null server does wrong, and when: a pure function of how many statements it has seen.

use dbtime_model::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a null server does wrong. Only statements that give a row are counted and can be hit:
/// logging in, preparing, transactions and settings always succeed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSchedule {
    /// Every answer comes so late; others are not held up by it.
    pub delay: Option<Nanos>,
    /// It stands still once.
    pub stall: Option<ServerStall>,
    /// One statement in so many fails.
    pub fail_every: Option<u64>,
    /// With this number on MySQL's protocol.
    pub mysql_error: u16,
    /// And with this SQLSTATE on PostgreSQL's.
    pub postgres_error: String,
    /// Instead of one answer in so many the connection is closed.
    pub close_every: Option<u64>,
}

/// Nothing goes wrong; the errors are those of a deadlock.
impl Default for FaultSchedule {
    fn default() -> Self {
        Self {
            delay: None,
            stall: None,
            fail_every: None,
            mysql_error: 1213,
            postgres_error: "40P01".to_owned(),
            close_every: None,
        }
    }
}

/// The thread that serves a statement does nothing for a time, for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerStall {
    /// Before it answers this statement, counted from 1.
    pub at: u64,
    /// For so long.
    pub length: Nanos,
}

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultAction {
    Answered,
    Failed,
    /// Its connection is closed.
    Closed,
}

/// Counts statements, and says what becomes of each.
pub(crate) struct FaultPlan {
    pub(crate) faults: FaultSchedule,
    seen: AtomicU64,
}

impl FaultPlan {
    pub(crate) fn new(faults: FaultSchedule) -> Self {
        Self { faults, seen: AtomicU64::new(0) }
    }

    /// Statements so far.
    pub(crate) fn count(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// What becomes of the next statement. Comes back late when it is time to stand still.
    #[inline]
    pub(crate) fn next(&self) -> FaultAction {
        let number = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(stall) = self.faults.stall.filter(|stall| stall.at == number) {
            std::thread::sleep(Duration::from_nanos(stall.length.0));
        }
        self.action_of(number)
    }

    fn action_of(&self, number: u64) -> FaultAction {
        let hits = |every: Option<u64>| every.is_some_and(|every| number.is_multiple_of(every));
        match (hits(self.faults.close_every), hits(self.faults.fail_every)) {
            (true, _) => FaultAction::Closed,
            (false, true) => FaultAction::Failed,
            (false, false) => FaultAction::Answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_follow_from_the_count() {
        let faults =
            FaultSchedule { fail_every: Some(2), close_every: Some(3), ..FaultSchedule::default() };
        let plan = FaultPlan::new(faults);
        let actions: Vec<FaultAction> = (0..6).map(|_| plan.next()).collect();
        use FaultAction::{Answered, Closed, Failed};
        assert_eq!(actions, [Answered, Failed, Closed, Failed, Answered, Closed]);
        assert_eq!(plan.count(), 6);
    }

    #[test]
    fn it_stands_still_once() {
        let length = Nanos::from_millis(30);
        let stall = Some(ServerStall { at: 2, length });
        let plan = FaultPlan::new(FaultSchedule { stall, ..FaultSchedule::default() });
        let begun = dbtime_machine::now();
        plan.next();
        plan.next();
        assert!(dbtime_machine::now() - begun >= length);
    }
}
