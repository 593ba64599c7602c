//! Notices a script that does not come back: a thread that is inside it can do nothing else, and
//! nobody can take it out again.

use crate::progress::RunProgress;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the scripts are looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A script that has not come back for so long is reported, and again each time that has doubled.
const REPORT_AFTER: Nanos = Nanos::from_secs(3);

/// Does something with a plan, and meanwhile tells of clients whose script does not come back.
pub(crate) fn with_watchdog<T>(
    plan: &LoadPlan,
    progress: &(dyn Fn(RunProgress) + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let Some(script) = plan.workload.script.clone() else { return work() };
    std::thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let watch = move || {
            let mut seen = HashMap::new();
            while is_done.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                for (client, overdue) in overdue_scripts(&mut seen, &script.inside(), now()) {
                    progress(RunProgress::ScriptOverdue { client, length: overdue });
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

/// Since when a client is inside, the number it went in with, and when to tell of it next.
type ClientVisit = (MonoNanos, u64, Nanos);

fn overdue_scripts(
    seen: &mut HashMap<u32, ClientVisit>,
    inside: &[(u32, u64)],
    present: MonoNanos,
) -> Vec<(u32, Nanos)> {
    seen.retain(|client, (_, number, _)| inside.contains(&(*client, *number)));
    let mut overdue = Vec::new();
    for &(client, number) in inside {
        let (since, _, report_at) = seen.entry(client).or_insert((present, number, REPORT_AFTER));
        let length = present - *since;
        if length >= *report_at {
            *report_at = Nanos(report_at.0 * 2);
            overdue.push((client, length));
        }
    }
    overdue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_back_is_not_stuck() {
        let mut seen = HashMap::new();
        let at = |s: u64| MonoNanos(s * 1_000_000_000);
        let secs = Nanos::from_secs;
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1), (1, 1)], at(1)), []);
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1), (1, 2)], at(4)), [(0, secs(3))]);
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1), (1, 2)], at(5)), [], "told before");
        assert_eq!(
            overdue_scripts(&mut seen, &[(0, 1), (1, 2)], at(7)),
            [(0, secs(6)), (1, secs(3))]
        );
        assert_eq!(overdue_scripts(&mut seen, &[], at(8)), []);
        assert_eq!(overdue_scripts(&mut seen, &[(0, 1)], at(99)), [], "went in anew");
    }
}
