//! The sentences of a report, in plain text, for the terminal, the HTML file and comparisons alike.

use crate::budget_story;
use crate::format::{clean, count, counted, if_any, percent, rate, seconds, us};
use crate::means::PartMeans;
use crate::tail::TailSlice;
use dbtime_model::record::{
    ArrivalProcess, BacklogPolicy, Basis, Check, CheckDoubt, CheckMetric, CheckOrigin,
    CheckOutcome, LoadInfo, LoadMode, OperationSummary, PrimaryMetric, RunRecord, ThinkSummary,
    ValidityGrade, Warning, WarningKind,
};
use dbtime_model::{BitRate, Part};

/// What ran against what: `atm (scale 1) on sqlite 3.50.4`.
pub(crate) fn headline(record: &RunRecord) -> String {
    let workload = &record.workload;
    let scale = if workload.scale > 1 {
        format!(" at scale {}", count(workload.scale))
    } else {
        String::new()
    };
    let target = record.target.identity();
    format!("{}{scale} on {}", workload_name(record), clean(or(&target, "an unnamed target")))
}

/// The workload by its name.
pub(crate) fn workload_name(record: &RunRecord) -> String {
    clean(or(&record.workload.name, "unnamed workload"))
}

fn or<'a>(text: &'a str, instead: &'a str) -> &'a str {
    if text.is_empty() { instead } else { text }
}

/// How the load was made: `open loop: 500/s, steady arrivals, 64 connections`.
pub(crate) fn load(load: &LoadInfo) -> String {
    let mut words = Vec::new();
    let many = u64::from(load.connections);
    if is_open(load) {
        words.push(format!("open loop: {}", offered(load)));
        words.push(format!("{} arrivals", clean(or(&load.arrivals.to_string(), "unnamed"))));
        words.push(counted(many, "connection"));
    } else {
        words.push(format!("closed loop: {}", counted(many, "client")));
    }
    words.extend(load.workers.map(|workers| counted(workers.into(), "worker")));
    words.extend(load.shards.map(|shards| counted(shards.into(), "shard")));
    if let Some(think) = think(load) {
        words.push(format!("think {think}"));
    }
    if let Some(jitter) = load.jitter_us.filter(|jitter| *jitter > 0.0) {
        words.push(format!("jitter {}", us(jitter)));
    }
    if let Some(delay) = load.network_delay_us {
        words.push(format!("requests held back for {}", us(delay)));
    }
    if let Some(bits) = load.network_bits_per_s {
        words.push(format!("network of {}", BitRate(bits)));
    }
    if !load.on_backlog.is_missing() && load.on_backlog != BacklogPolicy::Wait {
        words.push(format!("on backlog {}", clean(&load.on_backlog.to_string())));
    }
    words.join(", ")
}

/// The offered rate, and as what it was given where that says more.
fn offered(load: &LoadInfo) -> String {
    let mean = load.rate_tps.map(|tps| format!("{}/s", rate(tps)));
    match (mean, load.rate.as_deref().map(clean)) {
        (Some(mean), Some(given)) if given != mean && given.contains(':') => {
            format!("{mean} ({given})")
        }
        (Some(mean), _) => mean,
        (None, Some(given)) => given,
        (None, None) if load.arrivals == ArrivalProcess::AtOnce => "no delay".to_owned(),
        (None, None) => "rate not recorded".to_owned(),
    }
}

/// The think time as given, or its mean.
fn think(load: &LoadInfo) -> Option<String> {
    load.think.as_deref().map(clean).or_else(|| load.think_us.map(us))
}

/// Whether transactions were due at instants of their own.
pub(crate) fn is_open(load: &LoadInfo) -> bool {
    load.mode == LoadMode::Open || (load.mode.is_missing() && load.rate_tps.is_some())
}

/// How `--rate auto` found its rate.
pub(crate) fn auto_rate(load: &LoadInfo) -> Option<String> {
    let auto = load.auto.as_ref()?;
    let own = load.workers.unwrap_or(load.connections);
    // Found by another run of a sweep.
    let elsewhere = match auto.concurrency {
        0 => String::new(),
        servers if servers == own => String::new(),
        servers => format!(" over {servers} connections"),
    };
    Some(format!(
        "rate auto: {} of the {}/s that {} flat out{elsewhere} gave",
        percent(auto.share_pct),
        rate(auto.flat_out_tps),
        seconds(auto.measured_s)
    ))
}

/// What response times start from.
pub(crate) fn basis(record: &RunRecord) -> &'static str {
    match record.basis {
        Basis::Response if is_open(&record.load) => {
            "measured from the instant each transaction was due"
        }
        Basis::Response => {
            "closed loop with a pool: measured from the instant the client was ready"
        }
        Basis::Service => "closed loop: measured from the instant the client was ready",
    }
}

/// Of which transactions these latencies are, where some are unfinished or outstanding: those have
/// no end, so that their age, or the window's length, is in the response alone.
pub(crate) fn of_ended(record: &RunRecord) -> Option<String> {
    let ended = record.counts.ended();
    let sentence = || match ended {
        0 => "service, queue and lag: none, as no transaction ended".to_owned(),
        _ => format!("service, queue and lag: of the {} that ended", count(ended)),
    };
    (record.counts.unfinished > 0 || record.counts.outstanding > 0).then(sentence)
}

/// Where the time of a group of transactions went, largest part first.
pub(crate) struct StoryAnswer {
    /// Its parts with their shares in percent: the largest and, where it matters, the next.
    pub(crate) parts: Vec<(Part, f64)>,
    /// The mean response.
    pub(crate) total_us: f64,
}

/// The answer for one group; `None` when there is nothing to explain.
pub(crate) fn answer(means: &PartMeans) -> Option<StoryAnswer> {
    let shares =
        means.largest().into_iter().filter_map(|(part, _)| Some((part, means.share(part)?)));
    // A second part is worth its words when it is at least an eighth of the whole.
    let keep = |(index, (_, share)): &(usize, (Part, f64))| *index == 0 || *share >= 12.5;
    let parts: Vec<_> = shares.enumerate().filter(keep).map(|(_, part)| part).take(3).collect();
    (!parts.is_empty()).then_some(StoryAnswer { parts, total_us: means.total })
}

impl StoryAnswer {
    /// The largest part as the predicate of a sentence, the others after it.
    pub(crate) fn text(&self, subject: &str) -> String {
        let (part, share) = self.parts[0];
        let head = format!("{} of {subject} is {}", percent(share), named(part));
        let rest: Vec<_> = self.parts[1..].iter().map(|(p, s)| also(*p, *s)).collect();
        if rest.is_empty() { head } else { format!("{head}, {}", rest.join(", ")) }
    }
}

/// A part with its meaning: `sync (blocked in fsync)`.
pub(crate) fn named(part: Part) -> String {
    format!("{} ({})", part.name(), part.meaning())
}

fn also(part: Part, share: f64) -> String {
    format!("{} {}", percent(share), part.name())
}

/// Where the time of a mean transaction goes, in one sentence.
pub(crate) fn where_it_goes(record: &RunRecord) -> String {
    let Some(budget) = &record.budget_us else {
        return match record.budget {
            Some(_) => "not measured: none of the transactions was".to_owned(),
            None => "not measured (run without --no-budget to learn it)".to_owned(),
        };
    };
    match answer(&budget.into()) {
        Some(answer) => {
            let sentence = answer.text(&format!("a transaction's {}", us(answer.total_us)));
            match budget_story::all_mean(record) {
                Some(all) => format!("{sentence}; {all}"),
                None => sentence,
            }
        }
        None if record.counts.completed == 0 => "no transaction completed".to_owned(),
        None => "no transaction was measured".to_owned(),
    }
}

/// Which the slowest are: `slowest 0.9 %`.
pub(crate) fn slow_name(slice: &TailSlice) -> String {
    format!("slowest {}", percent(slice.share))
}

/// Why the figures may be wrong; `None` when nothing speaks against them.
pub(crate) fn invalid(record: &RunRecord) -> Option<String> {
    record.validity.reason().map(|reason| clean(&reason))
}

/// Why a run is in no verdict on this metric; `None`: it is.
pub(crate) fn discount(record: &RunRecord, metric: PrimaryMetric) -> Option<String> {
    record.discount_for(metric).map(|reason| clean(&reason))
}

/// The warning that makes the figures doubtful.
pub(crate) fn culprit(record: &RunRecord) -> Option<&Warning> {
    record.validity.culprit()
}

/// What makes a run noisy, where nothing makes the figures wrong.
pub(crate) fn noise(record: &RunRecord) -> Option<&Warning> {
    record.validity.noise()
}

/// Why a run is noisy, where nothing makes its figures wrong; `None`: it is not.
pub(crate) fn noisy(record: &RunRecord) -> Option<String> {
    let unknown = || "its record does not say why".to_owned();
    let why = || noise(record).map_or_else(unknown, |warning| clean(&warning.text));
    (record.validity.grade() == ValidityGrade::Noisy).then(why)
}

/// The warning that the target gave no service for some time.
pub(crate) fn stall(record: &RunRecord) -> Option<&Warning> {
    record.validity.warnings.iter().find(|warning| warning.kind == WarningKind::Stall)
}

/// The warnings beside these.
pub(crate) fn other_warnings(record: &RunRecord) -> impl Iterator<Item = &Warning> {
    let shown = [culprit(record), noise(record), stall(record)];
    let is_shown = move |warning: &Warning| {
        shown.into_iter().flatten().any(|other| std::ptr::eq(other, warning))
    };
    record.validity.warnings.iter().filter(move |warning| !is_shown(warning))
}

/// Whether it was made by a command with the flags of another tool.
pub(crate) fn is_of_original(record: &RunRecord) -> bool {
    ["dbtime sysbench", "dbtime pgbench"].iter().any(|name| record.command.starts_with(name))
}

/// How the limits came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitResults {
    /// Nothing was required.
    None,
    /// Everything required was met.
    Passed,
    Failed(MissedLimits),
    /// Of these nobody knows ([`CheckDoubt`]).
    Undecided(MissedLimits),
}

/// How much was missed or is undecided, by who required it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MissedLimits {
    limits: usize,
    /// Limits that were set.
    set: usize,
    /// Checks of dbtime's own that are, on mix and think times.
    own: usize,
}

impl MissedLimits {
    /// Those that decide of which this holds.
    fn of(record: &RunRecord, is_counted: impl Fn(&Check) -> bool) -> Self {
        let checks = record.checks().map(|(_, check)| check).filter(|check| check.decides());
        let counted: Vec<&Check> = checks.filter(|check| is_counted(check)).collect();
        let limits = counted.iter().filter(|check| check.is_limit()).count();
        Self { limits, set: set(record), own: counted.len() - limits }
    }

    /// Both kinds, where there is any: `1 of 2 limits, 1 check on mix and think times`, with what
    /// is to stand behind limits and behind each.
    pub(crate) fn text(&self, behind_limits: &str, behind: &str) -> String {
        let limits = format!("{} of {} limits{behind}{behind_limits}", self.limits, self.set);
        let own = counted(self.own as u64, "check");
        let own = format!("{own} on mix and think times{behind}");
        let kinds = [(self.limits, limits), (self.own, own)];
        let texts: Vec<String> =
            kinds.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
        texts.join(", ")
    }
}

/// All limits together. What dbtime itself looks at is none, but where it is missed beyond doubt.
pub(crate) fn limits(record: &RunRecord) -> LimitResults {
    let missed = |outcome| MissedLimits::of(record, |check| check.outcome() == outcome);
    match record.limits_outcome() {
        None => LimitResults::None,
        Some(CheckOutcome::Passed) => LimitResults::Passed,
        Some(outcome @ CheckOutcome::Undecided) => LimitResults::Undecided(missed(outcome)),
        Some(outcome @ CheckOutcome::Failed) => LimitResults::Failed(missed(outcome)),
    }
}

/// How many limits were set.
fn set(record: &RunRecord) -> usize {
    record.checks().filter(|(_, check)| check.is_limit()).count()
}

/// Whose the limits are: `2 of the workload, 1 of the command line`.
fn whose(record: &RunRecord) -> Option<String> {
    let of = |origin| record.checks().filter(|(_, check)| check.origin == origin).count();
    let kinds = [
        (of(CheckOrigin::Workload), "of the workload"),
        (of(CheckOrigin::Given), "of the command line"),
    ];
    let shown: Vec<String> = kinds
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, whose)| format!("{} {whose}", count(n as u64)))
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// What dbtime looks at by itself, where there is enough to look at and it is as required.
fn own_checks(record: &RunRecord) -> &'static str {
    let own = |metric: CheckMetric| {
        let mut own = record.checks().filter(|(_, check)| !check.is_limit() && check.passed);
        own.any(|(_, check)| check.metric == metric)
    };
    match (own(CheckMetric::Share), own(CheckMetric::Think)) {
        (true, true) => "; mix of operations and think times are as required",
        (true, false) => "; the mix of operations is as required",
        (false, true) => "; think times are as required",
        (false, false) => "",
    }
}

/// The limits in words.
pub(crate) fn limits_text(record: &RunRecord) -> String {
    let how = match is_of_original(record) {
        true => "",
        false => " (require one with --limit 'p90<=5ms')",
    };
    let whose = whose(record).map_or(String::new(), |whose| format!(" ({whose})"));
    match limits(record) {
        LimitResults::None => {
            format!("none set{how}{}", own_checks(record))
        }
        LimitResults::Passed => {
            let set = counted(set(record) as u64, "limit");
            format!("PASSED: {set} met{whose}{}", own_checks(record))
        }
        LimitResults::Failed(missed) => format!("FAILED: {}", missed.text(&whose, " missed")),
        LimitResults::Undecided(_) => undecided_text(record, &whose),
    }
}

/// What is undecided, by the reasons for that.
fn undecided_text(record: &RunRecord, whose: &str) -> String {
    let noise = match record.client.standstills.is_empty() {
        true => "perhaps because of other activity on the machine",
        false => "perhaps because of other activity on the machine, or a driver that stood still",
    };
    let reasons = [
        (CheckDoubt::Lateness, "and met without the driver's own lateness"),
        (CheckDoubt::Noise, noise),
        (CheckDoubt::EndedEarly, "because the run ended early"),
        (CheckDoubt::Unserved, "as some clients had no connection, or no answer in the window"),
        (CheckDoubt::Unfinished, "because transactions of the window never ended"),
    ];
    let of = |(doubt, why): (CheckDoubt, &str)| {
        let open = MissedLimits::of(record, |check| check.reason() == Some(doubt));
        let text = open.text(whose, behind(doubt));
        (!text.is_empty()).then(|| format!("{text}, {why}"))
    };
    let texts: Vec<String> = reasons.into_iter().filter_map(of).collect();
    format!("UNDECIDED: {}", texts.join("; "))
}

/// What is said behind each that is undecided for this.
fn behind(doubt: CheckDoubt) -> &'static str {
    match doubt.is_open() {
        true => " open",
        false => " missed",
    }
}

/// The undecided ones in a few words.
pub(crate) fn undecided_note(record: &RunRecord, open: MissedLimits) -> String {
    match record.doubt() {
        None | Some(CheckDoubt::Lateness) => open.text("", " missed by lag"),
        Some(doubt) => open.text("", behind(doubt)),
    }
}

/// What did not end well, with its share of all offered, and what was outstanding beside; `None`
/// when everything did.
pub(crate) fn lost(record: &RunRecord) -> Option<String> {
    let c = &record.counts;
    let kinds = [(c.failed, "failed"), (c.dropped, "dropped"), (c.unfinished, "unfinished")];
    let mut shown: Vec<String> = kinds
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| {
            let share = 100.0 * n as f64 / c.offered.max(1) as f64;
            format!("{} of {} {what} ({})", count(n), count(c.offered), percent(share))
        })
        .collect();
    let outstanding = Some(c.outstanding).filter(|n| *n > 0);
    shown.extend(outstanding.map(|n| format!("{} outstanding through the window", count(n))));
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The identity of the counts, and whether it holds.
pub(crate) fn counts_identity(record: &RunRecord) -> (bool, String) {
    let c = record.counts;
    let parts = [c.completed, c.failed, c.dropped, c.unfinished];
    let sum = parts.iter().map(|n| u128::from(*n)).sum::<u128>();
    let holds = sum == u128::from(c.offered);
    let [completed, failed, dropped, unfinished] = parts.map(count);
    let text = format!(
        "offered {} {} completed {completed} + failed {failed} + dropped {dropped} + \
            unfinished {unfinished}",
        count(c.offered),
        if holds { "=" } else { "≠" },
    );
    (holds, if holds { text } else { format!("{text}: the counts do not add up, which is a bug") })
}

/// What was left out of the window, with figures.
pub(crate) fn outside(record: &RunRecord) -> String {
    let window = &record.window;
    format!(
        "measured {}; left out: {} of warm-up, {} of run-down, {} due outside the window{}",
        seconds(window.measure_s),
        seconds(window.warmup_s),
        seconds(window.rundown_s),
        counted(window.outside, "transaction"),
        if window.ended_early { "; ended early" } else { "" },
    )
}

/// How think time came out, a sentence per operation that has one.
pub(crate) fn think_times(record: &RunRecord) -> Vec<String> {
    let operations = record.operations.iter().filter_map(|o| Some((o, o.think.as_ref()?)));
    let sentence = |(operation, think): (&OperationSummary, &ThinkSummary)| {
        format!(
            "{}: {} on average, {} requested ({})",
            clean(&operation.name),
            us(think.taken_us),
            us(think.requested_us),
            counted(think.count, "pause")
        )
    };
    operations.map(sentence).collect()
}

/// The offered rate, or what stands in for one.
pub(crate) fn offered_rate(record: &RunRecord) -> String {
    match (is_open(&record.load), record.load.rate_tps) {
        (true, Some(tps)) => format!("{}/s offered", rate(tps)),
        (true, None) if record.load.arrivals == ArrivalProcess::AtOnce => {
            "offered at once".to_owned()
        }
        (true, None) => "offered rate not recorded".to_owned(),
        (false, _) => match think(&record.load) {
            Some(think) => format!("in a closed loop with think time {think}"),
            None if pauses(record) => "in a closed loop with the workload's think times".to_owned(),
            None => "flat out".to_owned(),
        },
    }
}

/// Whether the workload itself has its clients pause, between transactions or within.
fn pauses(record: &RunRecord) -> bool {
    let between = |operation: &OperationSummary| {
        operation.think.is_some_and(|think| think.requested_us > 0.0 || think.taken_us > 0.0)
    };
    let within = record.budget_us.as_ref().and_then(|budget| budget.think);
    record.operations.iter().any(between) || within.is_some_and(|us| us > 0.0)
}

/// A figure of the responses, or a dash where there is none.
pub(crate) fn latency(record: &RunRecord, value_us: f64) -> String {
    if_any(record.known_response(value_us), us)
}

/// The same of service, queue or lag.
pub(crate) fn latency_of_ended(record: &RunRecord, value_us: f64) -> String {
    if_any(record.known_of_ended(value_us), us)
}
