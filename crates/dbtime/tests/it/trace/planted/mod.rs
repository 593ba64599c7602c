//! Causes that are planted: the right part of the responses grows by what was planted, and the
//! advice names it.

mod cpu;
mod disk;
mod driver;
mod first_lines;
mod locks;
mod mutex;
mod network;
mod preload;

use super::*;
use crate::given_server::PRODUCTS;
use crate::sandbox::number;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far what is found may be from what was planted.
const TOLERANCE: RangeInclusive<f64> = 0.95..=1.05;

/// The window begins so long after the load.
const WARM_UP: Duration = Duration::from_millis(300);

/// A traced run, and the advice on it.
struct ExplainedRun {
    record: Value,
    advice: Value,
}

impl ExplainedRun {
    /// Runs a load; `None` without eBPF.
    fn of(line: &str) -> Option<Self> {
        Self::of_in(&Sandbox::new(), line, |_| {})
    }

    /// The same in a sandbox, with something that happens meanwhile.
    fn of_in(sandbox: &Sandbox, line: &str, meanwhile: impl FnOnce(u32)) -> Option<Self> {
        let _ = std::fs::remove_dir_all(sandbox.path("r"));
        let load = format!("--warmup {}ms --trace --out r --json", WARM_UP.as_millis());
        let running = sandbox.start(&format!("run {line} {load}"));
        meanwhile(running.pid());
        let ran = running.end();
        let record: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        if record["trace"].is_null() {
            not_tested(&record["validity"].to_string());
            return None;
        }
        let join = &record["trace"]["join"];
        assert_eq!((&join["unmatched"], &join["ambiguous"]), (&0.into(), &0.into()), "{join}");
        let advice = sandbox.run("explain r --json").fine().json();
        Some(Self { record, advice })
    }

    fn part_us(&self, part: &str) -> f64 {
        let budget = self.record["budget_us"].as_object().expect("transactions in the window");
        budget[part].as_f64().unwrap_or_default()
    }

    /// How long a commit was blocked in its sync, or had no CPU after that.
    fn commit_us(&self) -> f64 {
        let mut statements = self.record["statements"].as_array().expect("a list").iter();
        let commit = statements.find(|one| one["name"] == "commit").expect("it commits");
        let part = |part: &&str| commit["budget_us"][*part].as_f64();
        ["sync", "runq_preempted", "runq_woken"].iter().filter_map(part).sum()
    }

    /// Whether a rule gives advice with these words in it.
    fn advises(&self, rule: &str, words: &[&str]) {
        let mut pieces = self.advice["advice"].as_array().expect("a list").iter();
        let piece = pieces.find(|piece| piece["rule"] == rule);
        let piece = piece.unwrap_or_else(|| panic!("no {rule}: {:#}", self.advice)).to_string();
        words.iter().for_each(|words| assert!(piece.contains(words), "{words}: {piece}"));
    }

    /// What the advice begins with.
    fn first_line(&self) -> &str {
        self.advice["advice"][0]["cause"].as_str().unwrap_or("no advice")
    }

    /// What was found of what was planted, where the advice begins with that; nothing where the
    /// machine was so busy that it begins with something else.
    fn if_first(&self, words: &str, (found, planted): (f64, f64)) -> (f64, f64) {
        let line = self.first_line();
        let is_first = line.contains(words);
        if !is_first {
            let text = format!("begins with: {line}\n");
            std::io::stderr().write_all(text.as_bytes()).expect("a terminal or a log");
        }
        (if is_first { found } else { 0.0 }, planted)
    }

    /// Whether the rule has nothing to win of the mean. A few waits may be most of the slowest.
    fn does_not_advise(&self, rule: &str) {
        let mut pieces = self.advice["advice"].as_array().expect("a list").iter();
        let is_small = |piece: &Value| number(piece, "/mean/share_pct") < 10.0;
        let is_absent = pieces.all(|piece| piece["rule"] != rule || is_small(piece));
        assert!(is_absent, "{rule}: {:#}", self.advice);
    }
}

/// What other processes of a busy machine make of any response.
const BUSY: [&str; 4] = ["lag", "runq_preempted", "runq_woken", "server_queue"];

/// The planting is repeated so often while the machine is too busy to find it.
const ATTEMPTS: usize = 4;

/// Two at once would plant in each other's runs.
static PLANTING: Mutex<()> = Mutex::new(());

/// Sets it at the end, of a test that panics too: who goes by it would go on for ever.
struct EndSignal<'a>(&'a AtomicBool);

impl Drop for EndSignal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What was found of something is what was planted, in one of some attempts.
fn is_found(mut attempt: impl FnMut() -> Option<(f64, f64)>) {
    let _alone = PLANTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some((found, planted)) = attempt() else { return };
        // The test harness would hide what is printed.
        let figures = format!("found {found:.1}, planted {planted:.1}: {:.3}\n", found / planted);
        std::io::stderr().write_all(figures.as_bytes()).expect("a terminal or a log");
        if TOLERANCE.contains(&(found / planted)) {
            return;
        }
        seen.push(format!("{found} of {planted}"));
    }
    panic!("{seen:#?}");
}

/// By how much these parts have grown, and by how much the responses, without what a busy machine
/// makes of them. Unit: microseconds.
fn growth(without: &ExplainedRun, with: &ExplainedRun, parts: &[&str]) -> (f64, f64) {
    let grown = |part: &str| with.part_us(part) - without.part_us(part);
    let sum = |parts: &[&str]| parts.iter().map(|part| grown(part)).sum::<f64>();
    (sum(parts), grown("total") - sum(&BUSY))
}
