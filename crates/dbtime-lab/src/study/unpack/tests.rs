//! Archives that nobody has packed with dbtime.

use super::*;
use crate::study::pack::tests::folder;
use crate::study::{changed_files, pack_study};
use dbtime_model::study::{MANIFEST_SCHEMA, PackedFile};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use tar::Header;

/// An entry of an archive: its path, its kind and its bytes.
type MadeEntry<'a> = (&'a str, EntryType, &'a [u8]);

fn file<'a>(path: &'a str, bytes: &'a str) -> MadeEntry<'a> {
    (path, EntryType::Regular, bytes.as_bytes())
}

/// An archive as anybody can write one: the library's own way refuses most of it.
fn archive(at: &Path, entries: &[MadeEntry<'_>]) -> PathBuf {
    let archive = at.join("fsync.tar.gz");
    let file = File::create(&archive).expect("a file");
    let mut packed = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    for (path, kind, bytes) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name_literal("/etc/passwd").expect("short");
        }
        header.set_cksum();
        packed.append(&header, *bytes).expect("memory");
    }
    packed.into_inner().and_then(GzEncoder::finish).expect("written");
    archive
}

/// A manifest of files of these lengths.
fn manifest(files: &[(&str, u64)]) -> String {
    let file = |(path, bytes): &(&str, u64)| PackedFile {
        path: (*path).to_owned(),
        bytes: *bytes,
        sha256: String::new(),
    };
    let files = files.iter().map(file).collect();
    let manifest = StudyManifest { schema: MANIFEST_SCHEMA, files, ..StudyManifest::default() };
    serde_json::to_string(&manifest).expect("plain data")
}

/// Every file in a folder, by its path there.
fn found(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type().expect("a type").is_dir() {
            true => {
                found.extend(self::found(&entry.path()).iter().map(|at| format!("{name}/{at}")))
            }
            false => found.push(name),
        }
    }
    found.sort();
    found
}

#[test]
fn what_was_not_packed_is_named_and_not_unpacked() {
    let place = tempfile::tempdir().expect("a folder");
    let manifest = manifest(&[("plan.json", 2), ("runs/0001/run.json", 3), ("long", 1)]);
    let archive = archive(
        place.path(),
        &[
            ("fsync/", EntryType::Directory, b""),
            ("fsync/link", EntryType::Symlink, b""),
            ("fsync/plan.json", EntryType::Link, b""),
            file("fsync/link/passwd", "x"),
            file("fsync/plan.json", "{}"),
            file("fsync/./plan.json", "{}"),
            file("fsync/../../outside", "x"),
            file("/outside", "x"),
            ("fsync/pipe", EntryType::Fifo, b""),
            ("fsync/disk", EntryType::Block, b""),
            ("../", EntryType::Directory, b""),
            file("fsync/runs/0001/run.json", "{ }"),
            file("fsync/long", "more than one byte"),
            file("other/plan.json", "{}"),
            file("fsync/note.txt", ""),
            file("fsync/manifest.json", &manifest),
        ],
    );
    let study = unpack_study(&archive).expect("a manifest is there");
    let expected = [
        "fsync/link is a link, and was not packed",
        "fsync/plan.json is a link, and was not packed",
        "fsync/link/passwd was added",
        "fsync/./plan.json is there twice",
        "fsync/../../outside was added",
        "/outside was added",
        "fsync/pipe is not a file: not packed",
        "fsync/disk is not a file: not packed",
        "../ is not a file: not packed",
        "fsync/long differs from the packed file",
        "other/plan.json was added",
        "fsync/note.txt was added",
    ];
    assert_eq!(study.problems(), expected);
    let there = found(study.folder().parent().expect("the temporary folder"));
    let packed = ["fsync/manifest.json", "fsync/plan.json", "fsync/runs/0001/run.json"];
    assert_eq!(there.iter().filter(|name| *name != ".dbtime").collect::<Vec<_>>(), packed);
    assert_eq!(found(place.path()), ["fsync.tar.gz"]);
}

/// Records of an extended header.
fn extended(records: &[(&str, &str)]) -> Vec<u8> {
    let record = |(key, value): &(&str, &str)| {
        let pair = format!(" {key}={value}\n");
        let of = |length: usize| pair.len() + length.to_string().len();
        let length = (pair.len()..).find(|length| of(*length) == *length).expect("one fits");
        format!("{length}{pair}").into_bytes()
    };
    records.iter().flat_map(record).collect()
}

#[test]
fn an_archive_of_bsdtar_is_one_too() {
    let place = tempfile::tempdir().expect("a folder");
    let long = format!("runs/{}/ü.json", "a".repeat(200));
    let manifest = manifest(&[("plan.json", 2), (long.as_str(), 3)]);
    let of_all = extended(&[("comment", "x")]);
    let of_plan =
        extended(&[("mtime", "1764428400.25"), ("SCHILY.xattr.a", "b\nc"), ("size", "2")]);
    let path = format!("fsync/{long}");
    let of_long = extended(&[("path", path.as_str())]);
    let archive = archive(
        place.path(),
        &[
            ("pax_global_header", EntryType::XGlobalHeader, &of_all),
            ("PaxHeader/plan.json", EntryType::XHeader, &of_plan),
            file("fsync/plan.json", "{}"),
            ("PaxHeader/u", EntryType::XHeader, &of_long),
            file("fsync/u", "{ }"),
            file("fsync/manifest.json", &manifest),
        ],
    );
    let study = unpack_study(&archive).expect("a study");
    assert!(study.problems().is_empty(), "{:?}", study.problems());
    assert_eq!(found(study.folder()), ["manifest.json", "plan.json", long.as_str()]);
}

#[test]
fn extended_headers_cannot_lead_astray() {
    let place = tempfile::tempdir().expect("a folder");
    let manifest = manifest(&[("plan.json", 2)]);
    let refused = |kind: EntryType, header: &[u8]| {
        let entries = [
            ("PaxHeader/x", kind, header),
            file("fsync/plan.json", "{}"),
            file("fsync/manifest.json", &manifest),
        ];
        let unpacked = unpack_study(&archive(place.path(), &entries));
        unpacked.map_or_else(|error| error.to_string(), |study| study.problems().join("\n"))
    };
    let outside = extended(&[("path", "../../outside")]);
    assert_eq!(refused(EntryType::XHeader, &outside), "../../outside was added");
    let path = "a".repeat(5_000);
    for (kind, header, why) in [
        (EntryType::XHeader, extended(&[("path", path.as_str())]), "a path in it is too long"),
        (EntryType::XHeader, extended(&[("size", "99")]), "has two lengths"),
        (EntryType::XHeader, extended(&[("size", "-1")]), "no number"),
        (EntryType::XHeader, b"99 path=x\n".to_vec(), "is damaged"),
        (EntryType::XHeader, b"0 path=x\n".to_vec(), "is damaged"),
        (EntryType::XHeader, b"path=x\n".to_vec(), "is damaged"),
        (EntryType::XHeader, vec![b' '; 70_000], "header in it is too long"),
        (EntryType::XGlobalHeader, extended(&[("path", "x")]), "have one path or length"),
    ] {
        let found = refused(kind, &header);
        assert!(found.contains(why), "{found}");
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let place = tempfile::tempdir().expect("a folder");
    let bombs: [&[(&str, u64)]; 2] =
        [&[("x", 1_000_000_000_000)], &[("x", u64::MAX), ("y", u64::MAX)]];
    for files in bombs {
        let manifest = manifest(files);
        let archive = archive(place.path(), &[file("fsync/manifest.json", &manifest)]);
        let error = unpack_study(&archive).expect_err("refused").to_string();
        assert!(error.contains("more than 200 times the archive's size"), "{error}");
    }
    // A path has no end either.
    let path = vec![b'a'; 5_000];
    let archive = archive(place.path(), &[("././@LongLink", EntryType::GNULongName, &path)]);
    let error = unpack_study(&archive).expect_err("refused").to_string();
    assert!(error.contains("a path in it is too long"), "{error}");
}

/// The library quotes what it cannot read.
#[test]
fn bytes_of_a_damaged_archive_drive_no_terminal() {
    let place = tempfile::tempdir().expect("a folder");
    let archive = place.path().join("fsync.tar.gz");
    let file = File::create(&archive).expect("a file");
    let mut packed = GzEncoder::new(file, Compression::default());
    packed.write_all(&b"a\n\x1b[2Jb".repeat(200)).expect("written");
    packed.finish().expect("written");
    let error = unpack_study(&archive).expect_err("damaged").to_string();
    assert!(error.contains("cannot be read as a packed study"), "{error}");
    assert!(!error.contains(char::is_control) && error.chars().count() < 400, "{error}");
}

#[test]
fn a_manifest_names_files_of_its_own_folder_each_once() {
    let place = tempfile::tempdir().expect("a folder");
    let cases: [(&[(&str, u64)], &str); 4] = [
        (&[("../plan.json", 2)], "../plan.json is no path in the study"),
        (&[("/etc/passwd", 2)], "/etc/passwd is no path in the study"),
        (&[("", 2)], "is no path in the study"),
        (&[("plan.json", 2), ("./plan.json", 2)], "./plan.json is there twice"),
    ];
    for (files, why) in cases {
        let manifest = manifest(files);
        let archive = archive(place.path(), &[file("fsync/manifest.json", &manifest)]);
        let error = unpack_study(&archive).expect_err(why).to_string();
        assert!(error.contains(why) && error.contains("fetch it again"), "{error}");
    }
    let bare = archive(place.path(), &[file("fsync/plan.json", "{}"), file("manifest.json", "{}")]);
    let error = unpack_study(&bare).expect_err("no manifest").to_string();
    assert!(error.contains("no study with a manifest.json in it"), "{error}");
}

#[test]
fn a_file_whose_path_is_long_comes_back() {
    let place = tempfile::tempdir().expect("a folder");
    let study = folder(place.path());
    let deep = study.join("runs").join("r".repeat(120)).join("s".repeat(120));
    fs::create_dir_all(&deep).expect("folders");
    fs::write(deep.join("run.json"), "{}").expect("written");
    let archive = place.path().join("fsync.tar.gz");
    pack_study(&study, &archive).expect("packed");
    let unpacked = unpack_study(&archive).expect("an archive");
    assert!(unpacked.problems().is_empty(), "{:?}", unpacked.problems());
    assert_eq!(changed_files(unpacked.folder()).expect("readable"), Some(Vec::new()));
}

#[test]
fn a_file_with_holes_comes_back_whole() {
    let place = tempfile::tempdir().expect("a folder");
    let study = folder(place.path());
    let holes = File::create(study.join("holes.txt")).expect("a file");
    holes.set_len(1 << 20).expect("a hole");
    let archive = place.path().join("fsync.tar.gz");
    pack_study(&study, &archive).expect("packed");
    let unpacked = unpack_study(&archive).expect("an archive");
    assert!(unpacked.problems().is_empty(), "{:?}", unpacked.problems());
    assert_eq!(changed_files(unpacked.folder()).expect("readable"), Some(Vec::new()));
}
