//! Children with known behaviour: this very test, started again, that does a stated chore when told
//! and says by its own figures what it took.

use dbtime_machine::clock;
use dbtime_model::Nanos;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A child that waits for its chore.
pub(crate) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a child for a chore: `burn MS`, `touch PAGES`, `write CALLS`, `nap TIMES` or `spin`.
    pub(crate) fn start(chore: &str) -> Self {
        let mut command = command(chore);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("this test starts again");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("piped"));
        let mut worker = Self { child, input, output: BufReader::new(output) };
        assert_eq!(worker.hear("ready"), 0);
        worker
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it do its chore; what it says that took.
    pub(crate) fn work(&mut self) -> u64 {
        writeln!(self.input.as_mut().expect("open"), "go").expect("it waits");
        self.hear("done")
    }

    /// Lets it begin its chore and does not wait.
    pub(crate) fn begin(&mut self) {
        writeln!(self.input.as_mut().expect("open"), "go").expect("it waits");
    }

    /// Waits until it has done what it began; what it says that took.
    pub(crate) fn heard(&mut self) -> u64 {
        self.hear("done")
    }

    /// Ends it, and waits until it is gone.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        self.child.wait().expect("it ends");
    }

    /// Waits for a word; the number behind it.
    fn hear(&mut self, word: &str) -> u64 {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "it ended");
            // The harness may have begun the line.
            if let Some((_, number)) = line.split_once(&format!("{word}=")) {
                return number.trim().parse().expect("a number");
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This test as a command that does a chore: told at once where its input has ended already.
pub(crate) fn command(chore: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "worker::chore", "--nocapture"]).env("DBTIME_CHORE", chore);
    command
}

/// What a child does. Nothing, where it is run as a test.
#[test]
fn chore() {
    let Ok(chore) = std::env::var("DBTIME_CHORE") else { return };
    let (kind, amount) = chore.split_once(' ').unwrap_or((&chore, "0"));
    let amount: u64 = amount.parse().expect("an amount");
    say("ready", 0);
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    say("done", do_chore(kind, amount));
    let _ = std::io::stdin().read_line(&mut line);
}

#[allow(clippy::print_stdout)]
fn say(word: &str, number: u64) {
    println!("{word}={number}");
    let _ = std::io::stdout().flush();
}

fn do_chore(kind: &str, amount: u64) -> u64 {
    match kind {
        "burn" => burn(Nanos::from_millis(amount)),
        "spin" => burn(Nanos(u64::MAX)),
        "touch" => touch(amount),
        "write" => write(amount),
        "nap" => nap(amount),
        _ => panic!("no chore is called {kind}"),
    }
}

/// Burns so much of its own CPU clock; how much it was in the end, in nanoseconds.
fn burn(amount: Nanos) -> u64 {
    let begun = clock::process_cpu();
    let mut x = 1u64;
    while clock::process_cpu() - begun < amount {
        (0..1000).for_each(|_| x = std::hint::black_box(x.wrapping_mul(31)));
    }
    (clock::process_cpu() - begun).0
}

/// Touches memory for the first time; how many faults the kernel counted.
fn touch(pages: u64) -> u64 {
    let before = own_faults();
    let mut memory: Vec<u8> = Vec::with_capacity((pages * 4096) as usize);
    memory.resize((pages * 4096) as usize, 1);
    std::hint::black_box(&memory);
    own_faults() - before
}

/// The tenth field of its own stat: faults without reading.
fn own_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("own stat");
    let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
    fields.into_iter().nth(7).expect("field 10").parse().expect("a number")
}

/// Writes a kibibyte so often; how many bytes that was.
fn write(calls: u64) -> u64 {
    let mut file = tempfile::tempfile().expect("a file");
    (0..calls).for_each(|_| file.write_all(&[7; 1024]).expect("room"));
    calls * 1024
}

/// Blocks so often.
fn nap(times: u64) -> u64 {
    (0..times).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
    times
}
