//! What remedies of checks set and bring back, and which of several limits counts.

use super::tests::{
    BACKLOG, CLOCK, CPU, DEFRAG, GROUP, HUGE, IDLE, LIMITS, NETSTAT, RANGE, STATUS, SYN, THREADS,
    examined, grade, listed, made, put, watched,
};
use super::{MachineTree, PlannedUse};
use dbtime_model::doctor::FindingGrade::{self, Bad};
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

#[test]
fn a_remedy_takes_nothing_away_and_its_undo_brings_back_what_was_there() {
    let folder = made(&[
        (BACKLOG, "4096\n"),
        (SYN, "1024\n"),
        (NETSTAT, "TcpExt: ListenOverflows\nTcpExt: 0\n"),
        (RANGE, "1024 65535\n"),
        (CPU, "powersave\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n"),
        ("sys/devices/system/cpu/cpu2/online", "0\n"),
        ("sys/devices/system/node/node0/cpulist", "0\n"),
        ("sys/devices/system/node/node1/cpulist", "1\n"),
        ("proc/sys/vm/zone_reclaim_mode", "3\n"),
    ]);
    let tree = MachineTree::at(folder.path().to_path_buf());
    let found = |id: &str, planned: &PlannedUse| listed(id).examine(&tree, planned);
    let many = |connections| PlannedUse { connections, ..PlannedUse::default() };
    let backlog = found("backlog", &many(Some(2_000)));
    assert_eq!(backlog.fix, "sysctl -w net.ipv4.tcp_max_syn_backlog=2048", "{backlog:?}");
    assert_eq!(backlog.undo, "sysctl -w net.ipv4.tcp_max_syn_backlog=1024");
    let remote = PlannedUse { is_remote: true, ..many(Some(2_000)) };
    assert_eq!(found("backlog", &remote).grade, FindingGrade::Good, "its queues are elsewhere");
    let ports = found("ports", &many(Some(70_000)));
    assert_eq!((ports.grade, ports.fix.as_str()), (Bad, ""), "no range is as wide");
    let governor = found("governor", &many(None));
    assert_eq!(governor.value, "powersave, schedutil on 2 of 2 CPUs");
    let undo = "cpupower -c 0 frequency-set -g powersave; cpupower -c 1 frequency-set -g schedutil";
    assert_eq!(governor.undo, undo);
    assert_eq!(found("numa", &many(None)).undo, "sysctl -w vm.zone_reclaim_mode=3");
}

#[test]
fn idle_states_that_were_off_stay_off() {
    const FOLDER: &str = "sys/devices/system/cpu";
    let folder = made(&[(IDLE, "2\n")]);
    let state = |cpu: u32, number: u32, latency: &str, disable: &str| {
        let state = format!("{FOLDER}/cpu{cpu}/cpuidle/state{number}");
        put(folder.path(), &format!("{state}/latency"), latency.as_bytes());
        put(folder.path(), &format!("{state}/disable"), disable.as_bytes());
    };
    for cpu in 0..4 {
        state(cpu, 1, "2\n", "0\n");
        state(cpu, 2, "133\n", if cpu == 2 { "1\n" } else { "0\n" });
        state(cpu, 3, "890\n", "1\n");
        state(cpu, 4, "101\n", if cpu == 3 { "0\n" } else { "1\n" });
    }
    fs::create_dir(folder.path().join(FOLDER).join("cpu9")).expect("one that is offline");
    let found = examined("c_states", folder.path());
    assert_eq!(found.value, "at most 133 µs to wake up", "the deepest is off");
    let command = |to: u32| {
        let file = "/sys/devices/system/cpu/cpu$cpu/cpuidle/state2/disable";
        let one = "/sys/devices/system/cpu/cpu3/cpuidle/state4/disable";
        format!("for cpu in $(seq 0 1) 3; do echo {to} > \"{file}\"; done; echo {to} > {one}")
    };
    assert_eq!((found.fix, found.undo), (command(1), command(0)));
    put(folder.path(), &format!("{FOLDER}/cpu1/cpuidle/state2/disable"), b"\xff");
    let found = examined("c_states", folder.path());
    assert_eq!((found.grade, found.fix.as_str()), (FindingGrade::Note, ""), "not to be undone");
}

#[test]
fn a_limit_of_open_files_is_undone_to_both_of_its_parts() {
    let folder = made(&[(LIMITS, "Max open files  64  128  files\n")]);
    let found = examined("descriptors", folder.path());
    assert!(found.fix.ends_with("--nofile=756:756"), "{found:?}");
    assert!(found.undo.ends_with("--nofile=64:128"), "{found:?}");
    let tree = MachineTree::at(folder.path().to_path_buf());
    put(folder.path(), LIMITS, b"Max open files  64  2000000  files\n");
    let planned = PlannedUse { connections: Some(3_000_000), ..PlannedUse::default() };
    let found = listed("descriptors").examine(&tree, &planned);
    assert_eq!((found.grade, found.fix.as_str()), (Bad, ""), "a remedy takes nothing away");
}

#[test]
fn the_turns_of_a_virtual_disk_are_not_seen() {
    let data = tempfile::tempdir().expect("a folder");
    let device = fs::metadata(data.path()).expect("there").dev();
    let disk = "sys/devices/vdx/queue";
    let folder = made(&[("sys/dev/block/x", "")]);
    for (name, text) in
        [("rotational", "1"), ("write_cache", "write back"), ("scheduler", "[none]")]
    {
        put(folder.path(), &format!("{disk}/{name}"), text.as_bytes());
    }
    let link = format!("sys/dev/block/{}:{}", major(device), minor(device));
    symlink(folder.path().join("sys/devices/vdx"), folder.path().join(link)).expect("linked");
    let planned = PlannedUse { data: Some(data.path().to_path_buf()), ..PlannedUse::default() };
    let tree = MachineTree::at(folder.path().to_path_buf());
    let found = listed("disk").examine(&tree, &planned);
    assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
    assert!(found.because.contains("virtual disk"), "{found:?}");
}

#[test]
fn of_several_quotas_the_tightest_counts() {
    let folder = made(&[
        (GROUP, "1:cpu:/v1\n0::/a/b\n"),
        ("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/a/cpu.max", "50000 200000\n"),
        ("sys/fs/cgroup/cpu/v1/cpu.cfs_quota_us", "80000\n"),
        ("sys/fs/cgroup/cpu/v1/cpu.cfs_period_us", "100000\n"),
    ]);
    let found = examined("quota", folder.path());
    assert_eq!(found.value, "0.25 CPUs: 50000 µs of 200000 µs, by /sys/fs/cgroup/a/cpu.max");
    put(folder.path(), "sys/fs/cgroup/a/cpu.max", b"max 100000");
    assert!(examined("quota", folder.path()).value.starts_with("0.80 CPUs: 80000 µs"));
    put(folder.path(), "sys/fs/cgroup/cpu/v1/cpu.cfs_quota_us", b"-1");
    assert!(examined("quota", folder.path()).value.starts_with("1.50 CPUs"));
    let tree = MachineTree::at(folder.path().to_path_buf());
    put(folder.path(), "sys/fs/cgroup/a/b/cpu.max", b"200000 100000");
    let found =
        listed("quota").examine(&tree.watched(watched(0.0, 0.0, 0)), &PlannedUse::default());
    assert_eq!(found.grade, FindingGrade::Good, "as much as two CPUs have");
    let hidden = made(&[(GROUP, "0::/a\n")]);
    assert_eq!(examined("quota", hidden.path()).grade, FindingGrade::Unknown, "no /sys/fs/cgroup");
}

#[test]
fn a_limit_of_the_user_and_what_a_group_has_already_count_as_threads() {
    const LIMIT: &str = "Max processes  70  100  processes\n";
    let folder = made(&[(THREADS, "126000\n"), (LIMITS, LIMIT), (STATUS, "CapEff:\t0\n")]);
    let planned = PlannedUse { connections: Some(50), ..PlannedUse::default() };
    let found = || {
        let tree = MachineTree::at(folder.path().to_path_buf());
        listed("threads").examine(&tree, &planned)
    };
    let of_user = found();
    assert_eq!(of_user.grade, Bad, "{of_user:?}");
    assert!(of_user.fix.ends_with("prlimit --pid $$ --nproc=114:114"), "{of_user:?}");
    assert!(of_user.undo.ends_with("--nproc=70:100"), "{of_user:?}");
    put(folder.path(), LIMITS, b"Max processes  70  unlimited  processes\n");
    let free = found();
    assert!(free.fix.ends_with("--nproc=114:unlimited"), "{free:?}");
    assert!(free.undo.ends_with("--nproc=70:unlimited"), "{free:?}");
    put(folder.path(), STATUS, b"CapEff:\t000001ffffffffff\n");
    assert_eq!(found().grade, FindingGrade::Good, "root has no such limit");
    put(folder.path(), GROUP, b"0::/a\n");
    put(folder.path(), "sys/fs/cgroup/a/pids.max", b"200\n");
    put(folder.path(), "sys/fs/cgroup/a/pids.current", b"120\n");
    let of_group = found();
    assert_eq!(of_group.value, "200 threads and processes, 120 of them there");
    assert_eq!(of_group.fix, "echo 234 > /sys/fs/cgroup/a/pids.max");
    put(folder.path(), GROUP, b"0::/a; reboot\n");
    put(folder.path(), "sys/fs/cgroup/a; reboot/pids.max", b"70\n");
    assert_eq!(found().undo, "echo 70 > '/sys/fs/cgroup/a; reboot/pids.max'");
    put(folder.path(), GROUP, b"0::/a\n");
    put(folder.path(), "proc/sys/kernel/pid_max", b"100\n");
    assert_eq!(found().value, "200 threads and processes, 120 of them there");
}

#[test]
fn huge_pages_that_are_made_beside_a_fault_and_clocks_that_are_not_listed_are_told_apart() {
    let folder = made(&[
        (HUGE, "[always] madvise never\n"),
        (DEFRAG, "always defer [defer+madvise] madvise never\n"),
        (CLOCK, "timebase\n"),
    ]);
    assert_eq!(examined("thp", folder.path()).value, "always, defrag defer+madvise");
    assert_eq!(grade("thp", folder.path()), FindingGrade::Good);
    assert_eq!(grade("clock_source", folder.path()), FindingGrade::Good);
    put(folder.path(), CLOCK, b"sundial\n");
    let found = examined("clock_source", folder.path());
    assert_eq!(found.grade, FindingGrade::Unknown);
    assert!(found.because.contains("sundial"), "{found:?}");
}

#[test]
fn the_folder_of_the_data_is_named() {
    let data = tempfile::tempdir().expect("a folder");
    let planned = PlannedUse { data: Some(data.path().to_path_buf()), ..PlannedUse::default() };
    let found = listed("file_system").examine(&MachineTree::of_machine(), &planned);
    assert!(found.value.contains(&data.path().display().to_string()), "{found:?}");
    let planned = PlannedUse { data: Some("/proc".into()), ..PlannedUse::default() };
    let found = listed("file_system").examine(&MachineTree::of_machine(), &planned);
    assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
}
