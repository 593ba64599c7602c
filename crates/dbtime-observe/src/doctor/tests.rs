//! Each check on a good and a bad machine, made of a few small files.

use super::{MACHINE_CHECKS, MachineCheck, MachineTree, MachineWindow, PlannedUse};
use dbtime_machine::usage::MachineUse;
use dbtime_model::Nanos;
use dbtime_model::doctor::{DoctorFinding, FindingGrade};
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

/// Paths and texts.
pub(super) type TreeFiles = &'static [(&'static str, &'static str)];

/// A check, the files of a machine that is fine, what is otherwise on one that is not, and how that
/// is graded.
pub(super) struct CheckCase {
    pub(super) id: &'static str,
    pub(super) good: TreeFiles,
    wrong: TreeFiles,
    grade: FindingGrade,
    /// What the finding has to name.
    names: &'static str,
}

const fn case(
    id: &'static str,
    good: TreeFiles,
    wrong: TreeFiles,
    grade: FindingGrade,
    names: &'static str,
) -> CheckCase {
    CheckCase { id, good, wrong, grade, names }
}

pub(super) const CPU: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
pub(super) const IDLE: &str = "sys/devices/system/cpu/cpu0/cpuidle/state1/latency";
const SMT: &str = "sys/devices/system/cpu/smt/active";
pub(super) const GROUP: &str = "proc/self/cgroup";
const AUTOGROUP: &str = "proc/sys/kernel/sched_autogroup_enabled";
pub(super) const HUGE: &str = "sys/kernel/mm/transparent_hugepage/enabled";
pub(super) const DEFRAG: &str = "sys/kernel/mm/transparent_hugepage/defrag";
const DIRTY: &str = "proc/sys/vm/dirty_bytes";
const RATIO: &str = "proc/sys/vm/dirty_ratio";
pub(super) const MEMORY: &str = "proc/meminfo";
pub(super) const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const CLOCKS: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";
pub(super) const RANGE: &str = "proc/sys/net/ipv4/ip_local_port_range";
const SOCKETS: &str = "proc/net/sockstat";
pub(super) const BACKLOG: &str = "proc/sys/net/core/somaxconn";
pub(super) const SYN: &str = "proc/sys/net/ipv4/tcp_max_syn_backlog";
pub(super) const NETSTAT: &str = "proc/net/netstat";
const SLOW_START: &str = "proc/sys/net/ipv4/tcp_slow_start_after_idle";
const KEEPALIVE: &str = "proc/sys/net/ipv4/tcp_keepalive_time";
pub(super) const LIMITS: &str = "proc/self/limits";
pub(super) const THREADS: &str = "proc/sys/kernel/threads-max";
pub(super) const START: &str = "proc/cmdline";
const ASLR: &str = "proc/sys/kernel/randomize_va_space";
pub(super) const BTF: &str = "sys/kernel/btf/vmlinux";
const LOCKDOWN: &str = "sys/kernel/security/lockdown";
const JIT: &str = "proc/sys/net/core/bpf_jit_enable";
pub(super) const STATUS: &str = "proc/self/status";
const PARANOID: &str = "proc/sys/kernel/perf_event_paranoid";
const DELAYS: &str = "proc/sys/kernel/task_delayacct";
const SCHEDSTAT: &str = "proc/self/schedstat";

use FindingGrade::{Bad, Note};

/// The first file of a machine that is fine is the one without which nothing is known.
pub(super) const CASES: [CheckCase; 24] = [
    case("governor", &[(CPU, "performance\n")], &[(CPU, "powersave\n")], Note, "1 of 1 CPUs"),
    case("turbo", &[(TURBO, "1\n")], &[(TURBO, "0\n")], Note, "on"),
    case("c_states", &[(IDLE, "2\n")], &[(IDLE, "890\n")], Note, "890 µs"),
    case("smt", &[(SMT, "0\n")], &[(SMT, "1\n")], Note, "same core"),
    case(
        "quota",
        &[(GROUP, "0::/a\n"), ("sys/fs/cgroup/a/cpu.max", "max 100000\n")],
        &[("sys/fs/cgroup/a/cpu.max", "50000 100000\n")],
        Note,
        "50000 µs",
    ),
    case("autogroup", &[(AUTOGROUP, "0\n")], &[(AUTOGROUP, "1\n")], Note, "1"),
    case(
        "thp",
        &[(HUGE, "always [madvise] never\n"), (DEFRAG, "[always] defer madvise never\n")],
        &[(HUGE, "[always] madvise never\n")],
        Note,
        "always, defrag always",
    ),
    case(
        "dirty",
        &[(DIRTY, "536870912\n"), (RATIO, "0\n"), (MEMORY, "MemAvailable: 99 kB\n")],
        &[(DIRTY, "0\n"), (RATIO, "20\n"), (MEMORY, "MemAvailable:  67108864 kB\n")],
        Note,
        "13.7 GB",
    ),
    case(
        "clock_source",
        &[(CLOCK, "tsc\n"), (CLOCKS, "tsc hpet acpi_pm\n")],
        &[(CLOCK, "hpet\n")],
        Bad,
        "hpet",
    ),
    case(
        "ports",
        &[(RANGE, "32768\t60999\n"), (SOCKETS, "sockets: used 9\nTCP: inuse 3 tw 17\n")],
        &[(SOCKETS, "TCP: inuse 3 tw 25000\n")],
        Note,
        "28,232 ports: 470 connections a second",
    ),
    case(
        "backlog",
        &[
            (BACKLOG, "4096\n"),
            (SYN, "1024\n"),
            (NETSTAT, "TcpExt: TW ListenOverflows\nTcpExt: 3 0\n"),
        ],
        &[(NETSTAT, "TcpExt: TW ListenOverflows\nTcpExt: 3 12\n")],
        Note,
        "12 overflows",
    ),
    case("slow_start", &[(SLOW_START, "1\n")], &[], Note, ""),
    case("keepalive", &[(KEEPALIVE, "7200\n")], &[], Note, ""),
    case(
        "descriptors",
        &[(LIMITS, "Limit  Soft  Hard  Units\nMax open files  1024  524288  files\n")],
        &[(LIMITS, "Max open files  64  128  files\n")],
        Note,
        "128 open files",
    ),
    case(
        "threads",
        &[(THREADS, "126000\n"), (GROUP, "0::/a\n"), ("sys/fs/cgroup/a/pids.max", "max\n")],
        &[("sys/fs/cgroup/a/pids.max", "32\n")],
        Bad,
        "32 threads",
    ),
    case("mitigations", &[(START, "ro quiet\n")], &[(START, "ro mitigations=off\n")], Note, "off"),
    case(
        "kernel_debug",
        &[(START, "ro quiet\n")],
        &[(START, "ro slub_debug=FZ\n"), ("proc/lock_stat", "\n")],
        Bad,
        "lock_stat, slub_debug",
    ),
    case("aslr", &[(ASLR, "2\n")], &[(ASLR, "0\n")], Note, "0"),
    case(
        "lockdown",
        &[(LOCKDOWN, "[none] integrity confidentiality\n")],
        &[(LOCKDOWN, "none integrity [confidentiality]\n")],
        Note,
        "confidentiality",
    ),
    case("bpf_jit", &[(JIT, "1\n")], &[(JIT, "0\n")], Note, "0"),
    case(
        "tracing_rights",
        &[(STATUS, "Name:\tx\nCapEff:\t000001ffffffffff\n"), (PARANOID, "3\n")],
        &[(STATUS, "CapEff:\t0000000000000000\n")],
        Note,
        "CAP_BPF, CAP_PERFMON",
    ),
    case(
        "accounting",
        &[(DELAYS, "1\n"), (SCHEDSTAT, "81 3 5\n")],
        &[(DELAYS, "0\n")],
        Note,
        "task_delayacct",
    ),
    case("btf", &[(BTF, "\x01")], &[], Note, ""),
    case(
        "numa",
        &[("sys/devices/system/node/node0/cpulist", "0-3\n")],
        &[
            ("sys/devices/system/node/node1/cpulist", "4-7\n"),
            ("proc/sys/vm/zone_reclaim_mode", "1\n"),
        ],
        Bad,
        "2 nodes",
    ),
];

pub(super) fn put(root: &Path, path: &str, bytes: &[u8]) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().expect("a folder")).expect("made");
    fs::write(place, bytes).expect("written");
}

pub(super) fn made(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    files.iter().for_each(|(path, text)| put(folder.path(), path, text.as_bytes()));
    folder
}

pub(super) fn listed(id: &str) -> &'static MachineCheck {
    MACHINE_CHECKS.iter().find(|check| check.frame.id == id).expect(id)
}

pub(super) fn examined(id: &str, root: &Path) -> DoctorFinding {
    let tree = MachineTree::at(root.to_path_buf());
    listed(id).examine(&tree, &PlannedUse::default())
}

pub(super) fn grade(id: &str, root: &Path) -> FindingGrade {
    examined(id, root).grade
}

#[test]
fn a_good_machine_is_good_and_another_is_named() {
    for CheckCase { id, good, wrong, grade, names } in &CASES {
        let folder = made(good);
        let found = examined(id, folder.path());
        assert_eq!(found.grade, FindingGrade::Good, "{found:?}");
        assert!(found.costs.is_empty() && !found.value.is_empty(), "{found:?}");
        if wrong.is_empty() {
            continue;
        }
        wrong.iter().for_each(|(path, text)| put(folder.path(), path, text.as_bytes()));
        let found = examined(id, folder.path());
        assert_eq!(found.grade, *grade, "{found:?}");
        assert!(found.value.contains(names), "{found:?}");
        assert!(!found.because.is_empty() && !found.costs.is_empty(), "{found:?}");
    }
}

#[test]
fn every_check_names_where_it_looks_and_survives_an_empty_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ids: Vec<&str> = MACHINE_CHECKS.iter().map(|check| check.frame.id).collect();
    for id in &ids {
        let found = examined(id, folder.path());
        assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
        assert!(!found.source.is_empty() && !found.expected.is_empty(), "{found:?}");
        assert!(!found.because.is_empty(), "{found:?}");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), MACHINE_CHECKS.len(), "each has a name of its own");
}

/// What was watched of a machine with two CPUs.
pub(super) fn watched(steal_pct: f64, foreign_pct: f64, pages: u64) -> MachineWindow {
    let used = MachineUse { wall_s: 1.0, steal_pct, foreign_pct, ..MachineUse::default() };
    let (pages_swapped_in, switches_per_s) = (Some(pages), Some(1_000.0 * foreign_pct));
    MachineWindow { used, cpus: 2, pages_swapped_in, switches_per_s }
}

#[test]
fn what_a_machine_does_within_a_second_is_graded() {
    let meminfo = "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n";
    let folder = made(&[(GROUP, "0::/\n"), ("sys/fs/cgroup/cgroup.controllers", "cpu\n")]);
    put(folder.path(), MEMORY, meminfo.as_bytes());
    let grades = |window: MachineWindow| {
        let tree = MachineTree::at(folder.path().to_path_buf()).watched(window);
        let grade = |id| listed(id).examine(&tree, &PlannedUse::default()).grade;
        ["steal", "foreign_cpu", "swap", "switches", "quota"].map(grade)
    };
    const GOOD: FindingGrade = FindingGrade::Good;
    assert_eq!(grades(watched(0.2, 4.0, 0)), [GOOD; 5]);
    assert_eq!(grades(watched(3.0, 20.0, 0)), [Note, Note, GOOD, GOOD, GOOD]);
    assert_eq!(grades(watched(9.0, 150.0, 7)), [Bad, Bad, Bad, Note, GOOD]);
    let mut held = watched(0.0, 0.0, 0);
    held.used.throttled = Some(Nanos::from_millis(80));
    assert_eq!(grades(held), [GOOD, GOOD, GOOD, GOOD, Bad]);
    let tree = MachineTree::at(folder.path().to_path_buf()).watched(watched(0.0, 201.0, 0));
    let found = listed("foreign_cpu").examine(&tree, &PlannedUse::default());
    assert_eq!(found.value, "100.0 %", "no more than there is");
}

#[test]
fn what_is_planned_decides_where_it_has_to() {
    let folder = made(&[
        (RANGE, "32768 60999\n"),
        (BACKLOG, "128\n"),
        (SYN, "1024\n"),
        (NETSTAT, "TcpExt: ListenOverflows\nTcpExt: 0\n"),
        (SLOW_START, "1\n"),
        (KEEPALIVE, "7200\n"),
        (LIMITS, "Max open files  64  1000  files\n"),
        (SMT, "1\n"),
        ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"),
        ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3\n"),
    ]);
    let tree = MachineTree::at(folder.path().to_path_buf());
    let found = |id: &str, planned: &PlannedUse| listed(id).examine(&tree, planned);
    let remote = PlannedUse { is_remote: true, ..PlannedUse::default() };
    assert_eq!(found("slow_start", &remote).grade, Note);
    assert_eq!(found("keepalive", &remote).undo, "sysctl -w net.ipv4.tcp_keepalive_time=7200");
    let many = PlannedUse { connections: Some(1_000), ..PlannedUse::default() };
    assert_eq!(found("descriptors", &many).grade, Bad);
    let backlog = found("backlog", &many);
    assert!(backlog.fix.contains("net.core.somaxconn=2048"), "{backlog:?}");
    assert!(backlog.undo.contains("net.core.somaxconn=128"), "{backlog:?}");
    put(folder.path(), SOCKETS, b"TCP: tw 18446744073709551615");
    assert_eq!(found("ports", &many).grade, Note, "a count beyond all bounds");
    put(folder.path(), SOCKETS, b"TCP: tw 0");
    let fast = |per_s| PlannedUse { connects_per_s: Some(per_s), ..PlannedUse::default() };
    assert_eq!(found("ports", &fast(470.0)).grade, FindingGrade::Good);
    let ports = found("ports", &fast(471.0));
    assert_eq!(ports.grade, Bad);
    assert_eq!(ports.fix, "sysctl -w net.ipv4.tcp_tw_reuse=1");
    assert_eq!(ports.undo, "sysctl -w net.ipv4.tcp_tw_reuse=0");
    let over_socket = PlannedUse { is_over_socket: true, ..fast(471.0) };
    assert_eq!(found("ports", &over_socket).grade, FindingGrade::Good);
    let cpus = |client: &str, server: &str| PlannedUse {
        client_cpus: client.parse().ok(),
        server_cpus: server.parse().ok(),
        ..PlannedUse::default()
    };
    assert_eq!(found("smt", &cpus("0", "2-3")).grade, Bad);
    assert_eq!(found("smt", &cpus("0", "1,3")).grade, FindingGrade::Good);
}

#[test]
fn the_disk_under_the_data_is_graded_by_whether_it_turns() {
    let data = tempfile::tempdir().expect("a folder");
    let device = fs::metadata(data.path()).expect("there").dev();
    let sys = made(&[("sys/devices/sdx/queue/write_cache", "write back\n")]);
    let queue = sys.path().join("sys/devices/sdx/queue");
    let numbers = format!("sys/dev/block/{}:{}", major(device), minor(device));
    fs::create_dir_all(sys.path().join("sys/dev/block")).expect("made");
    symlink(sys.path().join("sys/devices/sdx"), sys.path().join(numbers)).expect("linked");
    fs::write(queue.join("scheduler"), "[none] mq-deadline\n").expect("written");
    let tree = MachineTree::at(sys.path().to_path_buf());
    let planned = PlannedUse { data: Some(data.path().to_path_buf()), ..PlannedUse::default() };
    let graded = |rotational: &[u8]| {
        fs::write(queue.join("rotational"), rotational).expect("written");
        listed("disk").examine(&tree, &planned).grade
    };
    assert_eq!(graded(b"0\n"), FindingGrade::Good);
    assert_eq!(graded(b"1\n"), Note);
    for hostile in [&b"\xff"[..], b"", b"7", b"\x1b[2J"] {
        assert_eq!(graded(hostile), FindingGrade::Unknown, "{hostile:?}");
    }
}

#[test]
fn this_machine_is_examined() {
    let data = tempfile::tempdir().expect("a folder");
    let planned = PlannedUse { data: Some(data.path().to_path_buf()), ..PlannedUse::default() };
    let window = MachineWindow::watch(Nanos::from_millis(20));
    let tree = MachineTree::of_machine().watched(window);
    let findings = super::machine_findings(&tree, &planned);
    assert_eq!(findings.len(), MACHINE_CHECKS.len());
    let steal = findings.iter().find(|finding| finding.id == "steal").expect("a check");
    assert_ne!(steal.grade, FindingGrade::Unknown);
}
