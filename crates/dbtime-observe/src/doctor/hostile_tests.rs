//! Each check on a machine that lacks something, hides it, or has anything in its place.

use super::tests::{
    BTF, CASES, CheckCase, GROUP, HUGE, MEMORY, START, examined, grade, listed, made, put, watched,
};
use super::{MACHINE_CHECKS, MachineTree, MachineWindow, PlannedUse};
use dbtime_model::doctor::{DoctorFinding, FindingGrade};
use std::fs;
use std::path::Path;

/// What no file of the kernel has in it.
const HOSTILE: [&[u8]; 4] =
    [b"\xff\xfe\0\x01", b"99999999999999999999999999", b"", b"\x1b]0;x\x07 `reboot`"];

/// Checks that look at whether a file is there, or at names in a folder, and not into it.
const OF_NAMES: [&str; 2] = ["btf", "numa"];

/// Checks that are made of a window, of the data folder or of its disk.
const OTHERWISE: [&str; 6] = ["steal", "foreign_cpu", "swap", "switches", "file_system", "disk"];

#[test]
fn each_check_has_its_cases() {
    for check in MACHINE_CHECKS {
        let id = check.frame.id;
        let is_case = CASES.iter().any(|case| case.id == id);
        assert!(is_case != OTHERWISE.contains(&id), "{id}");
    }
}

#[test]
fn what_is_missing_or_hostile_is_unknown_with_the_reason() {
    const ENDLESS: usize = 10 << 20;
    for CheckCase { id, good, .. } in &CASES {
        let (path, _) = good[0];
        let folder = made(good);
        let place = folder.path().join(path);
        for bytes in HOSTILE {
            fs::write(&place, bytes).expect("written");
            let found = examined(id, folder.path());
            let is_text_of_start = path == START && bytes != HOSTILE[0];
            let is_name = OF_NAMES.contains(id);
            let wanted = if is_text_of_start || is_name || path == GROUP && bytes != HOSTILE[0] {
                [FindingGrade::Good, FindingGrade::Unknown]
            } else {
                [FindingGrade::Unknown; 2]
            };
            assert!(wanted.contains(&found.grade), "{bytes:?}: {found:?}");
            assert!(!format!("{found:?}").contains("reboot"), "{found:?}");
        }
        if OF_NAMES.contains(id) {
            continue;
        }
        fs::write(&place, vec![b'1'; ENDLESS]).expect("written");
        assert_eq!(grade(id, folder.path()), FindingGrade::Unknown, "{id}: endless");
        fs::remove_file(&place).expect("removed");
        let found = examined(id, folder.path());
        assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
        assert!(!found.because.is_empty() && found.value.is_empty(), "{found:?}");
        fs::create_dir(&place).expect("a folder");
        assert_eq!(grade(id, folder.path()), FindingGrade::Unknown, "{id}: a folder");
    }
}

#[test]
fn a_description_of_types_is_a_file_of_a_kernel_that_is_seen() {
    let folder = made(&[(BTF, "\x01")]);
    assert_eq!(grade("btf", folder.path()), FindingGrade::Good);
    fs::remove_file(folder.path().join(BTF)).expect("removed");
    assert_eq!(grade("btf", folder.path()), FindingGrade::Note);
    fs::create_dir(folder.path().join(BTF)).expect("a folder");
    assert_eq!(grade("btf", folder.path()), FindingGrade::Note, "a folder describes no types");
    fs::remove_dir_all(folder.path().join("sys/kernel")).expect("removed");
    assert_eq!(grade("btf", folder.path()), FindingGrade::Unknown, "no /sys");
}

#[test]
fn nodes_are_counted_by_their_numbers_and_their_mode_is_a_number() {
    const NODES: &str = "sys/devices/system/node";
    const MODE: &str = "proc/sys/vm/zone_reclaim_mode";
    let folder = made(&[("sys/devices/system/node/node0/cpulist", "0\n")]);
    let root = folder.path();
    for name in ["node", "node-1", "node99999999999999999999", "nodex", "has_cpu", "node `reboot`"]
    {
        fs::create_dir(root.join(NODES).join(name)).expect("a folder");
    }
    assert_eq!(examined("numa", root).value, "1 node");
    fs::create_dir(root.join(NODES).join("node1")).expect("a folder");
    assert_eq!(grade("numa", root), FindingGrade::Note, "the mode is not needed");
    for bytes in HOSTILE {
        put(root, MODE, bytes);
        let found = examined("numa", root);
        assert_eq!((found.grade, found.fix.as_str()), (FindingGrade::Note, ""), "{bytes:?}");
    }
    put(root, MODE, b"1\n");
    assert_eq!(grade("numa", root), FindingGrade::Bad);
    fs::remove_dir_all(root.join(NODES)).expect("removed");
    assert_eq!(grade("numa", root), FindingGrade::Unknown);
    put(root, NODES, b"no folder");
    assert_eq!(grade("numa", root), FindingGrade::Unknown);
}

#[test]
fn what_was_not_watched_or_not_counted_is_unknown() {
    let folder = made(&[(MEMORY, "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n")]);
    let tree = MachineTree::at(folder.path().to_path_buf());
    let found = |tree: &MachineTree, id: &str| -> DoctorFinding {
        listed(id).examine(tree, &PlannedUse::default())
    };
    for id in ["steal", "foreign_cpu", "swap", "switches"] {
        let found = found(&tree, id);
        assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
        assert!(found.because.contains("not watched"), "{found:?}");
    }
    let uncounted =
        MachineWindow { pages_swapped_in: None, switches_per_s: None, ..watched(0.0, 0.0, 0) };
    let tree = tree.watched(uncounted);
    for id in ["swap", "switches", "steal", "foreign_cpu"] {
        assert_eq!(found(&tree, id).grade, FindingGrade::Unknown, "{id}");
    }
    for bytes in HOSTILE {
        put(folder.path(), MEMORY, bytes);
        assert_eq!(found(&tree, "swap").grade, FindingGrade::Unknown, "{bytes:?}");
    }
    put(folder.path(), MEMORY, b"SwapTotal: 0 kB\nSwapFree: 0 kB\n");
    let none = found(&tree, "swap");
    assert!(none.grade == FindingGrade::Good && none.because.contains("ends a process"));
}

#[test]
fn data_that_are_nowhere_have_neither_file_system_nor_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = MachineTree::at(folder.path().to_path_buf());
    let nowhere = [None, Some("/absent/\u{1b}[2J"), Some("/proc"), Some("/dev/null/x")];
    for data in nowhere {
        let planned = PlannedUse { data: data.map(Into::into), ..PlannedUse::default() };
        for id in ["file_system", "disk"] {
            let found = listed(id).examine(&tree, &planned);
            assert_eq!(found.grade, FindingGrade::Unknown, "{found:?}");
            assert!(!found.because.is_empty(), "{found:?}");
        }
    }
}

#[test]
fn a_machine_that_hides_its_files_is_unknown_and_a_link_out_of_them_is_followed_with_a_bound() {
    let folder = made(&[(HUGE, "x")]);
    let place = folder.path().join(HUGE);
    fs::remove_file(&place).expect("removed");
    for to in ["/dev/zero", "/dev/full", "/proc/self/mem", "nowhere"] {
        std::os::unix::fs::symlink(Path::new(to), &place).expect("linked");
        assert_eq!(grade("thp", folder.path()), FindingGrade::Unknown, "{to}");
        fs::remove_file(&place).expect("removed");
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_check_panic_or_print_them(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        number in 0..CASES.len(),
    ) {
        let CheckCase { id, good, .. } = &CASES[number];
        let folder = made(good);
        for (path, _) in *good {
            put(folder.path(), path, &bytes);
        }
        let found = examined(id, folder.path());
        proptest::prop_assert!(found.value.len() + found.because.len() < 1_000, "{found:?}");
    }
}
