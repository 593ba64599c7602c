//! Threads and processes by what they are for.

use dbtime_model::process::{
    CpuSplit, ProcessUse, ResourceUsage, ServerSample, TICK, ThreadUse, ThreadsUse,
};
use std::collections::BTreeMap;

/// What was spent between two samples by name of thread, most CPU time first; what ended threads
/// and processes spent stands under `ended`.
pub fn by_thread_name(earlier: &ServerSample, later: &ServerSample) -> Vec<ThreadsUse> {
    let mut names: BTreeMap<String, (u32, ResourceUsage)> = BTreeMap::new();
    let mut rest = later.since(earlier).resources.cpu;
    for process in later.each_since(earlier) {
        for thread in &process.each_thread {
            rest = rest - thread.resources.cpu;
            let kind = kind(&process, thread);
            let (threads, resources) = names.entry(kind).or_insert((0, ResourceUsage::none_yet()));
            *threads += 1;
            *resources += thread.resources;
        }
    }
    let uses = names.into_iter().map(|(name, (threads, resources))| ThreadsUse {
        name,
        threads,
        split: CpuSplit::of(resources.cpu, resources.ticks),
        resources,
    });
    let mut uses: Vec<ThreadsUse> = uses.collect();
    // A running thread's own clock may be a few ticks of the scheduler behind its process's.
    if rest > TICK {
        uses.push(ThreadsUse::ended(rest));
    }
    uses.sort_by_key(|threads| std::cmp::Reverse(threads.resources.cpu));
    uses
}

/// What a thread is for: its name without the number, or what its process says of itself.
///
/// A PostgreSQL process writes its purpose over its command line, `postgres: checkpointer`; that of
/// a backend names user, database and client, in which all clients are one kind.
fn kind(process: &ProcessUse, thread: &ThreadUse) -> String {
    let title = process.command.strip_prefix(process.name.as_str());
    match title.and_then(|title| title.strip_prefix(": ")) {
        Some(title) if thread.id == process.id => {
            let is_client = title.contains("[local]") || has_port(title);
            let title = if is_client { "client backend" } else { without_number(title.trim()) };
            format!("{}: {title}", process.name)
        }
        _ => without_number(&thread.name).to_owned(),
    }
}

/// Whether a title names a client's address: `127.0.0.1(41234)`.
fn has_port(title: &str) -> bool {
    let mut brackets = title.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    brackets.any(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// A name without the number at its end and what joined them.
fn without_number(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.len() == name.len() {
        return name;
    }
    let bare = bare.trim_end_matches(['-', '_', '/', ':', '#', '.', ' ']);
    if bare.is_empty() { name } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Nanos;
    use dbtime_model::process::{EndedProcesses, ProcessId, ProcessSample, ThreadSample};

    #[test]
    fn numbers_at_the_end_of_names_are_dropped() {
        let names = ["io-7", "conn 12", "kworker/0:1", "mariadbd", "7", "tokio_2", "v2ray"];
        let bare = ["io", "conn", "kworker/0", "mariadbd", "7", "tokio", "v2ray"];
        assert_eq!(names.map(without_number), bare);
    }

    #[test]
    fn postgresql_says_what_a_process_is_for() {
        let kind_of = |command: &str| {
            let id = ProcessId { pid: 5, start_tick: 1 };
            let name = "postgres".to_owned();
            let process =
                ProcessUse { id, name, command: command.to_owned(), ..ProcessUse::default() };
            let thread = ThreadUse { id, name: "postgres".to_owned(), ..ThreadUse::default() };
            kind(&process, &thread)
        };
        assert_eq!(kind_of("postgres: checkpointer "), "postgres: checkpointer");
        assert_eq!(
            kind_of("postgres: parallel worker for PID 77"),
            "postgres: parallel worker for PID"
        );
        assert_eq!(kind_of("postgres: joe db [local] idle"), "postgres: client backend");
        assert_eq!(kind_of("postgres: joe db 127.0.0.1(41234) SELECT"), "postgres: client backend");
        assert_eq!(kind_of("/usr/lib/postgres -D x"), "postgres");
    }

    #[test]
    fn threads_are_grouped_and_the_ended_ones_are_the_rest() {
        let ms = Nanos::from_millis;
        let thread = |pid: u32, cpu: u64| ThreadSample {
            id: ProcessId { pid, start_tick: 1 },
            name: format!("conn-{pid}"),
            resources: ResourceUsage { cpu: ms(cpu), ..ResourceUsage::none_yet() },
            ..ThreadSample::default()
        };
        let server = |cpu: u64, each_thread: Vec<ThreadSample>| ServerSample {
            processes: vec![ProcessSample {
                threads: 2,
                resources: ResourceUsage { cpu: ms(cpu), ..ResourceUsage::none_yet() },
                each_thread,
                ..ProcessSample::default()
            }],
            ended: EndedProcesses { count: 0, resources: ResourceUsage::none_yet() },
            ..ServerSample::default()
        };
        let a = server(100, vec![thread(1, 40), thread(2, 20)]);
        let b = server(1000, vec![thread(1, 240), thread(3, 300)]);
        let uses = by_thread_name(&a, &b);
        let shown: Vec<_> = uses
            .iter()
            .map(|use_| (use_.name.as_str(), use_.threads, use_.resources.cpu))
            .collect();
        assert_eq!(shown, [("conn", 2, ms(500)), ("ended", 0, ms(400))]);
    }
}
