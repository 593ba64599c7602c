//! What was set up differently, and whether two runs can be compared at all.

use super::given_flags::given_flags;
use crate::format::{NONE, clean, count, fit, one_line, percent, rate, us};
use crate::story;
use dbtime_model::BitRate;
use dbtime_model::record::{RunRecord, StatementSummary};
use dbtime_model::study::{PlacedRecord, ProgramRecord};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most columns that are shown of a statement's text.
const MAX_TEXT_COLUMNS: usize = 60;

/// How large the data were before the load.
const DATA_SIZE: &str = "target data size";

/// What `dbtime doctor` found that was bad or worth a note.
const FINDINGS: &str = "findings of doctor";

/// That its checks found no such thing, unlike [`NONE`]: that no check was made.
const NO_FINDING: &str = "none";

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingPair {
    /// As the page shows it.
    pub name: String,
    /// The first side's; `–` where it has none.
    pub a: String,
    /// The second's.
    pub b: String,
}

/// Where the two did not do the same: workload, target, load. Sentences without a full stop.
pub(super) fn unlike(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let workload = |record: &RunRecord| {
        let scale = record.workload.scale.max(1);
        format!("{} at scale {}", story::workload_name(record), count(scale))
    };
    let target = |record: &RunRecord| {
        let protocol = record.target.protocol.as_deref();
        let protocol = protocol.map_or(String::new(), |name| format!(", statements {name}"));
        clean(&format!("{}{protocol}", record.target.identity()))
    };
    let load = |record: &RunRecord| story::load(&record.load);
    let [workloads, targets, loads] = [[a, b].map(workload), [a, b].map(target), [a, b].map(load)];
    let mut sentences = Vec::new();
    for (kind, [a, b], what) in [
        ("WORKLOADS", workloads, ": their transactions are not the same work"),
        ("TARGETS", targets, ""),
        ("LOADS", loads, ""),
    ] {
        if a != b {
            sentences.push(format!("DIFFERENT {kind}{what}. A: {a}; B: {b}"));
        }
    }
    sentences.extend(other_texts(a, b));
    sentences
}

/// Statements of one name with two texts: a query on the command line, a file that was changed.
fn other_texts(a: &RunRecord, b: &RunRecord) -> Option<String> {
    let is_same =
        |[a, b]: [&StatementSummary; 2]| (&a.operation, &a.name) == (&b.operation, &b.name);
    let pairs = a.statements.iter().flat_map(|a| b.statements.iter().map(move |b| [a, b]));
    let other: Vec<_> =
        pairs.filter(|pair| is_same(*pair) && pair[0].fingerprint != pair[1].fingerprint).collect();
    let [a, b] =
        other.first()?.map(|statement| fit(&one_line(&statement.fingerprint), MAX_TEXT_COLUMNS));
    let more = match other.len() {
        1 => String::new(),
        n => format!(" ({} in all)", count(n as u64)),
    };
    Some(format!("DIFFERENT STATEMENTS of one name{more}. A: {a}; B: {b}"))
}

/// What was set up differently, and how many settings are the same.
pub(super) fn settings(a: &RunRecord, b: &RunRecord) -> (Vec<SettingPair>, u64) {
    let flags = given_flags(a).zip(given_flags(b));
    let (mut a, mut b) = (described(a), described(b));
    // What a record without a spec was given is not known.
    if let Some((of_a, of_b)) = flags {
        a.extend(of_a);
        b.extend(of_b);
    }
    let names: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let all = names.len();
    let pair = |name: &&String| {
        let [a, b] = [&a, &b].map(|map| map.get(*name).map_or(NONE, String::as_str).to_owned());
        (a != b).then(|| SettingPair { name: (*name).clone(), a, b })
    };
    let differ: Vec<SettingPair> = names.iter().filter_map(pair).collect();
    let same = (all - differ.len()) as u64;
    (differ, same)
}

/// What is the same in all runs of a side, and not the same in both: what may have made a
/// difference.
pub(super) fn between(sides: [&[PlacedRecord<'_>]; 2]) -> Vec<SettingPair> {
    let [a, b] = sides;
    let constant = |side: &[PlacedRecord<'_>]| {
        let mut runs = side.iter().map(|record| match record {
            PlacedRecord::Run(record) => {
                let flags = given_flags(record).unwrap_or_default();
                described(record).into_iter().chain(flags).collect::<BTreeMap<_, _>>()
            }
            PlacedRecord::Program(record) => described_program(record),
        });
        let mut first = runs.next().unwrap_or_default();
        runs.for_each(|run| first.retain(|name, value| run.get(name) == Some(value)));
        first
    };
    // Then the rows are alike, and their size follows from the settings.
    let is_restored = [a, b].iter().all(|side| side.iter().any(restores_data));
    let (mut a, b) = (constant(a), constant(b));
    if is_restored {
        a.remove(DATA_SIZE);
    }
    // Of these a side without any is known too, and so is one whose runs differ.
    a.remove(FINDINGS);
    let pair = |(name, a): (&String, &String)| {
        let b = b.get(name).filter(|b| *b != a)?;
        Some(SettingPair { name: name.clone(), a: a.clone(), b: b.clone() })
    };
    a.iter().filter_map(pair).chain(other_findings(sides)).collect()
}

/// What `dbtime doctor` found on one side and not on the other, or before more of its runs.
fn other_findings(sides: [&[PlacedRecord<'_>]; 2]) -> Option<SettingPair> {
    let [a, b] = sides.map(findings_of);
    (a != b).then(|| SettingPair { name: FINDINGS.to_owned(), a, b })
}

/// What it found before the runs of a side, and of how many that is not known.
fn findings_of(side: &[PlacedRecord<'_>]) -> String {
    let examined = side.iter().filter_map(|record| match record {
        PlacedRecord::Run(run) => run.environment.findings.as_ref(),
        PlacedRecord::Program(_) => None,
    });
    let examined: Vec<&Vec<String>> = examined.collect();
    if examined.is_empty() {
        return NONE.to_owned();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    examined.iter().copied().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let all = side.len();
    let mut parts: Vec<String> = counts
        .into_iter()
        .map(|(name, count)| match count == all {
            true => name.to_owned(),
            false => format!("{name} ({count} of {all} runs)"),
        })
        .collect();
    if parts.is_empty() {
        parts.push(NO_FINDING.to_owned());
    }
    if examined.len() < all {
        parts.push(format!("not known of {} of {all} runs", all - examined.len()));
    }
    parts.join(", ")
}

/// Whether the data of a run came from a snapshot.
fn restores_data(record: &PlacedRecord<'_>) -> bool {
    matches!(record, PlacedRecord::Run(run) if run.target.is_restored)
}

/// What an external program was started with: its command, and its variables by name.
fn described_program(record: &ProgramRecord) -> BTreeMap<String, String> {
    let variables = record.variables.iter().map(|one| (one.name.clone(), one.value.clone()));
    [("command".to_owned(), record.command.clone())].into_iter().chain(variables).collect()
}

/// What says how a run was set up, as text by name, but for the flags that its spec alone has.
fn described(record: &RunRecord) -> BTreeMap<String, String> {
    let (load, environment, target) = (&record.load, &record.environment, &record.target);
    let or = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let mut map: BTreeMap<String, String> = [
        ("workload", record.workload.name.clone()),
        ("workload scale", count(record.workload.scale)),
        ("target engine", record.target.identity()),
        ("target url", target.url.clone()),
        ("target protocol", or(target.protocol.clone())),
        ("target TLS", or(target.tls.as_ref().map(ToString::to_string))),
        (DATA_SIZE, or(target.data_bytes.map(crate::format::bytes))),
        ("load mode", load.mode.to_string()),
        (
            "load rate",
            or(load.rate.clone().or_else(|| load.rate_tps.map(|r| format!("{}/s", rate(r))))),
        ),
        ("load arrivals", load.arrivals.to_string()),
        ("load jitter", or(load.jitter_us.map(us))),
        ("load connections", load.connections.to_string()),
        ("load workers", or(load.workers.map(|n| n.to_string()))),
        ("load shards", or(load.shards.map(|n| n.to_string()))),
        ("load think", or(load.think.clone().or_else(|| load.think_us.map(us)))),
        ("load on backlog", load.on_backlog.to_string()),
        ("load reconnect", or(load.reconnect.clone())),
        ("load statement timeout", or(load.statement_timeout_us.map(us))),
        ("load network delay", or(load.network_delay_us.map(us))),
        ("load network rate", or(load.network_bits_per_s.map(|bits| BitRate(bits).to_string()))),
        ("load seed", load.seed.to_string()),
        ("window warm-up", crate::format::seconds(record.window.warmup_s)),
        ("window measured", crate::format::seconds(record.window.measure_s)),
        ("machine kernel", environment.kernel.clone()),
        ("machine host", environment.host.clone()),
        ("machine CPUs", format!("{} {}", environment.cpus, environment.cpu_model)),
        ("machine steal", percent(environment.steal_pct)),
        ("machine foreign CPU", percent(environment.foreign_cpu_pct)),
        ("dbtime", record.dbtime.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    map.extend(
        target.settings.iter().map(|(name, value)| (format!("setting {name}"), value.clone())),
    );
    if let Some(findings) = &environment.findings {
        let found = if findings.is_empty() { NO_FINDING.to_owned() } else { findings.join(", ") };
        map.insert(FINDINGS.to_owned(), found);
    }
    map.extend(record.workload.rows.iter().map(|(name, n)| (format!("rows of {name}"), count(*n))));
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of data of so many bytes.
    fn run(data_bytes: u64, is_restored: bool) -> RunRecord {
        let mut run = RunRecord::default();
        (run.target.data_bytes, run.target.is_restored) = (Some(data_bytes), is_restored);
        run
    }

    #[test]
    fn findings_of_one_side_alone_or_of_some_of_its_runs_are_a_difference() {
        let with = |names: &[&str]| {
            let mut run = run(0, false);
            let findings = names.iter().map(|name| (*name).to_owned()).collect();
            run.environment.findings = Some(findings);
            run
        };
        let pair = |a: &[RunRecord; 2], b: &[RunRecord; 2]| {
            let [a, b] = [a, b].map(|side| side.each_ref().map(PlacedRecord::Run));
            let found = between([&a, &b]).into_iter().find(|pair| pair.name == FINDINGS);
            found.map(|pair| (pair.a, pair.b))
        };
        let owned = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        let none = [with(&[]), with(&[])];
        let both = [with(&["thp", "ports"]), with(&["ports", "thp"])];
        let some = [with(&["thp"]), with(&[])];
        assert_eq!(pair(&none, &both), owned("none", "ports, thp"));
        assert_eq!(pair(&both, &some), owned("ports, thp", "thp (1 of 2 runs)"));
        assert_eq!(pair(&both, &both), None);
        let unknown = [run(0, false), run(0, false)];
        assert_eq!(pair(&unknown, &none), owned(NONE, "none"), "no check was made of one");
        assert_eq!(pair(&unknown, &unknown), None);
        let half = [with(&["thp"]), run(0, false)];
        let thp = "thp (1 of 2 runs), not known of 1 of 2 runs";
        assert_eq!(pair(&none, &half), owned("none", thp));
    }

    #[test]
    fn the_size_of_the_same_rows_is_no_cause_of_a_difference() {
        let names = |is_restored: bool| {
            let [mut a, mut b] = [1, 2].map(|mib| run(mib << 20, is_restored));
            a.target.settings.insert("page_size".to_owned(), "4096".to_owned());
            b.target.settings.insert("page_size".to_owned(), "8192".to_owned());
            let differing = between([&[PlacedRecord::Run(&a)], &[PlacedRecord::Run(&b)]]);
            differing.into_iter().map(|pair| pair.name).collect::<Vec<_>>()
        };
        assert_eq!(names(true), ["setting page_size"]);
        // Of a database that was there it may be one.
        assert_eq!(names(false), ["setting page_size", "target data size"]);
    }
}
