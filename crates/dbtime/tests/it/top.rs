//! `dbtime top`, in a terminal of its own.

mod closing;
mod grid;
mod holders;
mod prior;

use crate::given_server::GivenServer;
use crate::raw_client::RawClient;
use crate::sandbox::{PATIENCE, Sandbox, words};
use crate::trace::until_at_rest;
use dbtime_model::Product;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What ends the use of the whole screen.
const LEAVES_SCREEN: &str = "\x1b[?1049l";

const SHOWS_CURSOR: &str = "\x1b[?25h";

/// Both ends of a terminal. What runs in it has the second alone: else it would never close.
fn terminal() -> (OwnedFd, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).expect("a terminal");
    grantpt(&terminal).expect("granted");
    unlockpt(&terminal).expect("unlocked");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let own = File::options().read(true).write(true).open(name.to_str().expect("text"));
    let own = own.expect("its other end");
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&own, size).expect("a size");
    (terminal, own)
}

/// A terminal, what runs in it, and what it was told so far.
struct Screen {
    keys: File,
    own: File,
    child: Child,
    told: Receiver<Vec<u8>>,
    seen: String,
    /// All of it.
    bytes: Vec<u8>,
}

impl Drop for Screen {
    /// Also where a test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Screen {
    /// Starts `dbtime top` for a server; `None` where the kernel permits no eBPF.
    fn open(sandbox: &Sandbox, server: &GivenServer) -> Option<Self> {
        Self::open_with(sandbox, server, "")
    }

    /// The same with more options.
    fn open_with(sandbox: &Sandbox, server: &GivenServer, options: &str) -> Option<Self> {
        Self::of(sandbox.command(&format!("{} {options}", top_of(server))))
    }

    /// The same from a shell that controls its jobs, and goes on behind it.
    fn open_in_shell(sandbox: &Sandbox, server: &GivenServer) -> Option<Self> {
        let mut command = Command::new("setsid");
        let script = "\"$0\" \"$@\"; echo The shell goes on.; read -r end";
        command.args(["--ctty", "dash", "-m", "-c", script, env!("CARGO_BIN_EXE_dbtime")]);
        sandbox.settle(command.args(words(&top_of(server))));
        Self::of(command)
    }

    /// Starts it.
    fn of(mut command: Command) -> Option<Self> {
        let (terminal, own) = terminal();
        let copy = || Stdio::from(own.try_clone().expect("a copy"));
        let child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().expect("it starts");
        let keys = File::from(terminal);
        let (stderr_has, told) = channel();
        let mut reads = keys.try_clone().expect("a copy");
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(length @ 1..) = reads.read(&mut bytes) {
                if stderr_has.send(bytes[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut screen = Self { keys, own, child, told, seen: String::new(), bytes: Vec::new() };
        screen.wait_for(&["Statements", "CAP_BPF"]);
        if screen.seen.contains("CAP_BPF") {
            assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here");
            let note = format!("NOT TESTED: no eBPF here: {}", screen.seen);
            std::io::stderr().write_all(note.as_bytes()).expect("somebody listens");
            return None;
        }
        Some(screen)
    }

    /// Waits until one of these texts was told of, and forgets what came before.
    fn wait_for(&mut self, texts: &[&str]) {
        let patience = Instant::now();
        while !texts.iter().any(|text| self.seen.contains(text)) {
            assert!(patience.elapsed() < PATIENCE, "{texts:?} in {:?}", self.seen);
            self.hear();
        }
    }

    /// Takes what comes within a short time.
    fn hear(&mut self) {
        if let Ok(bytes) = self.told.recv_timeout(Duration::from_millis(100)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
            self.bytes.extend(bytes);
        }
    }

    /// Waits until all of these texts stand on the screen, and returns all that stands there.
    fn shows(&mut self, texts: &[&str]) -> String {
        let begin = Instant::now();
        loop {
            let screen = grid::shown(&self.bytes);
            let missing: Vec<_> = texts.iter().filter(|text| !screen.contains(**text)).collect();
            if missing.is_empty() {
                return screen;
            }
            assert!(begin.elapsed() < PATIENCE, "no {missing:?} on\n{screen}");
            self.hear();
        }
    }

    /// Waits until a text stands on the screen so often, which is drawn piece by piece.
    fn shows_times(&mut self, text: &str, times: usize) -> String {
        let begin = Instant::now();
        loop {
            let screen = grid::shown(&self.bytes);
            if screen.matches(text).count() == times {
                return screen;
            }
            assert!(begin.elapsed() < PATIENCE, "not {times} times {text} on\n{screen}");
            self.hear();
        }
    }

    fn press(&mut self, keys: &str) {
        self.seen.clear();
        self.keys.write_all(keys.as_bytes()).expect("pressed");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is there");
    }

    /// Whether lines are edited and shown by the terminal itself.
    fn is_canonical(&self) -> bool {
        let modes = tcgetattr(&self.own).expect("its modes").local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Waits for its end; the terminal has to be as it was.
    fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it ends").code();
        self.wait_for(&["connections "]);
        // Nobody else has anything to restore: the helper has ended before.
        assert_eq!(self.seen.matches(LEAVES_SCREEN).count(), 1, "{:?}", self.seen);
        (code, self.is_left())
    }

    /// The terminal is as it was; what it was told since.
    fn is_left(&self) -> String {
        assert!(self.is_canonical());
        let (_, behind) = self.seen.rsplit_once(LEAVES_SCREEN).expect("it leaves the screen");
        assert!(behind.contains(SHOWS_CURSOR), "the cursor is shown: {behind:?}");
        behind.to_owned()
    }
}

fn top_of(server: &GivenServer) -> String {
    format!("top -p {} --every 200ms --raw-sql", server.server.pid())
}

/// The only child of a process.
fn child_of(process: Pid) -> Pid {
    let pid = process.as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let child = children.expect("it is there").trim().parse().expect("it has one child");
    Pid::from_raw(child).expect("a process")
}

/// The pipe that tells a helper when its terminal is given back. As long as this is there, the
/// helper does not see that whoever it helps has ended.
fn pipe_between(top: Pid, helper: Pid) -> File {
    let files = |of: Pid| {
        let folder = format!("/proc/{}/fd", of.as_raw_nonzero());
        let files = std::fs::read_dir(folder).expect("it is there").flatten();
        files.filter_map(|file| Some((file.path(), std::fs::read_link(file.path()).ok()?)))
    };
    let is_shared = |what: &Path| {
        what.to_string_lossy().starts_with("pipe:") && files(helper).any(|(_, of)| of == what)
    };
    let (path, _) = files(top).find(|(_, what)| is_shared(what)).expect("they share a pipe");
    File::options().write(true).open(path).expect("root may")
}

#[test]
fn views_show_what_goes_on_and_leave_the_terminal_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
    let (mut client, mut sleeper) = (RawClient::connect(&server), RawClient::connect(&server));
    (0..1009).for_each(|_| client.query("DO 1"));
    client.query("DO SLEEP(0.02)");
    screen.press("w");
    screen.wait_for(&["SLEEP(?)"]);
    screen.press("s");
    // Only what has changed is drawn anew.
    screen.wait_for(&["calls"]);
    screen.press("\r");
    screen.wait_for(&["Where the time goes"]);
    // For as long as a busy machine may take to draw it.
    sleeper.ask("DO SLEEP(10)");
    screen.press("2");
    screen.shows(&["SLEEP(10)"]);
    sleeper.answered();
    screen.press("/nothing of the kind\r");
    screen.wait_for(&["matching the filter"]);
    drop((client, sleeper));
    // By then the server has read that they quit.
    until_at_rest(server.server.pid());
    screen.press("q");
    let (code, behind) = screen.ended();
    assert_eq!(code, Some(0), "{behind}");
    // 1009 and three sleeps' worth of statements, and two who quit.
    assert!(behind.contains("1,013 started = 1,013 ended + 0 in flight"), "{behind}");
}

#[test]
fn it_ends_with_a_signal_or_its_server_and_leaves_the_terminal_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(screen) = Screen::open(&sandbox, &server) else { return };
    screen.signal(Signal::TERM);
    assert_eq!(screen.ended().0, Some(0));
    let screen = Screen::open(&sandbox, &server).expect("as before");
    drop(server);
    let (code, behind) = screen.ended();
    assert_eq!(code, Some(0));
    assert!(behind.contains("every server that was watched has ended"), "{behind}");
}

#[test]
fn one_that_is_killed_leaves_the_terminal_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for signal in [Signal::KILL, Signal::ABORT] {
        let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
        assert!(!screen.is_canonical());
        let helper = child_of(Pid::from_child(&screen.child));
        screen.seen.clear();
        screen.signal(signal);
        screen.wait_for(&[SHOWS_CURSOR]);
        screen.is_left();
        let begin = Instant::now();
        while test_kill_process(helper).is_ok() {
            assert!(begin.elapsed() < PATIENCE, "the helper stays");
            std::thread::sleep(Duration::from_millis(10));
        }
        while let Ok(bytes) = screen.told.try_recv() {
            screen.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        assert_eq!(screen.seen.matches(LEAVES_SCREEN).count(), 1, "{:?}", screen.seen);
    }
}

#[test]
fn one_that_is_killed_leaves_the_terminal_as_it_was_to_its_shell() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut screen) = Screen::open_in_shell(&sandbox, &server) else { return };
    let top = child_of(Pid::from_child(&screen.child));
    let helper = child_of(top);
    // The worst case: the shell has the terminal again, and the helper is in the background.
    let held = pipe_between(top, helper);
    screen.seen.clear();
    kill_process(top, Signal::KILL).expect("it is there");
    screen.wait_for(&["The shell goes on."]);
    assert!(!screen.is_canonical(), "nobody else has restored it");
    drop(held);
    screen.wait_for(&[SHOWS_CURSOR]);
    screen.is_left();
}

/// What a panic would print is written to where the reader prints it.
#[test]
fn what_a_reader_prints_is_seen_when_the_screen_has_gone() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
    let reader = child_of(Pid::from_child(&screen.child));
    screen.seen.clear();
    let stderr = format!("/proc/{}/fd/2", reader.as_raw_nonzero());
    let stderr = File::options().write(true).open(stderr);
    stderr.expect("root may").write_all(b"thread panicked at the disco\n").expect("written");
    kill_process(reader, Signal::ABORT).expect("it is there");
    assert_eq!(screen.child.wait().expect("it ends").code(), Some(3));
    screen.wait_for(&["was ended by signal 6"]);
    let behind = screen.is_left();
    assert!(behind.contains("thread panicked at the disco"), "{:?}", screen.seen);
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.run("top").refused(2, &["needs a terminal", "dbtime trace --summary"]);
    sandbox.run("top --every 1ms").refused(2, &["100ms"]);
}
