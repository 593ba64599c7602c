//! Logs whose figures would be wrong: of another format, damaged, there twice, silent.

use super::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};

#[test]
fn a_log_none_of_whose_lines_fits_is_known_and_read_again() {
    let folder = LogFolder::new();
    let odd = folder.write("odd.log", &b"no log\nat all\n".repeat(100));
    let state = Some(folder.path("state"));
    for kind in InputKind::ALL {
        let choice = match kind {
            InputKind::Access => FormatChoice::Access("common".to_owned()),
            InputKind::Postgres => FormatChoice::PostgresPrefix("%m [%p] ".to_owned()),
            InputKind::JsonLines => FormatChoice::JsonFields("path=uri".to_owned()),
            kind => FormatChoice::Kind(kind),
        };
        let plan = LogPlan { choice, state: state.clone(), ..plan_of(&[&odd]) };
        for _ in 0..2 {
            let digest = digest(&plan);
            assert!(digest.inputs[0].is_misread, "{kind:?}: {:?}", digest.inputs);
            let error = LogError::of_misread(&digest).expect("an error").to_string();
            for part in ["odd.log: not one line", kind.title(), "--access-format", "--prefix"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}

#[test]
fn a_log_without_records_that_fits_is_not_misread() {
    let folder = LogFolder::new();
    let quiet = "2026-11-30 10:00:01.000 UTC [12] LOG:  database system is ready\nrubbish\n";
    let quiet = folder.write("quiet.log", quiet.as_bytes());
    let opened = "mysqld, Version: 8.0.36 (x). started with:\nTcp port: 3306  Unix socket: /s\n\
                  Time                 Id Command    Argument\n";
    let opened = folder.write("opened.log", opened.as_bytes());
    let empty = folder.write("empty.log", b"");
    let choice = FormatChoice::PostgresPrefix("%m [%p] ".to_owned());
    let of_prefix = LogPlan { choice, ..plan_of(&[&quiet]) };
    for plan in [of_prefix, plan_of(&[&opened]), plan_of(&[&empty])] {
        let digest = digest(&plan);
        assert_eq!((digest.total.count, digest.inputs[0].is_misread), (0, false), "{digest:?}");
    }
}

#[test]
fn what_is_outside_of_the_time_is_counted_of_all_files() {
    let folder = LogFolder::new();
    let one = folder.write("one.log", slow_log(0, 1200).as_bytes());
    let other = folder.write("other.log", slow_log(1500, 5).as_bytes());
    let since = Some(TimeBound::AsWritten(i64::MAX));
    let digest = digest(&LogPlan { since, ..plan_of(&[&one, &other]) });
    let note = "Outside of the time of --since and --until, and left out: 1,205 records.";
    assert_eq!(digest.notes, [note]);
    assert!(digest.inputs.iter().all(|input| input.notes.is_empty()), "{:?}", digest.inputs);
}

#[test]
fn a_damaged_file_makes_its_figures_doubtful() {
    let folder = LogFolder::new();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(slow_log(0, 50).as_bytes()).expect("in memory");
    let packed = encoder.finish().expect("in memory");
    let path = folder.write("slow.log.gz", &packed[..packed.len() / 2]);
    let digest = digest(&plan_of(&[&path]));
    let doubts = &digest.inputs[0].doubts;
    assert!(doubts.len() == 1 && doubts[0].contains("damaged or cut short ("), "{doubts:?}");
}

/// A text, packed.
fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("in memory");
    encoder.finish().expect("in memory")
}

#[test]
fn a_log_and_its_packed_copy_are_counted_once() {
    let folder = LogFolder::new();
    let text = slow_log(0, 300);
    let bare = folder.write("slow.log", text.as_bytes());
    let copy = folder.write("slow.log.gz", &packed(&text[..text.len() / 2]));
    for inputs in [[&*bare, &*copy], [&*copy, &*bare]] {
        let digest = digest(&plan_of(&inputs));
        assert_eq!((digest.total.count, digest.inputs.len()), (300, 1));
        let input = &digest.inputs[0];
        assert!(input.path.ends_with("slow.log") && input.doubts.is_empty(), "{input:?}");
        assert!(input.notes[0].contains("slow.log.gz is the same log, packed"), "{input:?}");
    }
    let state = Some(folder.path("state"));
    let plan = LogPlan { state, ..plan_of(&[&bare, &copy]) };
    assert_eq!([digest(&plan).total.count, digest(&plan).total.count], [300, 0]);
}

#[test]
fn a_copy_of_another_name_makes_figures_doubtful() {
    let folder = LogFolder::new();
    let text = slow_log(0, 300);
    let log = folder.write("slow.log", text.as_bytes());
    let copy = folder.write("old.log.gz", &packed(&text));
    let other = folder.write("slow.log.1.gz", &packed(&slow_log(400, 300)));
    let digest = digest(&plan_of(&[&log, &copy, &other]));
    let doubts: Vec<&String> = digest.inputs.iter().flat_map(|input| &input.doubts).collect();
    assert_eq!((digest.total.count, doubts.len()), (900, 1), "{doubts:?}");
    assert!(doubts[0].contains("slow.log does: if one is a copy"), "{doubts:?}");
}

#[test]
fn a_log_that_changes_its_fields_is_read_by_them_wherever_reading_begins() {
    let folder = LogFolder::new();
    let part = |from: usize, fields: &str, line: fn(usize) -> String| {
        let lines: String = (from..from + 30).map(line).collect();
        format!("#Fields: date time {fields}\n{lines}")
    };
    let old = part(0, "cs-method cs-uri-stem sc-status", |at| {
        format!("2000-10-10 20:55:{at:02} GET /old 200\n")
    });
    let new = part(30, "sc-status cs-uri-stem cs-method time-taken", |at| {
        format!("2000-10-10 20:55:{at:02} 500 /new POST 15\n")
    });
    let log = folder.write("w3c.log", format!("{old}{new}").as_bytes());
    let shown = |digest: &LogDigest| -> Vec<(String, u64)> {
        digest.classes.iter().map(|class| (class.text.clone(), class.count)).collect()
    };
    for block_bytes in [1, 100, 1000, 100_000].map(Some) {
        for threads in [1, 2, 7].map(Some) {
            let digest = digest(&LogPlan { threads, block_bytes, ..plan_of(&[&log]) });
            let classes = [("POST /new".to_owned(), 30), ("GET /old".to_owned(), 30)];
            assert_eq!(shown(&digest), classes, "{block_bytes:?} {threads:?}");
            assert_eq!((digest.total.errors, &*digest.inputs[0].unread), (Some(30), &[][..]));
        }
    }
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
    let begun = old.len() + new.len() / 2;
    let begun = begun + format!("{old}{new}")[begun..].find('\n').expect("an end") + 1;
    folder.write("w3c.log", &format!("{old}{new}").as_bytes()[..begun]);
    let first = digest(&plan).total.count;
    folder.write("w3c.log", format!("{old}{new}").as_bytes());
    let second = digest(&plan);
    assert_eq!(first + second.total.count, 60);
    assert_eq!(shown(&second), [("POST /new".to_owned(), 60 - first)]);
}

#[test]
fn a_pipe_that_falls_silent_at_once_can_be_left() {
    let folder = LogFolder::new();
    let pipe = folder.path("pipe");
    mknodat(CWD, pipe.as_path(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let plan = plan_of(&[&pipe]);
    let until = |looks: u32| {
        let mut left = looks;
        digest_logs(&plan, &mut |_| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("a digest")
    };
    let nothing = until(2);
    assert_eq!((nothing.total.count, nothing.inputs.len()), (0, 1));
    let text = slow_log(0, 11);
    // Reading and writing, so that it is opened at once.
    let mut end = fs::File::options().read(true).write(true).open(&pipe).expect("opened");
    end.write_all(&[text.as_bytes(), b"# Time: 2"].concat()).expect("written");
    let silent = until(3);
    assert_eq!((silent.total.count, silent.inputs[0].records), (10, 10));
    assert!(silent.inputs[0].notes[0].contains("ended early at byte"), "{:?}", silent.inputs[0]);
}

#[test]
fn a_state_is_as_before_until_it_is_saved() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", slow_log(0, 10).as_bytes());
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&path]) };
    let unsaved = || {
        let outcome = digest_unsaved(&plan, &mut |_| ControlFlow::Continue(()));
        let (digest, state) = outcome.expect("a digest");
        (digest.total.count, state.expect("a state"))
    };
    let (first, lost) = unsaved();
    drop(lost);
    let (second, state) = unsaved();
    assert_eq!((first, second), (10, 10));
    state.save().expect("saved");
    assert_eq!(digest(&plan).total.count, 0);
}

#[test]
fn failures_are_unknown_in_logs_that_do_not_show_them() {
    let folder = LogFolder::new();
    let errors = |name: &str, text: &str| {
        let whole = digest(&plan_of(&[&folder.write(name, text.as_bytes())]));
        let in_time = whole.timeline.bins.iter().any(|bin| bin.errors.is_some());
        assert_eq!(in_time, whole.total.errors.is_some(), "{name}");
        (whole.total.errors, whole.notes.join(" "))
    };
    let slow = slow_log(0, 3);
    assert_eq!(errors("slow.log", &slow).0, None);
    let extra = |code| slow.replace("Rows_sent: 1", &format!("Rows_sent: 1 Errno: {code}"));
    assert_eq!([0, 1062].map(|code| errors("extra.log", &extra(code)).0), [Some(0), Some(3)]);
    let mixed = errors("mixed.log", &slow.replacen("Rows_examined: 10", "Errno: 1062", 1));
    assert_eq!(mixed.0, Some(1));
    assert!(mixed.1.contains("whether 2 records failed"), "{}", mixed.1);
    let request = "::1 - - [12/Oct/2021:01:00:00 +0000] \"GET /a HTTP/1.1\" 200 9\n".repeat(3);
    assert_eq!(errors("access.log", &request).0, Some(0));
    let choice = FormatChoice::Access("%h %l %u %t \"%r\"".to_owned());
    let path = folder.write("bare.log", request.replace(" 200 9", "").as_bytes());
    let bare = digest(&LogPlan { choice, ..plan_of(&[&path]) });
    assert_eq!((bare.total.count, bare.total.errors), (3, None));
    assert!(!bare.basis.contains("failed"), "{}", bare.basis);
}
