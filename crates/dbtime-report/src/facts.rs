//! The machine, the cost per transaction and the checks, as pairs of a name and a text.

use crate::format::{
    bytes, clean, count, counted, factor, finite, if_any, percent, rate, seconds, us,
};
use dbtime_model::BitRate;
use dbtime_model::record::{
    BudgetCpuHolder, BudgetFileWait, BudgetLayer, BudgetLockHolder, BudgetMethod, Check,
    CheckDoubt, CheckOutcome, CheckUnit, ConnectionCipher, CpuHolderKind, FileIo, LayerScope,
    LoadInfo, LoadMode, OutsideHolder, RunRecord, ServerInfo, TargetInfo, WaitedFile,
};

/// One line of facts: what it is about, and what there is to say.
pub(crate) type FactLine = (&'static str, String);

/// The machine, and how quiet it was.
pub(crate) fn environment(record: &RunRecord) -> Vec<FactLine> {
    let e = &record.environment;
    let model = if e.cpu_model.is_empty() { String::new() } else { format!(" ({})", e.cpu_model) };
    let host = if e.host.is_empty() { String::new() } else { format!("{}, ", e.host) };
    let machine = format!(
        "{host}kernel {}, {} CPU{}{model}, {} of memory",
        if e.kernel.is_empty() { "unknown" } else { &e.kernel },
        e.cpus,
        if e.cpus == 1 { "" } else { "s" },
        bytes(e.memory_bytes)
    );
    vec![
        ("machine", clean(&machine)),
        (
            "quiet",
            format!(
                "steal {}, other processes {} of all CPU time",
                percent(e.steal_pct),
                percent(e.foreign_cpu_pct)
            ),
        ),
        (
            "timer",
            format!(
                "wakes a sleeper {} late (p99 {}), clock read {}{}",
                us(e.timer_late_p50_us),
                us(e.timer_late_p99_us),
                us(e.clock_read_ns / 1e3),
                probe(record)
            ),
        ),
    ]
}

/// What a probe costs, where there are any.
fn probe(record: &RunRecord) -> String {
    match record.budget.as_ref().map(|budget| budget.method) {
        Some(BudgetMethod::Probes) => {
            format!(", probe {} per measured statement", us(record.environment.probe_ns / 1e3))
        }
        _ => String::new(),
    }
}

/// Whether the engine lives inside the driver's process.
fn is_embedded(record: &RunRecord) -> bool {
    record.server.is_none() && matches!(record.target.engine.as_str(), "sqlite" | "null")
}

/// What one transaction costs in messages and CPU.
pub(crate) fn per_transaction(record: &RunRecord) -> Vec<FactLine> {
    let embedded = is_embedded(record);
    let trips = if_any(record.round_trips_per_tx, rate);
    let client = &record.client;
    let mut facts = vec![(
        "round trips",
        if embedded {
            format!("{trips} per transaction (calls: the engine runs inside this process)")
        } else {
            format!("{trips} per transaction")
        },
    )];
    facts.push((
        "client CPU",
        format!(
            "{} per transaction{}, {} usr + {} sys of one CPU; driver's own work {} of its busiest \
             thread{}",
            if_any(client.cpu_us_per_tx, us),
            if embedded { ", database included" } else { "" },
            percent(client.usr_pct),
            percent(client.sys_pct),
            percent(client.busy * 100.0),
            memory(client.rss_peak_bytes),
        ),
    ));
    facts.push(("threads", threads(record)));
    facts.extend(own_contention(record).map(|text| ("contention", text)));
    facts.extend(network(record).map(|text| ("network", text)));
    if let Some(server) = &record.server {
        facts.extend(of_server(server, &record.load));
    }
    facts.extend(connections(record));
    if record.warnings > 0 {
        let text = format!("{} came with the answers", counted(record.warnings, "warning"));
        facts.push(("server messages", text));
    }
    facts
}

/// From this share of the window on a simulated network is what throughput is limited by, in
/// percent. What is passed between two statements of a few connections leaves gaps.
const NETWORK_FULL_PCT: f64 = 95.0;

/// Whether the simulated network was full.
pub(crate) fn is_network_full(record: &RunRecord) -> bool {
    let used = record.client.network.unwrap_or_default();
    used.answers_pct.max(used.requests_pct) >= NETWORK_FULL_PCT
}

/// How busy the simulated network was: `1Gbit/s: answers took 33 % of the window, requests 4 %`.
pub(crate) fn network(record: &RunRecord) -> Option<String> {
    let (bits, used) = (record.load.network_bits_per_s?, record.client.network?);
    let limit = if is_network_full(record) { ": it limits the throughput" } else { "" };
    let (answers, requests) = (percent(used.answers_pct), percent(used.requests_pct));
    let rate = BitRate(bits);
    Some(format!("{rate}: answers took {answers} of the window, requests {requests}{limit}"))
}

/// Resident and virtual size; a server that had ended has none, and records of before say 0 of it.
fn server_memory(server: &ServerInfo) -> String {
    match (server.rss_bytes, server.vsize_bytes) {
        (Some(rss), Some(vsize)) if vsize > 0 => {
            let sizes = [("at most", server.rss_peak_bytes), ("when idle", server.rss_idle_bytes)];
            let known = sizes.into_iter().filter_map(|(when, size)| Some((when, size?)));
            let known: Vec<_> =
                known.map(|(when, size)| format!("{} {when}", bytes(size))).collect();
            let further = match known.is_empty() {
                true => String::new(),
                false => format!(" ({})", known.join(", ")),
            };
            format!("{} resident{further}, {} virtual", bytes(rss), bytes(vsize))
        }
        _ => "not measured".to_owned(),
    }
}

/// What the server used, the answer first.
fn of_server(server: &ServerInfo, load: &LoadInfo) -> Vec<FactLine> {
    // A record without the length of the watch has nothing to set the CPU against.
    let sentence = (server.wall_s > 0.0).then(|| ("server", server_sentence(server, load)));
    let mut facts: Vec<FactLine> = sentence.into_iter().collect();
    facts.extend([
        (
            "server CPU",
            format!(
                "{} per transaction, {} usr + {} sys of one CPU",
                if_any(server.cpu_us_per_tx, us),
                percent(server.usr_pct),
                percent(server.sys_pct),
            ),
        ),
        (
            "server memory",
            format!(
                "{}, {}, {}",
                server_memory(server),
                counted(server.processes.into(), "process"),
                counted(server.threads.into(), "thread"),
            ),
        ),
    ]);
    let known = |n: Option<u64>, shown: fn(u64) -> String| n.map_or("not known".to_owned(), shown);
    facts.push((
        "server I/O",
        format!(
            "read {}, wrote {}; switches: {} voluntary, {} involuntary",
            known(server.read_bytes, bytes),
            known(server.written_bytes, bytes),
            known(server.voluntary_switches, count),
            known(server.involuntary_switches, count),
        ),
    ));
    facts
}

/// `used 13.1 s of CPU in 15.9 s on 1 CPU (82 %): busy, not CPU-bound`.
fn server_sentence(server: &ServerInfo, load: &LoadInfo) -> String {
    let cpus = server.cpus.max(1);
    let connections = connections_that_can_keep_busy(server, load).filter(|few| *few < cpus);
    let usable = connections.unwrap_or(cpus);
    let share = 100.0 * server.cpu_s / (server.wall_s * f64::from(usable)).max(1e-9);
    let verdict = match share {
        share if share >= 90.0 => "CPU-bound",
        share if share >= 50.0 => "busy, not CPU-bound",
        _ => "not CPU-bound",
    };
    let of = connections.map_or(String::new(), |few| {
        let (few, usable) = (counted(few.into(), "connection"), counted(usable.into(), "CPU"));
        format!(" of the {usable} that {few} can keep busy")
    });
    let waited = match server.run_delay_s.filter(|delay| *delay > 0.05 * server.cpu_s) {
        Some(delay) => format!("; its threads waited {} for a CPU", seconds_of(delay)),
        None => String::new(),
    };
    format!(
        "used {} of CPU in {} on {} ({}{of}): {verdict}{waited}",
        seconds_of(server.cpu_s),
        seconds_of(server.wall_s),
        counted(cpus.into(), "CPU"),
        percent(share),
    )
}

/// How many connections gave the server work: each keeps one thread busy, and so one CPU at most.
/// `None` where the server was much busier than that, because it divides statements among workers
/// or does other work, and where the number is not known.
fn connections_that_can_keep_busy(server: &ServerInfo, load: &LoadInfo) -> Option<u32> {
    // A closed loop leaves workers idle that have no client.
    let most = if load.mode == LoadMode::Closed { load.connections } else { u32::MAX };
    let connections = load.workers.unwrap_or(load.connections).min(most);
    let busy_cpus = server.cpu_s / server.wall_s.max(1e-9);
    (connections > 0 && busy_cpus < 1.5 * f64::from(connections)).then_some(connections)
}

/// What became of connections, where there is more to say than that they were made.
fn connections(record: &RunRecord) -> Vec<FactLine> {
    let Some(info) = &record.connections else { return Vec::new() };
    let mut text = format!("{} made", count(info.made));
    if let Some(times) = &record.latency_us.connect {
        text += &format!(" in {} on average, at most {}", us(times.mean), us(times.max));
    }
    let attempts = counted(info.failed, "attempt");
    text += &format!("; {attempts} failed, {} lost", count(info.lost));
    if let Some(never_made) = info.never_made.filter(|never_made| *never_made > 0) {
        text += &format!("; {} of those asked for never made", count(never_made));
    }
    let mut facts = vec![("connections", text)];
    for outage in info.outages.iter().take(MAX_SHOWN_OUTAGES) {
        let text = match outage.until_s {
            Some(until) => format!(
                "nothing was completed from {:.3} s to {until:.3} s: {}",
                outage.from_s,
                seconds_of(until - outage.from_s)
            ),
            None => format!("nothing was completed from {:.3} s to the end", outage.from_s),
        };
        facts.push(("outage", text));
    }
    facts
}

/// Outages shown; the record has more.
const MAX_SHOWN_OUTAGES: usize = 3;

fn memory(rss_peak_bytes: u64) -> String {
    if rss_peak_bytes == 0 { String::new() } else { format!(", {} peak", bytes(rss_peak_bytes)) }
}

fn threads(record: &RunRecord) -> String {
    let client = &record.client;
    let waited = client.threads_runq_s.map_or("not known to this kernel".to_owned(), seconds_of);
    format!(
        "{} on a CPU, waiting for one: {} (all driver threads, whole window)",
        seconds_of(client.threads_cpu_s),
        waited
    )
}

/// How long transactions that were ready waited for others of the same process, where they did.
pub(crate) fn own_contention(record: &RunRecord) -> Option<String> {
    let client = &record.client;
    let (own_s, all_s) = (client.own_contention_s?, client.ready_runq_s?);
    (own_s > 0.0).then(|| {
        format!(
            "ready transactions waited {} for a CPU that others of this process had (at most {}), \
             in runq and not in lag",
            seconds_of(own_s),
            seconds_of(all_s)
        )
    })
}

fn seconds_of(s: f64) -> String {
    us(s * 1e6)
}

/// What was run, against what, when.
pub(crate) fn setup(record: &RunRecord) -> Vec<FactLine> {
    let mut facts = Vec::new();
    let target = &record.target;
    if !target.url.is_empty() {
        let size = target.data_bytes.map_or(String::new(), |n| format!(", {} of data", bytes(n)));
        facts.push((
            "target",
            format!("{}{size}{}{}", clean(&target.url), protocol(target), tls(target)),
        ));
    }
    if !target.settings.is_empty() {
        facts.push(("settings", pairs(target.settings.iter().map(|(k, v)| (k, v.clone())))));
    }
    if !record.workload.rows.is_empty() {
        facts.push(("rows", pairs(record.workload.rows.iter().map(|(k, n)| (k, count(*n))))));
    }
    facts.push(("seed", record.load.seed.to_string()));
    if !record.dbtime.is_empty() {
        facts.push(("recorded by", format!("dbtime {}", clean(&record.dbtime))));
    }
    facts
}

/// `, statements prepared, pipelined (64 on all connections together)`.
fn protocol(target: &TargetInfo) -> String {
    let Some(protocol) = target.protocol.as_deref() else { return String::new() };
    match target.prepared_statements {
        Some(n) => {
            format!(", statements {} ({} on all connections together)", clean(protocol), count(n))
        }
        None => format!(", statements sent as {}", clean(protocol)),
    }
}

/// `, not encrypted`, or by what; nothing where there is no connection.
fn tls(target: &TargetInfo) -> String {
    match &target.tls {
        None => String::new(),
        Some(ConnectionCipher::Off) => ", not encrypted".to_owned(),
        Some(tls) => format!(", encrypted ({})", clean(&tls.to_string())),
    }
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a String, String)>) -> String {
    pairs.map(|(k, v)| clean(&format!("{k} = {v}"))).collect::<Vec<_>>().join(", ")
}

/// A required or measured value in its unit.
pub(crate) fn check_value(check: &Check, value: f64) -> String {
    match check.unit {
        CheckUnit::Us => us(value),
        CheckUnit::Percent => percent(value),
        CheckUnit::PerSecond => format!("{}/s", rate(value)),
    }
}

/// The requirement as the workload or the user wrote it.
pub(crate) fn check_required(check: &Check) -> String {
    if check.text.is_empty() { check_value(check, check.required) } else { clean(&check.text) }
}

/// What was measured, and what it would have been without lag where that decides.
pub(crate) fn check_measured(check: &Check) -> String {
    let measured = check_value(check, check.measured);
    let is_late = check.reason() == Some(CheckDoubt::Lateness);
    match check.without_lag.filter(|_| is_late) {
        Some(without) => format!("{measured} ({} without lag)", check_value(check, without)),
        None => measured,
    }
}

/// `PASSED`, `FAILED` or `UNDECIDED`.
pub(crate) fn verdict(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "PASSED",
        CheckOutcome::Failed => "FAILED",
        CheckOutcome::Undecided => "UNDECIDED",
    }
}

/// How all limits of an operation came out.
pub(crate) fn overall(limits: &[Check]) -> CheckOutcome {
    limits.iter().map(Check::outcome).max().unwrap_or(CheckOutcome::Passed)
}

/// When the run started and ended: `2026-11-20 10:00:00 UTC`.
pub(crate) fn instant(rfc3339: &str) -> String {
    if rfc3339.is_empty() {
        return "unknown".to_owned();
    }
    let text = clean(rfc3339).replacen('T', " ", 1);
    match text.strip_suffix('Z') {
        Some(rest) => format!("{} UTC", rest.split('.').next().unwrap_or(rest)),
        None => text,
    }
}

/// Time per operation and how it compares with the unit, of a layer; a dash where there is nothing
/// to divide by.
pub(crate) fn layer_quotients(layer: &BudgetLayer) -> [String; 2] {
    let is_divided = layer.operations > Some(0);
    let each = layer.time_per_op_ns.filter(|_| is_divided);
    let relative = layer.relative.filter(|r| is_divided && r.is_finite() && *r > 0.0);
    [if_any(each, |ns| count(finite(ns).max(0.0).round() as u64)), if_any(relative, factor)]
}

/// The name of a layer, with whose work it is where that is not the load's alone.
pub(crate) fn layer_name(layer: &BudgetLayer) -> String {
    match layer.scope {
        LayerScope::Load | LayerScope::Traced => layer.name.clone(),
        LayerScope::Server => format!("{} (server)", layer.name),
        LayerScope::Machine => format!("{} (machine)", layer.name),
    }
}

/// What must be known of layers that are not the load's alone.
const LAYER_NOTES: [(LayerScope, &str); 3] = [
    (
        LayerScope::Traced,
        "waits: of the statements' own threads, as traced; a call may wait several \
        times, and one that the kernel serves from memory does not",
    ),
    (
        LayerScope::Server,
        "(server): operations of all its clients and threads, between two readings \
        of its counters; CPU: of the load's statements, whatever they did on it",
    ),
    (
        LayerScope::Machine,
        "(machine): requests of all programs, queued and served; they are in no \
        other row",
    ),
];

/// What must be known of a table of layers, beside what its marks mean.
pub(crate) fn layer_notes(layers: &[BudgetLayer]) -> String {
    let has = |scope| layers.iter().any(|layer| layer.scope == scope);
    let notes = LAYER_NOTES.into_iter().filter(|(scope, _)| has(*scope));
    notes.map(|(_, note)| format!("; {note}")).collect()
}

/// Who held a lock, whose connection that is where it is not the run's, and what the server calls
/// the lock.
pub(crate) fn lock_holder(row: &BudgetLockHolder) -> String {
    let whose = row.outside.as_ref().map_or(String::new(), |outside| {
        format!(" of {}, not of this run", outside_connection(outside))
    });
    let lock = row.lock.as_ref().map_or(String::new(), |lock| format!(" ({lock})"));
    format!("{}{whose}{lock}", row.holder)
}

/// The connection of somebody else: `connection 12`.
pub(crate) fn outside_connection(outside: &OutsideHolder) -> String {
    match outside.server_id {
        Some(id) => format!("connection {id}"),
        None => "a connection".to_owned(),
    }
}

/// What stands below waits for a CPU without a name.
pub(crate) const NOT_NAMED_CPU: &str = "not named: idle CPUs taking up the work, and those that \
    had the CPU for less of a request than those that are named";

pub(crate) fn cpu_holder(row: &BudgetCpuHolder) -> String {
    let process = row.process.as_deref().unwrap_or("unknown");
    match row.kind {
        CpuHolderKind::Driver => "dbtime (driver)".to_owned(),
        CpuHolderKind::Tracer => "dbtime (tracer)".to_owned(),
        CpuHolderKind::Server => format!("{process} (server)"),
        CpuHolderKind::Other => other_process(process, row.pid),
        CpuHolderKind::Ended => "one that had ended".to_owned(),
        CpuHolderKind::Others => "others".to_owned(),
        CpuHolderKind::NotNamed => "not named".to_owned(),
    }
}

/// A process that is no part of the run. One of the same name is said to be another: the run itself
/// is not to be ended.
fn other_process(name: &str, pid: Option<u32>) -> String {
    let another = if name.starts_with("dbtime") { "another " } else { "" };
    let pid = pid.map_or(String::new(), |pid| format!(" (pid {pid})"));
    format!("{another}{name}{pid}")
}

/// A file that was waited for.
pub(crate) fn waited_file(row: &BudgetFileWait) -> String {
    match row.kind {
        WaitedFile::Named => row.file.clone().unwrap_or_default(),
        WaitedFile::Mapped => "pages of mapped files".to_owned(),
        WaitedFile::Others => "others".to_owned(),
        WaitedFile::NotNamed => "not named".to_owned(),
    }
}

/// How long each of some waits took; a dash where they are not counted.
pub(crate) fn each_wait(row: &BudgetFileWait) -> String {
    if_any(row.count, |count| us(row.wait_s * 1e6 / count.max(1) as f64))
}

/// How long each of some calls took; a dash where they are only counted, or there are none.
pub(crate) fn each_call(file: &FileIo) -> String {
    let wall = file.wall_s.filter(|_| file.count > 0);
    if_any(wall, |s| us(s * 1e6 / file.count as f64))
}

/// How long calls of a kind took in all; calls that are only counted say so.
pub(crate) fn wall(wall_s: Option<f64>) -> String {
    wall_s.map_or("counted only".to_owned(), |s| {
        if s.fract() == 0.0 && s > 0.0 { seconds(s) } else { seconds_of(s) }
    })
}
