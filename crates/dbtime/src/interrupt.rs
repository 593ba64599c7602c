//! Ctrl-C, SIGTERM and the other signals that end a process without a core: the first ends the run
//! early, the second ends dbtime.

use crate::exit::ProcessExit;
use crate::program_end::{end_programs, name_survivors};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::RunProgress;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use rustix::process::Signal;
use signal_hook::consts::SIGXFSZ;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What comes so soon after the first signal is the same wish: `timeout` signals its child and then
/// the whole process group, to which the child belongs.
const SAME_SIGNAL_WINDOW: Nanos = Nanos::from_millis(500);

/// So long a terminal may take nothing before a signal ends whoever has it to itself at once.
const STUCK_WINDOW: Nanos = Nanos::from_millis(700);

/// How often it is looked at meanwhile.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// So long the files that a script has open may take to be written at its end.
const FILES_PATIENCE: Duration = Duration::from_secs(2);

/// A signal that ends what is under way: every one that by default ends a process without a core
/// and has a name, but SIGKILL and SIGPIPE. Source: signal(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub(crate) enum EndingSignal {
    Hup = Signal::HUP.as_raw(),
    Int = Signal::INT.as_raw(),
    Usr1 = Signal::USR1.as_raw(),
    Usr2 = Signal::USR2.as_raw(),
    Alrm = Signal::ALARM.as_raw(),
    Term = Signal::TERM.as_raw(),
    Stkflt = Signal::STKFLT.as_raw(),
    Vtalrm = Signal::VTALARM.as_raw(),
    Prof = Signal::PROF.as_raw(),
    Io = Signal::IO.as_raw(),
    Pwr = Signal::POWER.as_raw(),
}

impl EndingSignal {
    pub(crate) const ALL: [Self; 11] = {
        use EndingSignal::*;
        [Hup, Int, Usr1, Usr2, Alrm, Term, Stkflt, Vtalrm, Prof, Io, Pwr]
    };

    fn number(self) -> i32 {
        self as i32
    }

    fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.number() == number)
    }

    /// What a process ends with for its sake, as a shell has it.
    pub(crate) fn code(self) -> u8 {
        128 + self.number() as u8
    }
}

/// The last signal that came, by its number; 0: none.
static LAST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The last signal that came; `None`: none did.
pub(crate) fn signal() -> Option<EndingSignal> {
    EndingSignal::of(LAST_SIGNAL.load(Ordering::Relaxed))
}

/// Whether all that a signal could shorten has ended: what is left is its report.
static IS_RUN_OVER: AtomicBool = AtomicBool::new(false);

/// Follows the one run of this process: from the end of its last transaction on a first signal
/// shortens nothing, and says so.
pub(crate) fn follow(progress: &RunProgress) {
    if is_load_over(progress) {
        IS_RUN_OVER.store(true, Ordering::Relaxed);
    }
}

fn is_load_over(progress: &RunProgress) -> bool {
    matches!(progress, RunProgress::Phase(instant) if instant.phase == RunPhase::LoadEnded)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaughtSignals {
    /// All that this process was not started to ignore, as by `nohup`, or as a shell without job
    /// control starts what goes on beside it.
    NotIgnored,
    /// Also SIGINT and SIGTERM where these are: it is another process of dbtime that sends them.
    OfParent,
}

impl CaughtSignals {
    /// Whether a signal is among them, by the `/proc/PID/status` of this process.
    fn has(self, signal: EndingSignal, status: &str) -> bool {
        let is_parents = matches!(signal, EndingSignal::Int | EndingSignal::Term);
        self == Self::OfParent && is_parents || !ignores(status, signal.number())
    }
}

/// Does this for each of these signals that comes from now on, on a thread of its own.
///
/// Errors: there can be no such thread; signals end the process then, as they did before.
fn on_signals(which: CaughtSignals, mut handle: impl FnMut() + Send + 'static) -> io::Result<()> {
    // The thread is there before anything is caught: what nobody takes would end nothing.
    let (sender, caught) = channel::<Signals>();
    let taken = move || {
        let Ok(mut signals) = caught.recv() else { return };
        for number in signals.forever() {
            LAST_SIGNAL.store(number, Ordering::Relaxed);
            handle();
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(taken)?;
    let status = own_status();
    let ours = EndingSignal::ALL.into_iter().filter(|signal| which.has(*signal, &status));
    let signals = Signals::new(ours.map(EndingSignal::number))?;
    // It waits for them.
    let _ = sender.send(signals);
    Ok(())
}

/// Has a write beyond the limit on the size of files fail, as on a full disk, in place of ending
/// the process without a word. What is started from here has the signal as it was.
pub(crate) fn survive_file_limits() {
    // A write fails already where it is ignored.
    if !ignores(&own_status(), SIGXFSZ) {
        // Where it cannot be caught it is as it was.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }
}

/// What this process has been started to ignore stands in it; empty where it cannot be read.
fn own_status() -> String {
    std::fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Whether the process of such a `/proc/PID/status` ignores a signal: proc(5), `SigIgn`.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopRequest {
    EndEarly,
    /// The same signal by another way.
    Nothing,
    EndAtOnce,
}

impl StopRequest {
    /// By when it comes, and when the first one came.
    fn of(at: MonoNanos, first: Option<MonoNanos>) -> Self {
        match first {
            None => Self::EndEarly,
            Some(first) if at - first < SAME_SIGNAL_WINDOW => Self::Nothing,
            Some(_) => Self::EndAtOnce,
        }
    }
}

/// What the first signal sets.
static PRESENT: Mutex<Option<Arc<RunStop>>> = Mutex::new(None);

fn present() -> MutexGuard<'static, Option<Arc<RunStop>>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What Ctrl-C sets at present, where a signal has set it: a failure alone sets it too.
pub(crate) fn signalled_stop() -> Option<Arc<RunStop>> {
    signal()?;
    present().clone().filter(|stop| stop.is_set())
}

/// What Ctrl-C sets. Installed once per process.
pub(crate) fn install() -> Arc<RunStop> {
    install_with("nothing was recorded".to_owned())
}

/// The same where this is what a second signal leaves.
pub(crate) fn install_with(left: String) -> Arc<RunStop> {
    let notes = SignalNotes::new("ending early", &left);
    installed(CaughtSignals::NotIgnored, crate::screen::note, notes)
}

/// The same where the first signal does not end what dbtime waits for: a command that was started
/// for the user.
pub(crate) fn install_beside_command() -> Arc<RunStop> {
    let left = "the command is no longer measured";
    let notes = SignalNotes::new("waiting for the command to end", left);
    installed(CaughtSignals::NotIgnored, crate::screen::note, notes)
}

/// The same where another program shows what happens, or the parent, which may be another process
/// of dbtime.
pub(crate) fn install_silently(has_parent: bool) -> Arc<RunStop> {
    let which = if has_parent { CaughtSignals::OfParent } else { CaughtSignals::NotIgnored };
    installed(which, |_| (), SignalNotes::new("", ""))
}

/// What a first signal is told once the run is over.
const REPORT_NOTE: &str =
    "\ndbtime: the run has ended; its report is being written; once more ends dbtime at once";

/// What stands on stderr when signals come.
struct SignalNotes {
    first: String,
    again: String,
}

impl SignalNotes {
    /// By what the first one does, and what a second one leaves.
    fn new(does: &str, leaves: &str) -> Self {
        Self {
            first: format!("\ndbtime: {does}; once more ends dbtime at once"),
            again: format!("\ndbtime: interrupted again: {leaves}"),
        }
    }

    /// What the first signal is told.
    fn first(&self, is_run_over: bool) -> &str {
        if is_run_over { REPORT_NOTE } else { &self.first }
    }
}

/// The first signal has come: it is told so, and sets what it is to set.
fn end_early(at: MonoNanos, note: fn(&str), notes: &SignalNotes) {
    let is_run_over = IS_RUN_OVER.load(Ordering::Relaxed);
    let write_word = || note(notes.first(is_run_over));
    // What ends soon would be gone before the word; a terminal that takes nothing is not waited
    // for.
    let has_word_first = crate::screen::takes_output(io::stderr());
    if has_word_first {
        write_word();
    }
    if !is_run_over {
        present().iter().for_each(|stop| stop.at(at));
    }
    if !has_word_first {
        write_word();
    }
}

fn installed(which: CaughtSignals, note: fn(&str), notes: SignalNotes) -> Arc<RunStop> {
    let stop = Arc::new(RunStop::default());
    *present() = Some(Arc::clone(&stop));
    let mut first = None;
    let handler = move || match StopRequest::of(now(), first) {
        StopRequest::EndEarly => {
            let at = now();
            first = Some(at);
            end_early(at, note, &notes);
        }
        StopRequest::Nothing => {}
        StopRequest::EndAtOnce => {
            abandon();
            // A terminal that takes nothing is not waited for.
            if crate::screen::takes_output(io::stderr()) {
                note(&notes.again);
            }
            end(code_at_once());
        }
    };
    if let Err(error) = on_signals(which, handler) {
        crate::screen::note(&format!("dbtime: Ctrl-C will end dbtime without a report: {error}"));
    }
    stop
}

/// What Ctrl-C sets from here on, in place of `before`, which what goes on beyond it watches. It is
/// set already where `before` is.
pub(crate) fn from_here(before: &RunStop) -> Arc<RunStop> {
    let stop = Arc::new(RunStop::default());
    *present() = Some(Arc::clone(&stop));
    if before.is_set() {
        stop.at(before.instant());
    }
    stop
}

/// What Ctrl-C sets from here on is again what it was before [`from_here`].
pub(crate) fn back_to(before: &Arc<RunStop>) {
    *present() = Some(Arc::clone(before));
}

/// What the process ends with at a signal that ends it at once, as a shell has it.
fn code_at_once() -> u8 {
    ProcessExit::Environment.or_by_signal().code()
}

/// Ends the process from a thread that cannot return through main, and leaves nothing behind.
pub(crate) fn end_at_once(code: u8) {
    abandon();
    end(code);
}

/// The same where a script ends it: the files that it has open are written, as at the end of every
/// program in C, unless another thread holds one.
pub(crate) fn end_with_files(code: u8) {
    abandon();
    let end_later = move || {
        std::thread::sleep(FILES_PATIENCE);
        end(code);
    };
    if std::thread::Builder::new().name("end".to_owned()).spawn(end_later).is_ok() {
        #[allow(clippy::exit)]
        std::process::exit(i32::from(code));
    }
    end(code);
}

/// Ends what this process has started, and removes what it has made.
fn abandon() {
    // The programs first: they may use the servers.
    end_programs();
    name_survivors();
    dbtime_lab::abandon();
}

/// Ends the process without the C library's last things to do: they wait for the files that other
/// threads read, which may be for ever. Of stdout nothing is held back but what a script has put
/// into the C library's own file: what is printed is written at once.
fn end(code: u8) {
    signal_hook::low_level::exit(i32::from(code))
}

/// For a command that has nothing to end early: the first signal ends it and leaves nothing behind.
pub(crate) fn end_by_first() {
    let set = on_signals(CaughtSignals::NotIgnored, || {
        crate::screen::note("\ndbtime: interrupted");
        end_at_once(code_at_once());
    });
    if let Err(error) = set {
        crate::screen::note(&format!("dbtime: signals will leave temporary files: {error}"));
    }
}

/// What signals set for a command that has the screen to itself: it says nothing, and ends what it
/// does. Where it cannot, for its terminal takes nothing, the first signal ends it at once.
pub(crate) fn quietly() -> Arc<RunStop> {
    let stop = Arc::new(RunStop::default());
    let signalled = Arc::clone(&stop);
    let mut first = None;
    // Without it a signal would leave the screen as it is.
    let set = on_signals(CaughtSignals::NotIgnored, move || {
        let is_over = match StopRequest::of(now(), first) {
            StopRequest::EndEarly => {
                first = Some(now());
                signalled.at(now());
                stands_still_for(STUCK_WINDOW)
            }
            StopRequest::Nothing => false,
            StopRequest::EndAtOnce => true,
        };
        if is_over {
            end_at_once(code_at_once());
        }
    });
    if let Err(error) = set {
        crate::screen::note(&format!("dbtime: signals will leave the screen as it is: {error}"));
    }
    stop
}

/// Whether stdout takes nothing for so long: what is printed there waits for somebody who may never
/// come.
fn stands_still_for(length: Nanos) -> bool {
    let begin = now();
    while now() - begin < length {
        if crate::screen::takes_output(io::stdout()) {
            return false;
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::PhaseInstant;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    #[test]
    fn what_is_ignored_is_known() {
        let status = "SigBlk:\t0000000000000000\nSigIgn:\t0000000001001001\n";
        let of = |signal| ignores(status, signal);
        assert_eq!([SIGHUP, SIGXFSZ, SIGINT, SIGTERM].map(of), [true, true, false, false]);
        assert!(!ignores("Name:\tdbtime\n", SIGHUP));
    }

    #[test]
    fn the_parent_s_signals_are_caught_where_they_are_ignored() {
        let all = "SigIgn:\tffffffffffffffff\n";
        let caught = |which: CaughtSignals, status: &str| {
            EndingSignal::ALL.into_iter().filter(|signal| which.has(*signal, status)).count()
        };
        assert_eq!(caught(CaughtSignals::NotIgnored, ""), EndingSignal::ALL.len());
        assert_eq!(caught(CaughtSignals::NotIgnored, all), 0);
        assert_eq!(caught(CaughtSignals::OfParent, all), 2);
    }

    #[test]
    fn a_signal_is_known_by_its_number() {
        for signal in EndingSignal::ALL {
            assert_eq!(EndingSignal::of(signal.number()), Some(signal));
            assert_eq!(i32::from(signal.code()), 128 + signal.number());
        }
        assert_eq!(EndingSignal::Usr1.code(), 138);
    }

    #[test]
    fn the_notes_on_signals_say_what_each_does() {
        let notes = SignalNotes::new("waiting for it", "it goes on");
        let first = "\ndbtime: waiting for it; once more ends dbtime at once";
        assert_eq!(notes.first(false), first);
        let over = "the run has ended; its report is being written; once more ends dbtime at once";
        assert_eq!(notes.first(true), format!("\ndbtime: {over}"));
        assert_eq!(notes.again, "\ndbtime: interrupted again: it goes on");
    }

    #[test]
    fn a_run_can_be_ended_early_until_its_last_transaction_has_ended() {
        let phase = |phase| RunProgress::Phase(PhaseInstant { phase, at: MonoNanos(1) });
        assert!(is_load_over(&phase(RunPhase::LoadEnded)));
        assert!(!is_load_over(&phase(RunPhase::WindowEnded)), "its last ones are waited for");
    }

    #[test]
    fn a_signal_that_comes_by_two_ways_is_one() {
        let first = MonoNanos(7_000_000_000);
        assert_eq!(StopRequest::of(first, None), StopRequest::EndEarly);
        let again = |ms| StopRequest::of(first + Nanos::from_millis(ms), Some(first));
        assert_eq!([again(0), again(499)], [StopRequest::Nothing; 2]);
        assert_eq!([again(500), again(60_000)], [StopRequest::EndAtOnce; 2]);
    }
}
