//! Progress on stderr: on a terminal one line that is written over, elsewhere a line every ten
//! seconds.

use crate::exit::ProcessExit;
use crate::live_phase::{ProgressPhase, logins};
use crate::{interrupt, screen};
use dbtime_lab::RunProgress;
use dbtime_machine::now;
use dbtime_model::units::human_ns;
use dbtime_model::{LoginCount, MonoNanos, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a terminal is brought up to date where nothing new is known but the time.
const EVERY_SECOND: Duration = Duration::from_secs(1);

/// How often a line is written elsewhere, as into the log of a job.
const EVERY_TEN_SECONDS: Duration = Duration::from_secs(10);

/// Where progress goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressAudience {
    /// A terminal: a line with a bar, written over.
    Terminal,
    /// A file or a pipe: lines.
    Log,
    /// Nobody: `--quiet`.
    Nobody,
}

impl ProgressAudience {
    /// Who looks at stderr.
    pub(crate) fn of(is_quiet: bool) -> Self {
        match (is_quiet, screen::has_audience()) {
            (true, _) => Self::Nobody,
            (false, true) => Self::Terminal,
            (false, false) => Self::Log,
        }
    }
}

/// Shows the progress of one run, or of several behind each other, until it is dropped.
pub(crate) struct LiveProgress {
    audience: ProgressAudience,
    course: Arc<Mutex<ProgressState>>,
    /// Wakes up where nothing happens for long.
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

/// More runs than there can be: their number is not known before.
const UNKNOWN_RUNS: usize = usize::MAX;

impl LiveProgress {
    /// The progress of one thing.
    pub(crate) fn new(audience: ProgressAudience) -> Self {
        Self::of_runs(audience, 1)
    }

    /// The progress of runs of which nobody knows how many there will be.
    pub(crate) fn of_search(audience: ProgressAudience) -> Self {
        Self::of_runs(audience, UNKNOWN_RUNS)
    }

    /// The progress of so many runs.
    pub(crate) fn of_runs(audience: ProgressAudience, runs: usize) -> Self {
        let course = Arc::new(Mutex::new(ProgressState::new(runs, now())));
        let seen = Arc::clone(&course);
        let ticker = match audience {
            ProgressAudience::Nobody => None,
            ProgressAudience::Terminal => {
                ticker(EVERY_SECOND, move || draw(audience, &locked(&seen)))
            }
            ProgressAudience::Log => {
                ticker(EVERY_TEN_SECONDS, move || draw(audience, &locked(&seen)))
            }
        };
        Self { audience, course, ticker }
    }

    /// The next run begins, the first included.
    pub(crate) fn next_run(&self) {
        locked(&self.course).next_run(now());
    }

    /// Of the runs that are to come only so many of so many are made.
    pub(crate) fn fewer_runs(&self, made: usize, of: usize) {
        locked(&self.course).fewer_runs(made, of);
    }

    /// So many runs are to come behind the present one.
    pub(crate) fn runs_to_come(&self, runs: usize) {
        locked(&self.course).runs_to_come(runs);
    }

    /// Shows one thing.
    pub(crate) fn show(&self, progress: &RunProgress) {
        if show_script_state(progress) {
            return;
        }
        let mut course = locked(&self.course);
        let has_waited = course.phase.awaits_logins();
        course.phase.advance(progress, now());
        let is_news = match self.audience {
            ProgressAudience::Terminal => true,
            // Once at once: in a log the run would look stuck.
            ProgressAudience::Log => course.phase.awaits_logins() && !has_waited,
            ProgressAudience::Nobody => false,
        };
        if is_news {
            draw(self.audience, &course);
        }
    }
}

impl Drop for LiveProgress {
    /// Leaves the line empty for what follows.
    fn drop(&mut self) {
        if let Some((wake, thread)) = self.ticker.take() {
            drop(wake);
            // It has only drawn: a panic in there was printed.
            let _ = thread.join();
        }
        if self.audience == ProgressAudience::Terminal {
            screen::status("");
        }
    }
}

/// Shows logins that wait, beside the output of another tool, which says nothing of them.
#[derive(Default)]
pub(crate) struct LoginNotice {
    is_shown: AtomicBool,
}

impl LoginNotice {
    /// On a terminal it is one line, which is empty again in the end; elsewhere it is told once.
    pub(crate) fn show(&self, count: LoginCount) {
        let text = match count.waiting() {
            0 => String::new(),
            _ => format!("dbtime: connecting: {}", logins(count)),
        };
        if screen::has_audience() {
            screen::status(&text);
        } else if !text.is_empty() && !self.is_shown.swap(true, Ordering::Relaxed) {
            screen::note(&text);
        }
    }
}

fn locked(course: &Mutex<ProgressState>) -> MutexGuard<'_, ProgressState> {
    course.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn draw(audience: ProgressAudience, course: &ProgressState) {
    match audience {
        ProgressAudience::Terminal => screen::status(&course.line(audience, now())),
        ProgressAudience::Log => screen::progress(&course.line(audience, now())),
        ProgressAudience::Nobody => {}
    }
}

/// Calls something at this interval until its sender is dropped.
fn ticker(
    interval: Duration,
    draw: impl Fn() + Send + 'static,
) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (wake, woken) = channel::<()>();
    let tick = move || {
        while woken.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            draw();
        }
    };
    // Without a thread there is less to see, and the work goes on.
    let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(tick).ok()?;
    Some((wake, thread))
}

/// How far everything is.
struct ProgressState {
    runs: usize,
    /// Number of the present one; 0 before the first.
    run: usize,
    /// When the first began, and the present one.
    began: MonoNanos,
    run_began: MonoNanos,
    phase: ProgressPhase,
}

impl ProgressState {
    fn new(runs: usize, at: MonoNanos) -> Self {
        Self { runs, run: 0, began: at, run_began: at, phase: ProgressPhase::new(at) }
    }

    fn next_run(&mut self, at: MonoNanos) {
        if self.run == 0 {
            self.began = at;
        }
        self.run += 1;
        // A study may have to repeat some.
        self.runs = self.runs.max(self.run);
        self.run_began = at;
        self.phase = ProgressPhase::new(at);
    }

    fn fewer_runs(&mut self, made: usize, of: usize) {
        let to_come = self.runs.saturating_sub(self.run);
        self.runs = self.run + to_come.saturating_mul(made) / of.max(1);
    }

    fn runs_to_come(&mut self, runs: usize) {
        self.runs = self.run + runs;
    }

    fn line(&self, audience: ProgressAudience, at: MonoNanos) -> String {
        let phase = self.phase.line(audience == ProgressAudience::Terminal, at);
        if self.runs == 1 || self.run == 0 {
            return phase;
        }
        let (run, runs) = (self.run, self.runs);
        if runs == UNKNOWN_RUNS {
            return format!("run {run}: {phase}");
        }
        let left = self.left(at).map(|left| format!(", {} left", rough(left))).unwrap_or_default();
        format!("run {run} of {runs}{left}: {phase}")
    }

    /// What all runs still take, by how long the ones before took.
    fn left(&self, at: MonoNanos) -> Option<Nanos> {
        // Of the last one its phase says what is left.
        if self.run == self.runs {
            return None;
        }
        let done = self.run.checked_sub(1).filter(|done| *done > 0)? as u64;
        let each = Nanos((self.run_began - self.began).0 / done);
        let present = each - (at - self.run_began);
        Some(present + Nanos(each.0 * (self.runs - self.run) as u64))
    }
}

/// A time as somebody who waits wants to know it.
pub(crate) fn rough(length: Nanos) -> String {
    match length.as_secs().ceil() as u64 {
        s @ 0..100 => format!("{s} s"),
        s @ 100..5940 => format!("{} min", s.div_ceil(60)),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// Tells everybody, a terminal or not, of a script that does not return, and of nothing else;
/// one that is to end and does not ends the process.
pub(crate) fn report_overdue_script(progress: RunProgress) {
    show_script_state(&progress);
}

/// Tells of such a script, and ends the process with one that is to end and does not. Whether this
/// was of one.
fn show_script_state(progress: &RunProgress) -> bool {
    match progress {
        RunProgress::ScriptOverdue { client, length, awaits_program: true, program } => {
            screen::note(&awaited_program(*client, *length, program.as_deref()));
        }
        RunProgress::ScriptOverdue { client, length, awaits_program: false, .. } => {
            screen::note(&overdue_script(*client, *length));
        }
        RunProgress::ScriptDeaf { client } => {
            // What a failure has ended is waited for: the run has a report.
            if client.is_none() || interrupt::signal().is_some() {
                screen::note(&format!("dbtime: {}", deaf_script(*client)));
                interrupt::end_at_once(ProcessExit::Environment.or_by_signal().code());
            }
        }
        _ => return false,
    }
    true
}

/// That the process ends with a script that is to end and does not return.
pub(crate) fn deaf_script(client: Option<u32>) -> String {
    match client {
        Some(client) => format!(
            "the script of client {client} does not return: it was ended with its run, which is \
             neither reported nor recorded"
        ),
        None => "the script does not return, so it was ended".to_owned(),
    }
}

fn awaited_program(client: Option<u32>, length: Nanos, program: Option<&str>) -> String {
    let client = client.map(|client| format!(" of client {client}")).unwrap_or_default();
    let program = program.map(|program| format!(" by `{program}`")).unwrap_or_default();
    let length = human_ns(length.0 as f64);
    format!(
        "dbtime: no progress: the script{client} has not returned for {length}; it waits for a \
         program that it has started{program} (Ctrl-C ends it once its program has ended; Ctrl-C \
         twice ends both at once)"
    )
}

fn overdue_script(client: Option<u32>, length: Nanos) -> String {
    let length = human_ns(length.0 as f64);
    match client {
        Some(client) => format!(
            "dbtime: no progress: the script of client {client} has not returned for {length}; it \
             computes, loops for ever or blocks, and holds up all clients of its thread (Ctrl-C \
             ends dbtime, without a report where the script goes on)"
        ),
        None => format!(
            "dbtime: no progress: the script has not returned for {length}; it computes, loops \
             for ever, or blocks (Ctrl-C ends it; Ctrl-C twice ends dbtime at once)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    fn at(s: u64) -> MonoNanos {
        MonoNanos(s * 1_000_000_000)
    }

    #[test]
    fn runs_that_are_over_say_how_long_the_others_take() {
        let mut more = ProgressState::new(2, at(0));
        (0..3).for_each(|_| more.next_run(at(1)));
        assert!(more.line(ProgressAudience::Log, at(2)).starts_with("run 3 of 3: "));
        let mut course = ProgressState::new(3, at(0));
        assert_eq!(course.line(ProgressAudience::Log, at(5)), "preparing, 5 s");
        course.next_run(at(10));
        assert_eq!(course.line(ProgressAudience::Log, at(11)), "run 1 of 3: preparing, 1 s");
        course.next_run(at(70));
        let line = course.line(ProgressAudience::Log, at(90));
        assert_eq!(line, "run 2 of 3, 2 min left: preparing, 20 s");
        // Longer than the one before: it can end any time, and another follows.
        assert!(course.line(ProgressAudience::Log, at(200)).starts_with("run 2 of 3, 60 s left: "));
        course.next_run(at(130));
        assert_eq!(course.line(ProgressAudience::Log, at(150)), "run 3 of 3: preparing, 20 s");
    }

    #[test]
    fn runs_that_are_not_made_are_not_waited_for() {
        let mut course = ProgressState::new(12, at(0));
        // Before the first: one of three is left out of each block.
        course.fewer_runs(2, 3);
        assert_eq!(course.runs, 8);
        (0..2).for_each(|_| course.next_run(at(1)));
        course.fewer_runs(1, 2);
        assert!(course.line(ProgressAudience::Log, at(2)).starts_with("run 2 of 5, "));
        course.runs_to_come(7);
        assert_eq!(course.runs, 9);
    }

    #[test]
    fn a_ticker_ends_at_once() {
        let ticks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&ticks);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let (wake, thread) = ticker(Duration::from_millis(1), count).expect("a thread");
        while ticks.load(Ordering::Relaxed) < 3 {
            std::thread::yield_now();
        }
        drop(wake);
        thread.join().expect("it ends");
        let (wake, thread) = ticker(Duration::from_secs(3600), || ()).expect("a thread");
        drop(wake);
        thread.join().expect("it does not wait for its hour");
    }

    #[test]
    fn a_command_has_no_other_clients() {
        let of = |client| overdue_script(client, Nanos::from_secs(3));
        assert!(of(Some(2)).contains("client 2 has not returned for 3"), "{}", of(Some(2)));
        assert!(!of(None).contains("client") && of(None).contains("Ctrl-C ends it"));
        let awaited = awaited_program(None, Nanos::from_secs(3), None);
        assert!(awaited.contains("the script has not returned for 3"), "{awaited}");
        assert!(awaited.contains("that it has started (Ctrl-C ends it"), "{awaited}");
        let awaited = awaited_program(Some(2), Nanos::from_secs(3), Some("\\shell sleep"));
        assert!(awaited.contains("the script of client 2 has not returned for 3"), "{awaited}");
        assert!(awaited.contains("it has started by `\\shell sleep` (Ctrl-C"), "{awaited}");
        assert!(deaf_script(Some(2)).contains("of client 2 does not return"));
        assert!(!deaf_script(None).contains("client"));
    }

    #[test]
    fn times_are_rough() {
        let shown = [0, 59, 99, 100, 240, 5940, 9000].map(|s| rough(Nanos::from_secs(s)));
        assert_eq!(shown, ["0 s", "59 s", "99 s", "2 min", "4 min", "1 h 39 min", "2 h 30 min"]);
    }
}
