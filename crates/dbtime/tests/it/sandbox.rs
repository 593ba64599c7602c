//! A temporary folder to run dbtime in, and what can be asked of a process that has ended.

use crate::running::Running;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder on a disk, for what has to wait for one: the tests' temporary files may be in memory.
pub(crate) const DISK: &str = "/var/tmp";

/// How long something is waited for that comes for sure: a server or a tracer may take a minute to
/// start where the machine is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// The working folder of the processes under test. Their temporary files go to `tmp` in it.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().expect("a temporary folder"))
    }

    /// One whose files are on a disk.
    pub(crate) fn on_disk() -> Self {
        Self::of(tempfile::tempdir_in(DISK).expect("a folder on a disk"))
    }

    fn of(dir: tempfile::TempDir) -> Self {
        fs::create_dir(dir.path().join("tmp")).expect("a folder in it");
        Self { dir }
    }

    /// A sandbox whose `t.db` holds the tables of [`SMALL`], written to `small.toml`.
    pub(crate) fn loaded() -> Self {
        Self::new().filled()
    }

    /// Itself, with a `t.db` as [`Sandbox::loaded`] has it.
    pub(crate) fn filled(self) -> Self {
        self.write("small.toml", SMALL);
        self.run("init small.toml --target sqlite:t.db").fine();
        self
    }

    /// Lets other users in, such as the one whom root's servers run as.
    pub(crate) fn open_to_all(&self) {
        for folder in [self.dir.path(), &self.path("tmp")] {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            fs::set_permissions(folder, open).expect("ours");
        }
    }

    /// Processes that live in the sandbox or name it, with their command lines.
    pub(crate) fn residents(&self) -> Vec<(i32, String)> {
        let place = self.dir.path().to_string_lossy().into_owned();
        let resident = |process: PathBuf| {
            let text = |file: &str| fs::read(process.join(file)).unwrap_or_default();
            let line = String::from_utf8_lossy(&text("cmdline")).replace('\0', " ");
            let lives_here =
                fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(&place));
            let pid = process.file_name()?.to_str()?.parse().ok()?;
            (lives_here || line.contains(&place)).then_some((pid, line))
        };
        let processes = fs::read_dir("/proc").expect("a /proc").flatten();
        processes.filter_map(|process| resident(process.path())).collect()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file in the sandbox");
    }

    /// A command that is yet to be started, as [`words`] splits it.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbtime"));
        self.settle(command.args(words(line)));
        command
    }

    /// Runs dbtime with these very arguments to its end.
    pub(crate) fn run_words(&self, arguments: &[String]) -> Ran {
        let output = self.command("").args(arguments).output();
        Ran::new(&arguments.join(" "), &output.expect("dbtime starts"))
    }

    /// Gives a command the sandbox's folders, and pipes for what it prints.
    pub(crate) fn settle(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env("TMPDIR", self.path("tmp"));
        // Reports look the same wherever the tests are run.
        command.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    /// Runs `dbtime LINE` to its end.
    pub(crate) fn run(&self, line: &str) -> Ran {
        Ran::new(line, &self.command(line).output().expect("dbtime starts"))
    }

    /// Starts `dbtime LINE`.
    pub(crate) fn start(&self, line: &str) -> Running {
        Running::start(line, self.command(line))
    }

    /// Names of everything in the sandbox but its empty `tmp`, sorted.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut names = names(self.dir.path());
        if names_empty(&self.path("tmp")) {
            names.retain(|name| name != "tmp");
        }
        names
    }

    /// Waits until a file exists whose path in the sandbox has all of these parts in its names.
    pub(crate) fn wait_for(&self, parts: &[&str]) {
        let begun = Instant::now();
        while !find(self.dir.path(), parts) {
            assert!(begun.elapsed() < PATIENCE, "no {parts:?} in {:?}", self.left());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until no process is left in it.
    pub(crate) fn wait_until_none_is_left(&self) {
        let begun = Instant::now();
        while !self.residents().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.residents());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts `dbtime LINE`, sends it a signal once there is a file `begun`, and waits for its end.
    pub(crate) fn signalled_when_begun(&self, line: &str, signal: Signal) -> Ran {
        let running = self.start(line);
        self.wait_for(&["begun"]);
        running.signal(signal);
        running.end()
    }
}

/// A workload that loads in no time: rows to read and to update.
pub(crate) const SMALL: &str = r#"
name = "small"
[[table]]
name = "item"
rows_per_scale = 100
columns = [
    { name = "id", type = "integer", primary_key = true, data = "row" },
    { name = "n", type = "integer", data = 0 },
]
[keys]
id = { uniform = [1, "item.rows"] }
[[operation]]
name = "change"
transaction = "write"
[[operation.statement]]
name = "get"
sql = "SELECT n FROM item WHERE id = :id"
[[operation.statement]]
name = "set"
sql = "UPDATE item SET n = n + 1 WHERE id = :id"
"#;

/// Everything in a folder, sorted; nothing of a folder that is not there.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn names_empty(folder: &Path) -> bool {
    names(folder).is_empty()
}

fn find(folder: &Path, parts: &[&str]) -> bool {
    let [first, rest @ ..] = parts else { return true };
    let found = names(folder).into_iter().filter(|name| name.contains(first));
    found.into_iter().any(|name| find(&folder.join(name), rest))
}

/// Splits a command line as a shell does: at blanks, quotes and a backslash hold.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' if quote.is_none_or(|quote| quote == c) => {
                quote = if quote.is_none() { Some(c) } else { None };
                word.get_or_insert_default();
            }
            '\\' if quote.is_none() => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() && quote.is_none() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// How a process ended.
pub(crate) struct Ran {
    line: String,
    /// `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(line: &str, output: &Output) -> Self {
        Self {
            line: line.to_owned(),
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).expect("UTF-8 on stdout"),
            err: String::from_utf8(output.stderr.clone()).expect("UTF-8 on stderr"),
        }
    }

    /// Exit code 0 and not a word on stderr, where nobody sits.
    pub(crate) fn fine(self) -> Self {
        self.with(0, &[])
    }

    /// This exit code, these texts on stdout, and on stderr not a word but of progress.
    pub(crate) fn with(self, code: i32, printed: &[&str]) -> Self {
        self.exits(code);
        // Why it ends with these stands on stderr.
        let is_silent = self.err.lines().all(|line| line.starts_with("progress: "));
        assert!(is_silent || code > 2, "{self:?}");
        self.prints(printed)
    }

    /// Most of what was asked did not happen: the report is there, and so is the reason.
    pub(crate) fn unserved(self) -> Self {
        self.exits(3);
        self.stderr_has(&["most of the requested work did not happen"])
    }

    /// This exit code, these texts on stderr, and nothing on stdout.
    pub(crate) fn refused(self, code: i32, told: &[&str]) -> Self {
        self.exits(code);
        assert_eq!(self.out, "", "{self:?}");
        assert!(["dbtime: ", "error: "].iter().any(|head| self.err.starts_with(head)), "{self:?}");
        self.stderr_has(told)
    }

    pub(crate) fn exits(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    /// These texts on stdout, wherever its lines are broken.
    pub(crate) fn prints(self, texts: &[&str]) -> Self {
        let unbroken = self.out.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        for text in texts {
            let is_there = self.out.contains(text) || unbroken.contains(text);
            assert!(is_there, "no `{text}` on stdout of {self:?}");
        }
        self
    }

    pub(crate) fn stderr_has(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.err.contains(text), "no `{text}` on stderr of {self:?}");
        }
        self
    }

    /// What a fine run with `--json` printed: one document and nothing else.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { line, code, out, err } = self;
        write!(f, "`dbtime {line}`, exit {code:?}\n--- stdout\n{out}\n--- stderr\n{err}")
    }
}

/// A number of a JSON document, by its pointer: `/counts/offered`.
pub(crate) fn number(json: &Value, pointer: &str) -> f64 {
    json.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| {
        panic!("{pointer} is no number: {:?}", json.pointer(pointer));
    })
}

/// A whole number of a JSON document, by its pointer.
pub(crate) fn count(json: &Value, pointer: &str) -> u64 {
    json.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| {
        panic!("{pointer} is no count: {:?}", json.pointer(pointer));
    })
}

/// offered = completed + failed + dropped + unfinished, in all and over the operations.
pub(crate) fn counts_add_up(json: &Value) {
    let of = |name: &str| count(json, &format!("/counts/{name}"));
    let ended = of("completed") + of("failed") + of("dropped") + of("unfinished");
    assert_eq!(of("offered"), ended, "{}", json["counts"]);
}
