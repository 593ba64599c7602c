//! What a run is at, and how far: the text of its progress, as a function of what is known and the
//! time.

use crate::live::rough;
use dbtime_lab::RunProgress;
use dbtime_lab::progress::SecondSeen;
use dbtime_model::units::{human_ns, three_digits};
use dbtime_model::{LoginCount, MonoNanos, Nanos, PhaseInstant, RunPhase};

/// An estimate goes by at least so long a time.
const FIRST_ESTIMATE: Nanos = Nanos::from_secs(1);

/// Loading that brings nothing new for so long waits for its server.
const SILENCE: Nanos = Nanos::from_secs(10);

/// How a run stands.
pub(crate) struct ProgressPhase {
    /// The latest that is known, and since when.
    latest: Option<RunProgress>,
    latest_at: MonoNanos,
    /// Since when it has been at this: the table, the search, the load.
    since: MonoNanos,
    /// Warm-up and whole length of the load, in seconds; `None` while unknown.
    plan: (f64, Option<f64>),
    /// Transactions wanted, where their number ends the load, and those that have ended.
    transactions: Option<u64>,
    ended: u64,
    /// How far its connections are, where some wait to be let in.
    logins: Option<LoginCount>,
}

impl ProgressPhase {
    /// Before anything is known.
    pub(crate) fn new(at: MonoNanos) -> Self {
        Self {
            latest: None,
            latest_at: at,
            since: at,
            plan: (0.0, None),
            transactions: None,
            ended: 0,
            logins: None,
        }
    }

    /// Whether connections wait to be let in.
    pub(crate) fn awaits_logins(&self) -> bool {
        self.logins.is_some()
    }

    /// Takes what has become known at this instant.
    pub(crate) fn advance(&mut self, progress: &RunProgress, at: MonoNanos) {
        self.logins = None;
        if let RunProgress::Connecting(count) = progress {
            // What it is at stays what it was.
            self.logins = Some(*count).filter(|count| count.waiting() > 0);
            return;
        }
        let goes_on = match (&self.latest, progress) {
            (
                Some(RunProgress::Loading { table: before, .. }),
                RunProgress::Loading { table: present, .. },
            ) => before == present,
            (_, RunProgress::Second(_)) => true,
            (_, RunProgress::Phase(PhaseInstant { phase, .. })) => *phase != RunPhase::Started,
            _ => false,
        };
        if !goes_on {
            self.since = at;
        }
        match progress {
            RunProgress::Planned { warmup, measure, transactions } => {
                let length = measure.map(|measure| (*warmup + measure).as_secs());
                self.plan = (warmup.as_secs(), length);
                (self.transactions, self.ended) = (*transactions, 0);
            }
            RunProgress::Second(seen) => self.ended += seen.completed + seen.failed,
            _ => {}
        }
        // Of the phases the start of the load is news to those who wait.
        if !matches!(progress, RunProgress::Phase(instant) if instant.phase != RunPhase::Started) {
            (self.latest, self.latest_at) = (Some(progress.clone()), at);
        }
    }

    /// What to show at this instant; on a terminal with a bar.
    pub(crate) fn line(&self, with_bar: bool, at: MonoNanos) -> String {
        let elapsed = at - self.since;
        if let Some(count) = self.logins {
            return format!("connecting, {}: {}", seconds(elapsed), logins(count));
        }
        match &self.latest {
            None => format!("preparing, {}", seconds(elapsed)),
            Some(RunProgress::Server { step }) => format!("{step}, {}", seconds(elapsed)),
            Some(RunProgress::Loading { table, done, total }) => {
                let bar = bar(with_bar, *done as f64, *total as f64);
                let silence = at - self.latest_at;
                let left = match silence >= SILENCE {
                    true => format!(", no answer for {}", seconds(silence)),
                    false => left(elapsed, *done as f64, *total as f64),
                };
                format!("loading {table}{bar} {done} of {total} rows{left}")
            }
            Some(RunProgress::Building { statement }) => {
                format!("waiting for {statement}, {}", seconds(elapsed))
            }
            Some(RunProgress::FlatOut { length }) => {
                let (done, total) = (elapsed.as_secs().min(length.as_secs()), length.as_secs());
                let bar = bar(with_bar, done, total);
                format!("finding the flat-out rate{bar} {done:.0} of {total:.0} s")
            }
            Some(RunProgress::Rate { flat_out_tps, offered_tps }) => format!(
                "flat out {}/s, offering {}/s",
                three_digits(*flat_out_tps),
                three_digits(*offered_tps)
            ),
            Some(RunProgress::Planned { .. } | RunProgress::Connecting(_)) => {
                format!("connecting, {}", seconds(elapsed))
            }
            Some(
                RunProgress::Phase(_)
                | RunProgress::ScriptOverdue { .. }
                | RunProgress::ScriptDeaf { .. },
            ) => format!("driving, {}", seconds(elapsed)),
            Some(RunProgress::Second(seen)) => self.second(seen, with_bar, elapsed),
        }
    }

    fn second(&self, seen: &SecondSeen, with_bar: bool, elapsed: Nanos) -> String {
        let (warmup, length) = self.plan;
        let second = f64::from(seen.second) + 1.0;
        let phase = match length {
            _ if second <= warmup => "warm-up",
            Some(length) if second > length => "rundown",
            _ => "measuring",
        };
        let course = match (length, self.transactions) {
            (_, Some(all)) => {
                let (done, total) = (self.ended.min(all) as f64, all as f64);
                let bar = bar(with_bar, done, total);
                format!("{bar} {done} of {all} transactions{}", left(elapsed, done, total))
            }
            (Some(length), None) => {
                let bar = bar(with_bar, second, length);
                let left = rough(Nanos::from_secs_f64((length - second).max(0.0)));
                format!("{bar} {second:.0} of {length:.0} s, {left} left")
            }
            (None, None) => format!(" {second:.0} s"),
        };
        let failed = match seen.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!(
            "{phase}{course}, {}/s, p50 {}, p99 {}{failed}",
            seen.completed,
            human_ns(seen.p50.0 as f64),
            human_ns(seen.p99.0 as f64),
        )
    }
}

/// How far connections are of which some wait.
pub(crate) fn logins(count: LoginCount) -> String {
    let LoginCount { up, refused, all } = count;
    let refused = match refused {
        0 => String::new(),
        refused => format!(", {refused} refused"),
    };
    format!(
        "{up} of {all} connections have logged in{refused}; waiting for the server, or a pooler \
         before it, to let {} more in",
        count.waiting()
    )
}

fn seconds(length: Nanos) -> String {
    format!("{} s", length.as_secs().floor())
}

/// What is left, by what is done.
fn left(elapsed: Nanos, done: f64, total: f64) -> String {
    if elapsed < FIRST_ESTIMATE || done <= 0.0 || done >= total {
        return String::new();
    }
    let left = elapsed.as_secs() * (total - done) / done;
    format!(", {} left", rough(Nanos::from_secs_f64(left)))
}

fn bar(has_bar: bool, done: f64, total: f64) -> String {
    const WIDTH: usize = 20;
    if !has_bar {
        return String::new();
    }
    let share = if total > 0.0 { (done / total).clamp(0.0, 1.0) } else { 0.0 };
    let full = (share * WIDTH as f64).round() as usize;
    format!(" [{}{}]", "#".repeat(full), ".".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> MonoNanos {
        MonoNanos(s * 1_000_000_000)
    }

    fn loading(table: &str, done: u64) -> RunProgress {
        RunProgress::Loading { table: table.to_owned(), done, total: 1000 }
    }

    fn planned(measure: Option<Nanos>, transactions: Option<u64>) -> RunProgress {
        RunProgress::Planned { warmup: Nanos::from_secs(3), measure, transactions }
    }

    fn reached(phase: RunPhase, s: u64) -> RunProgress {
        RunProgress::Phase(PhaseInstant { phase, at: at(s) })
    }

    fn second(second: u32) -> RunProgress {
        let (p50, p99) = (Nanos::from_micros(200), Nanos::from_millis(3));
        RunProgress::Second(SecondSeen { second, completed: 500, failed: 0, p50, p99 })
    }

    #[test]
    fn loading_says_what_is_left_of_a_table() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&loading("a", 900), at(1));
        phase.advance(&loading("b", 10), at(100));
        assert_eq!(phase.line(false, at(100)), "loading b 10 of 1000 rows");
        phase.advance(&loading("b", 250), at(110));
        assert_eq!(phase.line(false, at(110)), "loading b 250 of 1000 rows, 30 s left");
        let bar = "loading b [#####...............] 250 of 1000 rows, 30 s left";
        assert_eq!(phase.line(true, at(110)), bar);
    }

    #[test]
    fn loading_says_since_when_it_waits() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&loading("a", 250), at(1));
        assert_eq!(phase.line(false, at(10)), "loading a 250 of 1000 rows, 27 s left");
        let waits = "loading a 250 of 1000 rows, no answer for 11 s";
        assert_eq!(phase.line(false, at(12)), waits);
        let statement = "CREATE INDEX i ON a".to_owned();
        phase.advance(&RunProgress::Building { statement }, at(20));
        assert_eq!(phase.line(false, at(95)), "waiting for CREATE INDEX i ON a, 75 s");
    }

    #[test]
    fn a_load_says_what_is_left_of_warm_up_and_window() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&planned(Some(Nanos::from_secs(20)), None), at(0));
        assert_eq!(phase.line(false, at(1)), "connecting, 1 s");
        phase.advance(&reached(RunPhase::Started, 2), at(2));
        assert_eq!(phase.line(false, at(3)), "driving, 1 s");
        phase.advance(&reached(RunPhase::WindowBegan, 3), at(3));
        assert_eq!(phase.line(false, at(4)), "driving, 2 s");
        let line = |phase: &mut ProgressPhase, s| {
            phase.advance(&second(s), at(u64::from(s) + 1));
            phase.line(false, at(u64::from(s) + 1))
        };
        let figures = "500/s, p50 200 µs, p99 3.00 ms";
        assert_eq!(line(&mut phase, 1), format!("warm-up 2 of 23 s, 21 s left, {figures}"));
        assert_eq!(line(&mut phase, 9), format!("measuring 10 of 23 s, 13 s left, {figures}"));
        assert_eq!(line(&mut phase, 23), format!("rundown 24 of 23 s, 0 s left, {figures}"));
    }

    #[test]
    fn logins_that_wait_are_counted() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&planned(Some(Nanos::from_secs(20)), None), at(0));
        let waits = LoginCount { up: 3, refused: 0, all: 64 };
        phase.advance(&RunProgress::Connecting(waits), at(2));
        assert!(phase.awaits_logins());
        let line = "connecting, 12 s: 3 of 64 connections have logged in; waiting for the server, \
                    or a pooler before it, to let 61 more in";
        assert_eq!(phase.line(false, at(12)), line);
        phase.advance(&RunProgress::Connecting(LoginCount { refused: 1, ..waits }), at(13));
        let line = phase.line(true, at(13));
        assert!(line.contains(" in, 1 refused; ") && line.ends_with(" 60 more in"), "{line}");
        phase.advance(&RunProgress::Connecting(LoginCount { refused: 61, ..waits }), at(14));
        assert!(!phase.awaits_logins(), "none waits any more");
        assert_eq!(phase.line(false, at(15)), "connecting, 15 s");
        phase.advance(&RunProgress::Connecting(waits), at(16));
        phase.advance(&reached(RunPhase::Started, 17), at(17));
        assert_eq!(phase.line(false, at(18)), "driving, 1 s");
        // Before a rate is found too, and that goes on as it was.
        phase.advance(&RunProgress::FlatOut { length: Nanos::from_secs(4) }, at(20));
        phase.advance(&RunProgress::Connecting(waits), at(22));
        phase.advance(&RunProgress::Connecting(LoginCount { up: 64, ..waits }), at(23));
        assert_eq!(phase.line(false, at(23)), "finding the flat-out rate 3 of 4 s");
    }

    #[test]
    fn a_number_of_transactions_is_counted() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&planned(None, Some(2000)), at(0));
        phase.advance(&second(0), at(1));
        let line = phase.line(true, at(1));
        assert!(
            line.contains(" [#####...............] 500 of 2000 transactions, 3 s left"),
            "{line}"
        );
    }

    #[test]
    fn what_brings_no_news_shows_its_time() {
        let mut phase = ProgressPhase::new(at(0));
        phase.advance(&RunProgress::Server { step: "starting MariaDB".to_owned() }, at(0));
        assert_eq!(phase.line(true, at(12)), "starting MariaDB, 12 s");
        phase.advance(&RunProgress::FlatOut { length: Nanos::from_secs(4) }, at(20));
        assert_eq!(phase.line(false, at(23)), "finding the flat-out rate 3 of 4 s");
    }
}
