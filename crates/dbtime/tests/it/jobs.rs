//! The pages of `docs/` that answer one question each: their commands run in their order, on
//! private servers, with few rows and for a shorter time, and print what the page explains.

use crate::given_server::GivenServer;
use crate::running::Running;
use crate::sandbox::{PATIENCE, Ran, Sandbox, words};
use crate::small_workloads::write_small;
use dbtime_model::Product;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The pages with commands to run, by the name of their file.
const PAGES: [&str; 7] = [
    "gate-in-ci",
    "how-many-connections",
    "own-schema",
    "replace-sysbench",
    "slow-p99",
    "tune-by-budget",
    "which-setting",
];

/// The heading of the section whose bold words are words of the output.
const READING: &str = "## How to read it";

/// Shipped workloads that the pages' own runs load with few of their rows.
const WITH_FEW_ROWS: [&str; 2] = ["atm", "tpcb"];

/// A command of a page.
#[derive(Debug, Default, PartialEq)]
struct PageCommand {
    /// As it is typed; of a shell script the whole of it.
    line: String,
    is_script: bool,
    /// The output that the page shows.
    shown: Vec<String>,
    /// As the page shows by `echo $?`.
    exit_code: i32,
}

/// A page, as far as it can be executed.
#[derive(Debug, Default)]
struct JobPage {
    /// Files that the page shows whole, by name.
    files: Vec<(String, String)>,
    commands: Vec<PageCommand>,
    /// The bold words of the section [`READING`].
    terms: Vec<String>,
}

impl JobPage {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<&str> = None;
        for line in text.replace("\\\n", " ").lines() {
            match (fence, line.strip_prefix("```")) {
                (None, Some("text")) => fence = Some("text"),
                (None, Some("sh")) => {
                    fence = Some("sh");
                    page.commands.push(PageCommand { is_script: true, ..Default::default() });
                }
                (None, Some(info)) => {
                    fence = Some("file");
                    let name = info.split(' ').nth(1).unwrap_or_default();
                    page.files.push((name.to_owned(), String::new()));
                }
                (Some(_), Some(_)) => fence = None,
                (Some("text"), None) => page.output_line(line),
                (Some("sh"), None) => {
                    let script = page.commands.last_mut().expect("its fence");
                    writeln!(script.line, "{line}").expect("a text");
                }
                (Some(_), None) => {
                    let (_, text) = page.files.last_mut().expect("its fence");
                    writeln!(text, "{line}").expect("a text");
                }
                (None, None) => {}
            }
        }
        page.files.retain(|(name, _)| !name.is_empty());
        let reading = text.split_once(READING).map_or("", |(_, rest)| rest);
        let reading = reading.split("\n## ").next().unwrap_or_default();
        page.terms = reading.split("**").skip(1).step_by(2).map(str::to_owned).collect();
        page
    }

    fn output_line(&mut self, line: &str) {
        if let Some(command) = line.strip_prefix("$ ") {
            let line = command.to_owned();
            self.commands.push(PageCommand { line, ..PageCommand::default() });
            return;
        }
        let [before @ .., last] = &mut self.commands[..] else { return };
        if last.line != "echo $?" {
            return last.shown.push(line.to_owned());
        }
        let of = before.last_mut().expect("a command whose exit code it is");
        of.exit_code = line.parse().expect("an exit code");
        self.commands.pop();
    }
}

impl PageCommand {
    /// Headings of sections: what begins a line with a capital and has no figures.
    fn headings(&self) -> impl Iterator<Item = &str> {
        let is_heading = |line: &&str| {
            let begins = line.starts_with(|c: char| c.is_uppercase());
            begins && !line.contains(|c: char| c.is_ascii_digit() || c == '…')
        };
        self.shown.iter().map(String::as_str).filter(is_heading)
    }

    fn words(&self) -> Vec<String> {
        words_of(&self.line, self.exit_code)
    }

    /// The script with its commands as [`words_of`] has them.
    fn script(&self) -> String {
        let line = |line: &str| {
            let Some((command, rest)) = line.split_once(" > ").filter(|_| is_command(line)) else {
                return shortened(line) + "\n";
            };
            let words = words_of(command, self.exit_code);
            let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            format!("'{}' {} > {rest}\n", env!("CARGO_BIN_EXE_dbtime"), quoted.join(" "))
        };
        self.line.lines().map(line).collect()
    }

    /// Runs it to its end; `adapt` puts the servers of the test in place of the reader's.
    fn run(&self, sandbox: &Sandbox, adapt: impl Fn(&mut Vec<String>)) -> Ran {
        if !self.is_script {
            let mut words = self.words();
            adapt(&mut words);
            return sandbox.run_words(&words);
        }
        let mut shell = Command::new("sh");
        sandbox.settle(shell.arg("-c").arg(self.script()));
        let ours = Path::new(env!("CARGO_BIN_EXE_dbtime")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{path}", ours.display()));
        Ran::new(&self.line, &shell.output().expect("a shell"))
    }
}

/// A line of a script with the times of a machine that is in a hurry, else as it is.
fn shortened(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let flag = words[at - 1].clone();
        shorten(&flag, &mut words[at], false);
    }
    if line.contains("dbtime run ") {
        words.extend(ending(&words).iter().map(|word| (*word).to_owned()));
    }
    words.join(" ")
}

fn is_command(line: &str) -> bool {
    line.starts_with("dbtime ")
}

/// The words of a command with times, sizes and limits for a busy machine that is in a hurry.
fn words_of(line: &str, exit_code: i32) -> Vec<String> {
    let mut words = words(line.strip_prefix("dbtime ").expect("a command of dbtime"));
    let is_trace = words[0] == "trace";
    for at in 1..words.len() {
        let flag = words[at - 1].clone();
        shorten(&flag, &mut words[at], is_trace);
        if flag == "--limit" {
            words[at] = limit(&words[at], exit_code);
        }
    }
    if words[0] == "run" {
        words.extend(ending(&words).iter().map(|word| (*word).to_owned()));
    }
    words
}

/// What a run is given behind its own flags: flat out it ends with so many answers, however long a
/// busy machine takes for them; with a rate or think times it has a short warm-up.
fn ending(words: &[String]) -> &'static [&'static str] {
    let has = |flag: &str| words.iter().any(|word| word == flag);
    match has("--rate") || has("--think") {
        _ if has("--transactions") => &[],
        true => &["--warmup", "100ms"],
        false => &["--transactions", "300", "--time", "100s", "--warmup", "0s"],
    }
}

/// Makes the value of a flag, or an option of sysbench's form, as small as its meaning allows.
fn shorten(flag: &str, word: &mut String, is_trace: bool) {
    if flag == "run" && WITH_FEW_ROWS.contains(&word.as_str()) {
        return word.push_str(".toml");
    }
    let short = match (flag, word.split_once('=')) {
        ("--time", _) if !is_trace => "1s",
        ("--time", _) => "2s",
        ("--rate", _) if word.starts_with("auto") => "100/s",
        // Repeated at all, so that there is something to be said of repetitions.
        ("--repeat", _) => "2",
        // Think times are checked from a thousand on, and a busy machine wakes clients late.
        ("--connections", _) if word.as_str() == "200" => "40",
        ("--sweep", _) => {
            // Two values of a factor make a table.
            let mut commas = word.match_indices(',').map(|(at, _)| at);
            if let Some(second) = commas.nth(1) {
                word.truncate(second);
            }
            return;
        }
        (_, Some(("--time" | "--report-interval", _))) => return set_value(word, "1"),
        (_, Some(("--table-size" | "table_size", _))) => return set_value(word, "100"),
        _ => return,
    };
    short.clone_into(word);
}

/// Gives `name=value` another value.
fn set_value(word: &mut String, value: &str) {
    word.truncate(word.find('=').expect("a name and a value") + 1);
    word.push_str(value);
}

/// A limit that decides on any machine as the page shows it.
fn limit(text: &str, exit_code: i32) -> String {
    let limit = match text.split_once("<=").or_else(|| text.split_once(">=")) {
        Some(("throughput", _)) => "throughput>=1/s",
        Some(("errors", _)) => "errors<=50%",
        _ if exit_code == 1 => "p99<=1us",
        _ => "p99<=60s",
    };
    limit.to_owned()
}

/// A workload file with few rows, and with limits that hold on any machine.
fn patient(text: &str) -> String {
    let line = |line: &str| match line.starts_with("limits = ") {
        true => line.replace("ms\"", "s\"") + "\n",
        false => line.replace("rows_per_scale = 50_000", "rows_per_scale = 1_000") + "\n",
    };
    text.lines().map(line).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn page(name: &str) -> JobPage {
    let path = folder().join(format!("{name}.md"));
    let page = JobPage::parse(&fs::read_to_string(path).expect("a page"));
    assert!(page.commands.len() > 1, "{name}");
    page
}

/// A command ended as its page shows.
fn is_as_shown(command: &PageCommand, ran: &Ran) {
    ran.exits(command.exit_code);
    for heading in command.headings() {
        assert!(ran.out.contains(heading), "no `{heading}` in {ran:?}");
    }
}

/// Everything that the page explains was printed.
fn explains(page: &JobPage, printed: &str) {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!page.terms.is_empty());
    for term in &page.terms {
        assert!(printed.contains(term.as_str()), "no `{term}` in {printed}");
    }
}

/// Runs a page's commands; `adapt` puts the servers of the test in place of the reader's.
fn runs(name: &str, adapt: impl Fn(&mut Vec<String>)) {
    let page = page(name);
    let sandbox = Sandbox::on_disk();
    for workload in WITH_FEW_ROWS {
        write_small(&sandbox, workload);
    }
    for (file, text) in &page.files {
        sandbox.write(file, &patient(text));
    }
    let mut printed = String::new();
    for command in &page.commands {
        let ran = command.run(&sandbox, &adapt);
        is_as_shown(command, &ran);
        printed += &ran.out;
    }
    explains(&page, &printed);
}

#[test]
fn a_gate_passes_and_fails() {
    runs("gate-in-ci", |_| {});
}

#[test]
fn connections_are_swept() {
    runs("how-many-connections", |_| {});
}

#[test]
fn a_schema_of_ones_own_is_loaded_and_driven() {
    runs("own-schema", |_| {});
}

#[test]
fn two_settings_are_compared() {
    runs("which-setting", |_| {});
}

#[test]
fn a_sysbench_job_is_replaced() {
    if !Path::new("/usr/share/sysbench").exists() {
        assert!(std::env::var_os("CI").is_none(), "sysbench has to be installed here");
        not_tested("sysbench is not installed");
        return;
    }
    let given = GivenServer::start(Product::Mariadb, &[]);
    let login = [
        format!("--mysql-socket={}", given.server.socket().display()),
        format!("--mysql-user={}", given.server.user()),
        format!("--mysql-password={}", given.server.password().reveal()),
        "--mysql-db=d".to_owned(),
    ];
    runs("replace-sysbench", |words| {
        if let Some(at) = words.iter().position(|word| word.starts_with("--mysql-socket=")) {
            words.splice(at..=at, login.clone());
        }
    });
}

/// Reports what is missing where the tests run; the test harness would hide what is printed.
fn not_tested(cause: &str) {
    let note = format!("NOT TESTED: {cause}\n");
    std::io::stderr().write_all(note.as_bytes()).expect("a terminal or a log");
}

/// Starts the load that the page watches; returns it and the process of its server.
fn start_load(sandbox: &Sandbox, command: &PageCommand) -> (Running, String) {
    let line = command.line.strip_prefix("dbtime ").expect("a command of dbtime");
    let line = line.strip_suffix(" &").expect("it goes on beside the others");
    // Half of the load has slow requests too.
    let half = line.replace("--think exp:10ms", "--think exp:20ms");
    assert_ne!(half, line, "its think time is another one");
    let load = sandbox.start(&half);
    // The server writes it as the last thing before it lets anybody in.
    sandbox.wait_for(&["tmp", "dbtime-", "pid"]);
    let folder = crate::sandbox::names(&sandbox.path("tmp"));
    let server = folder.iter().find(|name| name.starts_with("dbtime-")).expect("its folder");
    (load, process_in(&sandbox.path("tmp").join(server).join("pid")))
}

/// The number in a file that is there, but may be empty yet.
fn process_in(file: &Path) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).expect("the number of a process");
        if text.ends_with('\n') {
            return text.trim().to_owned();
        }
        assert!(begun.elapsed() < PATIENCE, "{text:?} in {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_load_is_tuned_by_its_budget() {
    // Where CI is set it has to be permitted, and the page would say that it is not.
    let may_be_refused = std::env::var_os("CI").is_none();
    let probe = "run --query 'SELECT 1' --target mariadb --transactions 10 --trace --json";
    if may_be_refused && Sandbox::new().run(probe).out.contains("CAP_BPF") {
        return not_tested("no eBPF here");
    }
    runs("tune-by-budget", |_| {});
}

#[test]
fn slow_requests_are_explained() {
    let page = page("slow-p99");
    let sandbox = Sandbox::on_disk();
    let (load, pid) = start_load(&sandbox, &page.commands[0]);
    // The load has begun when a statement of it has been seen.
    let first = format!("trace -p {pid} -n 1 --match pgbench_branches --command EXECUTE --time 1m");
    let ran = sandbox.run(&first);
    if ran.err.contains("CAP_BPF") {
        assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here: {}", ran.err);
        not_tested(&format!("no eBPF here: {}", ran.err));
        load.interrupt();
        load.end();
        return;
    }
    assert!(ran.out.contains("pgbench_branches"), "{ran:?}");
    let mut printed = String::new();
    for command in &page.commands[1..] {
        let ran = command.run(&sandbox, |words| {
            if let Some(at) = words.iter().position(|word| word == "mariadbd") {
                words[at].clone_from(&pid);
            }
        });
        is_as_shown(command, &ran);
        printed += &ran.out;
    }
    // On a busy machine its think times are longer than they should be, which fails a check.
    load.interrupt();
    load.end();
    explains(&page, &printed);
}

#[test]
fn every_page_for_a_job_is_run() {
    let pages = fs::read_dir(folder()).expect("documents").flatten().map(|entry| entry.path());
    let is_job = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(READING));
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut found: Vec<String> = pages.filter(is_job).map(stem).collect();
    found.sort();
    assert_eq!(found, PAGES);
    for name in PAGES {
        let text = fs::read_to_string(folder().join(format!("{name}.md"))).expect("a page");
        for heading in [READING, "## What it cannot tell", "## Next step"] {
            assert!(text.contains(&format!("\n{heading}\n")), "{heading} in {name}");
        }
    }
}

#[test]
fn commands_of_a_page_have_their_output_and_exit_code() {
    let text = "```toml x.toml\na = 1\n```\n```text\n$ dbtime run x --time 9m\nOne heading\n  a 1\n\
                $ echo $?\n1\n$ dbtime runs\n```\n```sh\ndbtime run x --rate 5/s > y\necho\n```\n\
                ## How to read it\n**a** b **c**\n## Next\n**d**\n";
    let page = JobPage::parse(text);
    assert_eq!(page.files, [("x.toml".to_owned(), "a = 1\n".to_owned())]);
    assert_eq!(page.terms, ["a", "c"]);
    let [run, runs, script] = &page.commands[..] else { panic!("{page:?}") };
    let expected = "'run' 'x' '--rate' '5/s' '--warmup' '100ms' > y\necho\n";
    assert!(script.script().ends_with(expected), "{}", script.script());
    assert_eq!((run.exit_code, runs.exit_code), (1, 0));
    assert_eq!(run.headings().collect::<Vec<_>>(), ["One heading"]);
    let flat_out = ["--transactions", "300", "--time", "100s", "--warmup", "0s"];
    assert_eq!(run.words(), [&["run", "x", "--time", "1s"][..], &flat_out[..]].concat());
    let looped = "    dbtime run tpcb.toml --out a/$i";
    let expected = format!("{looped} {}", flat_out.join(" "));
    assert_eq!(shortened(&looped.replace(".toml", "")), expected);
    let command = |line: &str| PageCommand { line: line.to_owned(), ..PageCommand::default() };
    let words =
        command("dbtime run y --sweep connections=1,2,4 --rate auto --limit p9<=1s").words();
    let expected = ["run", "y", "--sweep", "connections=1,2", "--rate", "100/s", "--limit"];
    assert_eq!(words[..7], expected);
    assert_eq!(words[7], "p99<=60s");
    assert_eq!(patient("a\nlimits = [\"p9 <= 5ms\"]"), "a\nlimits = [\"p9 <= 5s\"]\n");
}
