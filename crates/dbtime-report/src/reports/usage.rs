//! What a command, a process or a server used.

use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::{
    NONE, bytes, clean, count, counted, finite, four_digits, if_any, percent, rate, short_bytes, us,
};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Nanos;
use dbtime_model::process::{CommandExit, CpuSplit, ProcessMemory, ResourceUsage, UsageReport};

/// Processes that text shows one by one.
const MAX_PROCESSES: usize = 20;

/// The report: what was used in all, where the time of the threads went, everything else as
/// differences and per second.
pub fn usage_document(report: &UsageReport) -> ReportDocument {
    let mut document = answer(report);
    microstates(report, &mut document);
    differences(report, &mut document);
    memory(report, &mut document);
    rusage(report, &mut document);
    by_thread(report, &mut document);
    each(report, &mut document);
    document
}

/// A document of the one sentence, and what it was.
fn answer(report: &UsageReport) -> ReportDocument {
    let used = &report.used;
    let busy = used.busy_cpus();
    let text = format!(
        "used {} of CPU in {}: {} {}",
        long(used.resources.cpu),
        long(used.wall),
        four_digits(busy),
        if busy < 1.0 { "of a CPU" } else { "CPUs" },
    );
    let mut document = ReportDocument::new("dbtime usage", &text);
    document.fact("command", &report.command, TextRole::Plain);
    document.fact("process", &who(report), TextRole::Plain);
    document.fact("since", &report.started_at, TextRole::Plain);
    if let Some(exit) = report.exit {
        let (text, ink) = ended(exit);
        document.fact("ended", &text, ink);
    }
    document
}

fn who(report: &UsageReport) -> String {
    let used = &report.used;
    let mut text = report.pid.to_string();
    if report.exit.is_none() {
        text += &format!(
            "; {} with {} at the end",
            counted(u64::from(used.processes), "process"),
            counted(u64::from(used.threads), "thread")
        );
    }
    if report.exit.is_none() && (used.came > 0 || used.went > 0) {
        text += &format!("; {} came, {} went", count(u64::from(used.came)), count(used.went));
    }
    if !report.with_descendants {
        text += " without its descendants";
    }
    if report.is_gone {
        text += "; it has ended, and these are its last known figures";
    }
    text
}

fn ended(exit: CommandExit) -> (String, TextRole) {
    match (exit.code, exit.signal) {
        (Some(0), _) => ("with exit code 0".to_owned(), TextRole::Good),
        (Some(code), _) => (format!("with exit code {code}"), TextRole::Bad),
        (None, Some(signal)) => (format!("by signal {signal}"), TextRole::Bad),
        (None, None) => ("in a way that is not known".to_owned(), TextRole::Bad),
    }
}

/// Where the time of the threads went.
fn microstates(report: &UsageReport, document: &mut ReportDocument) {
    let states = &report.microstates;
    document.heading("Where the time of its threads went");
    let mut table = ReportTable::new(vec![
        TextColumn::text("State"),
        TextColumn::figure("Time"),
        TextColumn::figure("Share"),
        TextColumn::figure("Threads\non average"),
        TextColumn::text(""),
    ]);
    let wall = report.used.wall.as_secs().max(1e-9);
    let all = states.thread_time.as_secs().max(1e-9);
    let io = match states.blocked_io {
        Some(_) => "reads of storage, swapping",
        None => "kernel.task_delayacct is off; it is in sleeping",
    };
    let rows = [
        ("user", states.on_cpu.user, "on a CPU; divided by ticks"),
        ("system", states.on_cpu.system, "on a CPU, in the kernel; divided by ticks"),
        ("runnable", states.runnable, "something else had the CPU"),
        ("blocked on I/O", states.blocked_io, io),
        ("sleeping", states.sleeping, "the rest: blocked elsewhere, or nothing to do"),
        ("in all", Some(states.thread_time), "time of all threads together"),
    ];
    for (name, time, meaning) in rows {
        let show = |f: &dyn Fn(f64) -> String| match time {
            Some(time) => f(time.as_secs()),
            None => NONE.to_owned(),
        };
        table.row(vec![
            name.into(),
            show(&|_| long(time.unwrap_or_default())).into(),
            show(&|s| percent(100.0 * s / all)).into(),
            show(&|s| four_digits(s / wall)).into(),
            TextCell::new(meaning, TextRole::Dim),
        ]);
    }
    document.table(&table);
}

/// What was counted, in all and per second.
fn differences(report: &UsageReport, document: &mut ReportDocument) {
    let (resources, per_s) = (&report.used.resources, &report.per_second);
    document.heading("Differences");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Figure"),
        TextColumn::figure("In all"),
        TextColumn::figure("Per second"),
        TextColumn::text(""),
    ]);
    let mut row = |name: &str, all: Option<String>, per_s: Option<String>, meaning: &str| {
        let known = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        let meaning = if all.is_none() { "not to be read by this user" } else { meaning };
        table.row(vec![
            name.into(),
            known(all).into(),
            known(per_s).into(),
            TextCell::new(meaning, TextRole::Dim),
        ]);
    };
    let counts = |n: Option<u64>, r: Option<f64>| (n.map(count), r.map(rate));
    let sizes = |n: Option<u64>, r: Option<f64>| {
        (n.map(bytes), r.map(|r| bytes(finite(r).max(0.0) as u64)))
    };
    let (switches, faults, io) = (resources.switches, resources.faults, resources.io);
    let (n, r) = counts(switches.map(|s| s.voluntary), per_s.voluntary_switches);
    row("voluntary switches", n, r, "a thread blocked");
    let (n, r) = counts(switches.map(|s| s.involuntary), per_s.involuntary_switches);
    row("involuntary switches", n, r, "something else was given the CPU");
    let (n, r) = counts(faults.map(|f| f.minor), per_s.minor_faults);
    row("minor faults", n, r, "without reading");
    let (n, r) = counts(faults.map(|f| f.major), per_s.major_faults);
    row("major faults", n, r, "read from storage");
    let (n, r) = sizes(io.map(|io| io.read_bytes), per_s.read_bytes);
    row("read from storage", n, r, "");
    let (n, r) = sizes(io.map(|io| io.written_bytes), per_s.written_bytes);
    row("written to storage", n, r, "made dirty, and on its way there");
    let (n, r) = counts(io.map(|io| io.read_calls), per_s.read_calls);
    row("read calls", n, r, "files, pipes; not recv");
    let (n, r) = sizes(io.map(|io| io.read_chars), per_s.read_chars);
    row("through them", n, r, "from the page cache too");
    let (n, r) = counts(io.map(|io| io.write_calls), per_s.write_calls);
    row("write calls", n, r, "files, pipes; not send");
    let (n, r) = sizes(io.map(|io| io.written_chars), per_s.written_chars);
    row("through them", n, r, "");
    document.table(&table);
}

/// Memory at both ends.
fn memory(report: &UsageReport, document: &mut ReportDocument) {
    let (before, after) = (report.memory_before, report.used.memory);
    if before.is_none() && after.is_none() && report.rss_most_bytes.is_none() {
        return;
    }
    document.heading("Memory");
    let mut table = ReportTable::new(vec![
        TextColumn::text(""),
        TextColumn::figure("Before"),
        TextColumn::figure("After"),
        TextColumn::figure("Difference"),
        TextColumn::text(""),
    ]);
    let mut row = |name: &str, of: &dyn Fn(ProcessMemory) -> Option<u64>, meaning: &str| {
        let ends = [before.and_then(of), after.and_then(of)];
        if ends != [None, None] {
            let [before, after] = ends.map(|n| n.map_or(NONE.to_owned(), bytes));
            let change = signed(ends);
            let meaning = TextCell::new(meaning, TextRole::Dim);
            table.row(vec![name.into(), before.into(), after.into(), change.into(), meaning]);
        }
    };
    let shared = if report.used.processes > 1 { "shared memory counts once" } else { "" };
    row("resident", &|m| Some(m.rss_bytes), shared);
    row("of it shared", &|m| Some(m.rss_shared_bytes), "files and shared memory");
    row("resident at most", &|m| m.rss_peak_bytes, "in its whole life");
    let sum = if report.used.processes > 1 { "sum over the processes" } else { "" };
    row("address space", &|m| Some(m.vsize_bytes), sum);
    document.table(&table);
    if let Some(most) = report.rss_most_bytes.filter(|_| after.is_none()) {
        let text = format!("{} resident at most of what was seen while it ran", bytes(most));
        document.paragraph(&text, TextRole::Plain);
    }
}

/// The difference of two sizes with its sign.
fn signed([before, after]: [Option<u64>; 2]) -> String {
    match (before, after) {
        (Some(before), Some(after)) if after > before => format!("+{}", bytes(after - before)),
        (Some(before), Some(after)) if after < before => format!("−{}", bytes(before - after)),
        (Some(_), Some(_)) => "0 B".to_owned(),
        _ => NONE.to_owned(),
    }
}

/// What the kernel says of a command that has ended.
fn rusage(report: &UsageReport, document: &mut ReportDocument) {
    let Some(r) = &report.rusage else { return };
    document.heading("Resource usage of the command and the children it waited for (getrusage)");
    let floor = if report.is_peak_a_floor() { " (or less: dbtime itself had as much)" } else { "" };
    let text = format!(
        "user {}, system {}; at most {} resident in one of them{floor}; faults: {} minor, \
         {} major; blocks of 512 bytes: {} in, {} out; switches: {} voluntary, {} involuntary",
        long(r.user),
        long(r.system),
        bytes(r.max_rss_bytes),
        count(r.minor_faults),
        count(r.major_faults),
        count(r.blocks_in),
        count(r.blocks_out),
        count(r.voluntary_switches),
        count(r.involuntary_switches),
    );
    document.paragraph(&text, TextRole::Plain);
}

/// A line of a table of CPU time: who spent it, and what stands behind it.
struct CpuShare<'a> {
    name: Vec<TextCell>,
    resources: &'a ResourceUsage,
    split: &'a CpuSplit,
    more: Vec<TextCell>,
}

/// A table of CPU time; `columns` are those before it and those behind.
fn shares_of_cpu<'a>(
    columns: [Vec<TextColumn>; 2],
    shares: impl Iterator<Item = CpuShare<'a>>,
) -> ReportTable {
    let [before, behind] = columns;
    let cpu = ["CPU s", "USR s", "SYS s"].map(TextColumn::figure);
    let mut table = ReportTable::new(before.into_iter().chain(cpu).chain(behind).collect());
    for share in shares {
        let cpu = [
            TextCell::new(cpu_seconds(share.resources.cpu), TextRole::Bold),
            if_any(share.split.user, cpu_seconds).into(),
            if_any(share.split.system, cpu_seconds).into(),
        ];
        table.row(share.name.into_iter().chain(cpu).chain(share.more).collect());
    }
    table
}

fn cpu_seconds(time: Nanos) -> String {
    four_digits(time.as_secs())
}

/// Threads by name.
fn by_thread(report: &UsageReport, document: &mut ReportDocument) {
    if report.by_thread.is_empty() {
        return;
    }
    let shares = report.by_thread.iter().map(|threads| CpuShare {
        name: vec![clean(&threads.name).into(), count(threads.threads.into()).into()],
        resources: &threads.resources,
        split: &threads.split,
        more: vec![
            if_any(threads.resources.run_delay, cpu_seconds).into(),
            if_any(threads.resources.switches.map(|s| s.voluntary), count).into(),
            if_any(threads.resources.switches.map(|s| s.involuntary), count).into(),
        ],
    });
    let name = vec![TextColumn::text("Name"), TextColumn::figure("Threads")];
    let more = ["Runnable s", "Voluntary\nswitches", "Involuntary\nswitches"];
    document.heading("Threads by name");
    document.table(&shares_of_cpu([name, more.map(TextColumn::figure).into()], shares));
}

/// Its processes, where there are several.
fn each(report: &UsageReport, document: &mut ReportDocument) {
    if report.each.is_empty() {
        return;
    }
    let shares = report.each.iter().map(|used| CpuShare {
        name: vec![used.id.pid.to_string().into()],
        resources: &used.resources,
        split: &used.split,
        more: vec![
            if_any(used.memory, |memory| short_bytes(memory.rss_bytes as f64)).into(),
            count(used.threads.into()).into(),
            clean(&used.command).into(),
        ],
    });
    let more =
        vec![TextColumn::figure("RSS"), TextColumn::figure("Threads"), TextColumn::text("Command")];
    let others = report.each.iter().skip(MAX_PROCESSES);
    let cpu: Nanos = others.clone().map(|used| used.resources.cpu).sum();
    let rest = RestOfRows::Text(format!("{} more, {} of CPU together", others.len(), long(cpu)));
    let limit = RowLimit::new(MAX_PROCESSES, rest);
    document.heading("Processes that are there, most CPU time first");
    let table = shares_of_cpu([vec![TextColumn::figure("PID")], more], shares);
    document.limited_table(&table, Some(limit));
}

/// A time with four significant digits from a second on, as it stands in the tables of old.
fn long(time: Nanos) -> String {
    match time.as_secs() {
        s if (1.0..7200.0).contains(&s) => format!("{} s", four_digits(s)),
        _ => us(time.as_micros()),
    }
}
