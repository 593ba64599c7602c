//! Notices a script that does not come back: a thread that is inside it can do nothing else, and
//! nobody can take it out again.

use crate::progress::RunProgress;
use dbtime_engines::drive::plan::{LoadPlan, RunStop};
use dbtime_load::script::{EndCondition, Script, ScriptVisit};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the scripts are looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A script that has not come back for so long is reported, and again each time that has doubled.
const REPORT_AFTER: Nanos = Nanos::from_secs(3);

/// How long the script of a load may compute on when it is to end: what its run has measured is
/// lost with it. One that has come back before has twice the longest time that it took besides.
const LOAD_PATIENCE: Nanos = Nanos::from_secs(3);

/// The same of a script that is run for something else.
const END_PATIENCE: Nanos = Nanos::from_secs(1);

/// What a script is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptUse {
    /// A load: what was under way when it was to end has a moment to come to its end.
    Load,
    /// To make tables for a run.
    Preparation,
    /// By itself, by so many clients: whoever ends it waits for nothing else.
    Command { clients: u32 },
}

impl ScriptUse {
    fn is_command(self) -> bool {
        matches!(self, Self::Command { .. })
    }

    /// How long it may compute on when it is to end.
    fn patience(self) -> Nanos {
        if self == Self::Load { LOAD_PATIENCE } else { END_PATIENCE }
    }
}

/// Watches the script of a plan, where it has one.
pub(crate) struct ScriptWatchdog<'a> {
    /// What is driven.
    pub(crate) plan: &'a LoadPlan,
    pub(crate) script_use: ScriptUse,
    /// Ends it.
    pub(crate) stop: &'a RunStop,
    /// Is told of clients whose script does not come back.
    pub(crate) progress: &'a (dyn Fn(RunProgress) + Sync),
}

impl ScriptWatchdog<'_> {
    /// Does something with the plan, and watches meanwhile.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(script) = self.plan.workload.script.clone() else { return work() };
        script.heed(end_condition(&script, self.stop));
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let watch = move || {
                let (mut seen, mut spans) = (HashMap::new(), ComputingSpans::default());
                while is_done.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    let (inside, present) = (script.inside(), now());
                    for (client, length) in overdue_scripts(&mut seen, &inside, present) {
                        let is_awaited =
                            |visit: &ScriptVisit| visit.client == client && visit.awaits_program;
                        let awaits_program = inside.iter().any(is_awaited);
                        let program = script.awaited_program(client);
                        (self.progress)(self.overdue(client, length, awaits_program, program));
                    }
                    spans.look(&inside, present);
                    if let Some(client) =
                        spans.deaf_client(self.stop, self.script_use.patience(), present)
                    {
                        (self.progress)(self.deaf(client));
                    }
                }
            };
            let watcher = std::thread::Builder::new().name("script watch".to_owned());
            // Without a thread for it nobody watches, and the work goes on.
            let watcher = watcher.spawn_scoped(scope, watch);
            let result = work();
            drop(done);
            drop(watcher);
            result
        })
    }

    fn overdue(
        &self,
        client: u32,
        length: Nanos,
        awaits_program: bool,
        program: Option<String>,
    ) -> RunProgress {
        let is_alone = self.script_use == ScriptUse::Command { clients: 1 };
        let is_named = !is_alone && client != ScriptVisit::NO_CLIENT;
        let client = is_named.then_some(client);
        RunProgress::ScriptOverdue { client, length, awaits_program, program }
    }

    fn deaf(&self, client: u32) -> RunProgress {
        RunProgress::ScriptDeaf { client: (!self.script_use.is_command()).then_some(client) }
    }
}

/// When a script starts no more programs, and comes no further than to a pause: as soon as its run
/// is to end. Where one client's failure ends it, the others have a moment for what they are at.
fn end_condition(script: &Arc<dyn Script>, stop: &RunStop) -> EndCondition {
    // The script keeps it, and would keep itself.
    let (script, stop) = (Arc::downgrade(script), stop.clone());
    EndCondition::new(move || {
        let present = now();
        let has_failed = || script.upgrade().is_some_and(|script| script.stop_reason().is_some());
        stop.is_late(present) || stop.has_come(present) && !has_failed()
    })
}

/// Since when a client is inside, the number it went in with, and when to tell of it next.
type ClientVisit = (MonoNanos, u64, Nanos);

fn overdue_scripts(
    seen: &mut HashMap<u32, ClientVisit>,
    inside: &[ScriptVisit],
    present: MonoNanos,
) -> Vec<(u32, Nanos)> {
    let is_inside = |of: u32, nth: u64| inside.iter().any(|at| (at.client, at.number) == (of, nth));
    seen.retain(|client, (_, number, _)| is_inside(*client, *number));
    let mut overdue = Vec::new();
    for &ScriptVisit { client, number, .. } in inside {
        let (since, _, report_at) = seen.entry(client).or_insert((present, number, REPORT_AFTER));
        let length = present - *since;
        if length >= *report_at {
            *report_at = Nanos(report_at.0 * 2);
            overdue.push((client, length));
        }
    }
    overdue
}

/// How long scripts compute: what waits for a program that it has started is waited for.
#[derive(Debug, Default)]
pub struct ComputingSpans {
    /// What each client is at, when that was seen first, and when last.
    present: HashMap<u32, (ScriptVisit, MonoNanos, MonoNanos)>,
    /// How long the longest that has ended was seen.
    longest: Nanos,
}

impl ComputingSpans {
    /// Notes who is inside.
    pub fn look(&mut self, inside: &[ScriptVisit], present: MonoNanos) {
        let longest = &mut self.longest;
        self.present.retain(|_, (visit, first, last)| {
            let goes_on = inside.contains(visit);
            if !goes_on {
                *longest = (*longest).max(*last - *first);
            }
            goes_on
        });
        for visit in inside.iter().filter(|visit| !visit.awaits_program) {
            let span = self.present.entry(visit.client).or_insert((*visit, present, present));
            span.2 = present;
        }
    }

    /// A client whose script is to end, and has not come back since for too long.
    pub fn deaf_client(&self, stop: &RunStop, patience: Nanos, present: MonoNanos) -> Option<u32> {
        if !stop.is_set() {
            return None;
        }
        let patience = patience + self.longest + self.longest;
        let is_deaf = |first: MonoNanos| present - first.max(stop.instant()) >= patience;
        self.present.iter().find_map(|(client, (_, first, _))| is_deaf(*first).then_some(*client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::script::ProgramFactory;

    fn visit((client, number): (u32, u64)) -> ScriptVisit {
        ScriptVisit { client, number, awaits_program: false }
    }

    fn at(ms: u64) -> MonoNanos {
        MonoNanos(ms * 1_000_000)
    }

    #[test]
    fn a_script_that_is_to_end_may_wait_for_a_program_and_not_compute_for_ever() {
        let (stop, mut spans) = (RunStop::default(), ComputingSpans::default());
        let mut deaf = |inside: &[ScriptVisit], stop: &RunStop, ms: u64| {
            spans.look(inside, at(ms));
            spans.deaf_client(stop, END_PATIENCE, at(ms))
        };
        let computes = [visit((3, 1))];
        let waits = [ScriptVisit { awaits_program: true, ..computes[0] }];
        assert_eq!(deaf(&waits, &stop, 0), None);
        assert_eq!(deaf(&waits, &stop, 9_000), None);
        assert_eq!(deaf(&computes, &stop, 9_500), None);
        assert_eq!(deaf(&computes, &stop, 10_000), None, "it is not to end yet");
        stop.at(at(10_200));
        assert_eq!(deaf(&computes, &stop, 11_000), None, "it has a second from then on");
        assert_eq!(deaf(&computes, &stop, 11_200), Some(3));
        assert_eq!(deaf(&waits, &stop, 11_500), None, "a program");
        // It was seen for 1.7 s, and has twice that time besides, whatever else is inside.
        let both = [visit((1, 1)), computes[0]];
        assert_eq!(deaf(&computes, &stop, 12_000), None);
        assert_eq!(deaf(&both, &stop, 16_399), None);
        assert_eq!(deaf(&both, &stop, 16_400), Some(3));
    }

    #[test]
    fn a_script_that_has_come_back_after_long_has_twice_that_time_besides() {
        let (stop, mut spans) = (RunStop::default(), ComputingSpans::default());
        let mut deaf = |nth: u64, ms: u64| {
            spans.look(&[visit((0, nth))], at(ms));
            spans.deaf_client(&stop, END_PATIENCE, at(ms))
        };
        stop.at(at(0));
        assert_eq!([deaf(1, 0), deaf(1, 500), deaf(2, 1_000)], [None; 3]);
        // It was seen for 500 ms.
        assert_eq!([deaf(2, 2_000), deaf(2, 2_999)], [None; 2]);
        assert_eq!(deaf(2, 3_000), Some(0));
    }

    /// A script that is not driven.
    #[derive(Debug)]
    struct IdleScript {
        failure: Option<&'static str>,
    }

    impl Script for IdleScript {
        fn factory_for_thread(&self, _: u32) -> Result<Box<dyn ProgramFactory>, String> {
            Err("it is not driven".to_owned())
        }

        fn stop_reason(&self) -> Option<String> {
            self.failure.map(str::to_owned)
        }
    }

    #[test]
    fn a_script_comes_no_further_once_it_is_to_end() {
        let script = |failure| -> Arc<dyn Script> { Arc::new(IdleScript { failure }) };
        let (scripts, stop) = ([script(None), script(Some("no"))], RunStop::default());
        let conditions = scripts.each_ref().map(|script| end_condition(script, &stop));
        let are_met = || conditions.each_ref().map(EndCondition::is_met);
        assert_eq!(are_met(), [false; 2]);
        // So late that the instant cannot have come, however busy the machine is.
        stop.at(now() + Nanos::from_secs(3600));
        assert_eq!(are_met(), [false; 2]);
        // Behind the failure of one client others have a moment.
        stop.at(now());
        let [is_met, is_met_by_failure] = are_met();
        assert!(is_met && (!is_met_by_failure || stop.is_late(now())));
        stop.at(MonoNanos(0));
        assert_eq!(are_met(), [true; 2]);
    }

    #[test]
    fn whoever_comes_back_is_not_stuck() {
        let mut seen = HashMap::new();
        let at = |s: u64| at(1000 * s);
        let secs = Nanos::from_secs;
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1), (1, 1)].map(visit), at(1)), []);
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1), (1, 2)].map(visit), at(4)), [(0, secs(3))]);
        assert_eq!(
            overdue_scripts(&mut seen, &[(0, 1), (1, 2)].map(visit), at(5)),
            [],
            "told before"
        );
        assert_eq!(
            overdue_scripts(&mut seen, &[(0, 1), (1, 2)].map(visit), at(7)),
            [(0, secs(6)), (1, secs(3))]
        );
        assert_eq!(overdue_scripts(&mut seen, &[], at(8)), []);
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1)].map(visit), at(99)), [], "went in anew");
    }
}
