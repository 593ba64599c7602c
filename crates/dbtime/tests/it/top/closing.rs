//! Windows that close, and terminals that stand still: nothing of `dbtime top` outlives the first,
//! and the second keep it from nothing.

use super::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{Action, tcflow};
use std::ops::RangeInclusive;

/// Where `dbtime top` is when its window closes: what is pressed before, and what it shows then.
const PLACES: [(&str, &str); 4] =
    [("", "Statements"), ("?", "any key closes"), ("/", "filter:"), ("2", "Thread")];

/// How often a window closes, in each of two tests: at every place, and while it attaches.
const TIMES: usize = if cfg!(feature = "long") { 20 } else { PLACES.len() + 1 };

/// A window: nobody else has the other end of its terminal.
struct TopWindow {
    far: File,
    child: Child,
    told: Vec<u8>,
}

impl TopWindow {
    /// Opens one for a command.
    fn open(mut command: Command) -> Self {
        let (far, own) = terminal();
        let copy = || Stdio::from(own.try_clone().expect("a copy"));
        let child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().expect("it starts");
        Self { far: far.into(), child, told: Vec::new() }
    }

    /// Waits until it shows a text.
    fn shows(&mut self, text: &str) {
        let (begin, mut bytes) = (Instant::now(), [0; 65536]);
        loop {
            let screen = grid::shown(&self.told);
            if screen.contains(text) {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "no {text:?} on\n{screen}");
            let mut ends = [PollFd::new(&self.far, PollFlags::IN)];
            let soon = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            if poll(&mut ends, Some(&soon)).expect("a terminal") > 0 {
                let length = self.far.read(&mut bytes).unwrap_or_default();
                assert!(length > 0, "it has ended, and no {text:?} on\n{screen}");
                self.told.extend_from_slice(&bytes[..length]);
            }
        }
    }

    /// Closes it; what ran in it ends by itself.
    fn close(self) {
        let Self { far, mut child, .. } = self;
        drop(far);
        has_ended(&mut child);
    }
}

/// Waits until a process has ended by itself.
fn has_ended(child: &mut Child) {
    let begin = Instant::now();
    while child.try_wait().expect("ours").is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().expect("ours");
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a sandbox has so many processes: a session, its reader, and the helper of that.
fn residents_are(sandbox: &Sandbox, number: RangeInclusive<usize>) {
    let begin = Instant::now();
    while !number.contains(&sandbox.residents().len()) {
        assert!(begin.elapsed() < PATIENCE, "{:?}, not {number:?}", sandbox.residents());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A command that has its terminal for its own, so that the kernel tells it of the end.
fn in_its_own(sandbox: &Sandbox, line: &str) -> Command {
    let mut command = Command::new("setsid");
    command.args(["--ctty", env!("CARGO_BIN_EXE_dbtime")]);
    sandbox.settle(command.args(words(line)));
    command
}

/// Closes windows of the same command again and again, one place after the other.
fn nothing_outlives_them(command: impl Fn(&Sandbox, &str) -> Command) {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(screen) = Screen::open(&sandbox, &server) else { return };
    drop(screen);
    for time in 0..TIMES {
        residents_are(&sandbox, 0..=0);
        let mut window = TopWindow::open(command(&sandbox, &top_of(&server)));
        match PLACES.get(time % (PLACES.len() + 1)) {
            Some((keys, shows)) => {
                window.shows("Statements");
                window.far.write_all(keys.as_bytes()).expect("pressed");
                window.shows(shows);
            }
            // It is about to attach.
            None => residents_are(&sandbox, 2..=3),
        }
        window.close();
    }
    residents_are(&sandbox, 0..=0);
}

#[test]
fn nothing_outlives_its_window() {
    nothing_outlives_them(in_its_own);
}

/// The kernel tells nobody of the end.
#[test]
fn nothing_outlives_the_window_of_somebody_else() {
    nothing_outlives_them(Sandbox::command);
}

#[test]
fn one_that_was_stopped_ends_with_its_window() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(screen) = Screen::open(&sandbox, &server) else { return };
    drop(screen);
    residents_are(&sandbox, 0..=0);
    let mut window = TopWindow::open(in_its_own(&sandbox, &top_of(&server)));
    window.shows("Statements");
    kill_process(Pid::from_child(&window.child), Signal::STOP).expect("it is there");
    window.close();
    residents_are(&sandbox, 0..=0);
}

#[test]
fn a_terminal_that_stands_still_does_not_keep_it_from_ending() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for has_reader in [true, false] {
        let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
        tcflow(&screen.own, Action::OOff).expect("it is a terminal");
        // What would be drawn, and a sequence that never ends.
        screen.press("2?\x1b[");
        if !has_reader {
            // What it says of that has nobody to take it.
            kill_process(child_of(Pid::from_child(&screen.child)), Signal::KILL)
                .expect("it is there");
            residents_are(&sandbox, 1..=1);
        }
        screen.signal(Signal::TERM);
        has_ended(&mut screen.child);
        residents_are(&sandbox, 0..=0);
        assert!(screen.is_canonical());
    }
}

#[test]
fn a_terminal_that_goes_on_shows_what_is_then() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
    tcflow(&screen.own, Action::OOff).expect("it is a terminal");
    let mut client = RawClient::connect(&server);
    client.query("DO 4711");
    screen.press("2");
    tcflow(&screen.own, Action::OOn).expect("it is a terminal");
    screen.shows(&["Thread", "(last: DO 4711)"]);
    screen.press("q");
    assert_eq!(screen.ended().0, Some(0));
}

/// Where requests are printed as they end and none does, it would learn of it never.
#[test]
fn a_trace_ends_with_whoever_reads_it_also_where_nothing_happens() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(screen) = Screen::open(&sandbox, &server) else { return };
    drop(screen);
    let line = format!("trace -p {}", server.server.pid());
    let mut child = sandbox.command(&line).spawn().expect("it starts");
    let mut reader = child.stdout.take().expect("a pipe");
    reader.read_exact(&mut [0; 1]).expect("its heading");
    drop(reader);
    has_ended(&mut child);
    residents_are(&sandbox, 0..=0);
}
