//! The mirror beside the built programs of every machine.

use super::btf::{ObjectTypes, StructLayout};
use super::{capture, numbers, scheduler};
use dbtime_model::Part;

/// The machines that programs are built for.
const MACHINES: [&str; 2] = ["x86_64", "aarch64"];

/// Tables that are read or written here: the struct, or the bytes, of their keys and values.
const CAPTURE_TABLES: [(&str, &[&str]); 15] = [
    ("servers", &["4", "server"]),
    ("ports", &["2", "1"]),
    ("programs", &["name", "1"]),
    ("started", &["4"]),
    ("departures", &["4", "8"]),
    ("processors", &["4", "processor"]),
    ("totals", &["row", "totals"]),
    ("examples", &["row", "example"]),
    ("files", &["shape_file", "tally"]),
    ("preemptors", &["name", "tally"]),
    ("stacks", &["8", "stack"]),
    // Of these only the size is changed.
    ("stream", &[]),
    ("prepared_shapes", &["prepared", "8"]),
    ("threads", &["4", "thread"]),
    ("connections", &["4", "connection"]),
];
const SCHEDULER_TABLES: [(&str, &[&str]); 3] =
    [("threads", &["4", "thread"]), ("ended", &["process", "ended"]), ("cpus", &["4", "cpu"])];

fn check(object: &str, structs: &[StructLayout], tables: &[(&str, &[&str])]) {
    for machine in MACHINES {
        let types = ObjectTypes::of(&format!("{object}.{machine}"));
        let differences: Vec<_> = structs.iter().flat_map(|one| types.differences(one)).collect();
        assert!(differences.is_empty(), "{object}.{machine}:\n{}", differences.join("\n"));
        for (name, described) in tables {
            assert_eq!(types.table(name), *described, "{object}.{machine}: table {name}");
        }
    }
}

#[test]
fn structs_are_those_of_the_built_programs() {
    check("capture", capture::STRUCTS, &CAPTURE_TABLES);
    check("scheduler", scheduler::STRUCTS, &SCHEDULER_TABLES);
}

#[test]
fn numbers_are_those_of_the_built_programs() {
    for machine in MACHINES {
        let types = ObjectTypes::of(&format!("capture.{machine}"));
        let differences = numbers::ENUMS.iter().flat_map(|one| types.other_numbers(one));
        assert_eq!(differences.collect::<Vec<_>>(), [""; 0], "{machine}");
    }
}

/// What is written to or read from sections of data: a constant's struct, or plain numbers.
#[test]
fn sections_of_data_have_the_size_that_is_written() {
    for machine in MACHINES {
        let sizes = ObjectTypes::of(&format!("capture.{machine}")).data();
        let settings = size_of::<capture::SettingsRecord>();
        let made = numbers::EMPTIED * size_of::<u32>();
        for (section, size) in [
            (".rodata", settings),
            (".data.depth", 4),
            (".data.phase", 4),
            (".data.side", 4),
            (".data.made", made),
        ] {
            assert_eq!(sizes.get(section), Some(&size), "{machine}: {section}");
        }
        let sizes = ObjectTypes::of(&format!("scheduler.{machine}")).data();
        assert_eq!(sizes.get(".data.begun"), Some(&8), "{machine}");
    }
}

/// Both know parts by their numbers: here these are places in [`Part::TRACED`].
#[test]
fn parts_are_in_the_order_of_the_model() {
    let types = ObjectTypes::of("capture.x86_64");
    let mut parts: Vec<(i128, String)> =
        types.numbers("part").into_iter().map(|(name, number)| (number, name)).collect();
    parts.sort();
    let names = parts.iter().filter_map(|(_, name)| name.strip_prefix("PART_"));
    let names: Vec<String> = names.map(str::to_lowercase).collect();
    assert_eq!(names, Part::TRACED.map(Part::name));
}

/// Every enumerator that counts here has its constant.
#[test]
fn every_count_and_every_part_is_mirrored() {
    let types = ObjectTypes::of("capture.x86_64");
    for whole in ["count", "part", "early_part", "cache", "emptied", "protocol", "outcome", "depth"]
    {
        let mirrored = numbers::ENUMS.iter().find(|one| one.name == whole).expect("it is mirrored");
        assert_eq!(types.numbers(whole).len(), mirrored.numbers.len(), "enum {whole}");
    }
}

/// The comparison itself: what is moved, longer or called otherwise differs.
#[test]
fn what_is_moved_on_one_side_differs() {
    let types = ObjectTypes::of("capture.x86_64");
    let tally = capture::STRUCTS.iter().find(|one| one.name == "tally").expect("it is mirrored");
    assert_eq!(types.differences(tally), [""; 0]);
    let [count, length] = tally.members else { panic!("{tally:?}") };
    let swapped: &'static [_] = Box::leak(Box::new([
        super::btf::MemberLayout { name: length.name, ..*count },
        super::btf::MemberLayout { name: count.name, ..*length },
    ]));
    assert_eq!(types.differences(&StructLayout { members: swapped, ..*tally }).len(), 1);
    assert_eq!(types.differences(&StructLayout { size: 24, ..*tally }).len(), 1);
    assert_eq!(types.differences(&StructLayout { name: "taly", ..*tally }).len(), 1);
    let other = super::btf::EnumNumbers { name: "outcome", numbers: &[("OUTCOME_ENDED", 2)] };
    assert_eq!(types.other_numbers(&other).len(), 1);
}
