//! Logs from files to digests.

mod doubts;
mod open_ends;

use super::*;
use crate::logs::FormatChoice;
use dbtime_model::log_digest::{InputKind, UnreadReason};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use tempfile::TempDir;

/// Statements of a slow log in the seconds from `from`, one in each.
fn slow_log(from: u64, count: u64) -> String {
    let record = |number: u64| {
        let at = from + number;
        format!(
            "# Time: 2021-10-12T01:{:02}:{:02}.000000Z\n# User@Host: u[u] @ h []  Id:    15\n\
             # Query_time: 0.00{}  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 10\n\
             SET timestamp={};\nSELECT c FROM t{} WHERE id = {number};\n",
            at / 60,
            at % 60,
            number % 9 + 1,
            1_634_000_400 + at,
            number % 3,
        )
    };
    (0..count).map(record).collect()
}

struct LogFolder(TempDir);

impl LogFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("written");
        path
    }
}

fn plan_of(inputs: &[&Path]) -> LogPlan {
    let inputs = inputs.iter().map(|path| path.to_path_buf()).collect();
    LogPlan { inputs, ..LogPlan::default() }
}

fn digest(plan: &LogPlan) -> LogDigest {
    digest_logs(plan, &mut |_| ControlFlow::Continue(())).expect("a digest")
}

fn refusal(plan: &LogPlan) -> String {
    let outcome = digest_logs(plan, &mut |_| ControlFlow::Continue(()));
    outcome.expect_err("refused").to_string()
}

#[test]
fn blocks_and_threads_change_no_digest() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", slow_log(0, 100).as_bytes());
    let expected = digest(&LogPlan { threads: Some(1), ..plan_of(&[&path]) });
    assert_eq!((expected.total.count, expected.classes.len()), (100, 3));
    assert_eq!((expected.inputs[0].kind, expected.inputs[0].records), (InputKind::Slow, 100));
    for block_bytes in [1, 100, 1000, 10_000].map(Some) {
        for threads in [1, 2, 7].map(Some) {
            let plan = LogPlan { threads, block_bytes, ..plan_of(&[&path]) };
            assert_eq!(digest(&plan), expected, "{block_bytes:?} {threads:?}");
        }
    }
}

#[test]
fn files_are_read_in_the_order_of_time() {
    let folder = LogFolder::new();
    let later = folder.write("a.log", slow_log(500, 10).as_bytes());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(slow_log(0, 10).as_bytes()).expect("in memory");
    let earlier = folder.write("b.log", &encoder.finish().expect("in memory"));
    let digest = digest(&plan_of(&[&later, &earlier]));
    let paths: Vec<PathBuf> = digest.inputs.iter().map(|input| input.path.clone().into()).collect();
    assert_eq!(paths, [earlier, later]);
    assert_eq!(digest.total.count, 20);
}

#[test]
fn a_state_counts_each_record_once() {
    let folder = LogFolder::new();
    let log = folder.path("slow.log");
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
    let whole = slow_log(0, 30);
    // Twice it is read in the middle of a record, and then it is copied and truncated.
    let mut statements = whole.match_indices("SELECT").map(|(at, _)| at + 3);
    let count_until = |end: Option<usize>| {
        fs::write(&log, &whole[..end.expect("a statement")]).expect("written");
        digest(&plan).total.count
    };
    let first = count_until(statements.nth(10));
    let second = count_until(statements.nth(10));
    assert_eq!((first, second), (10, 11));
    let cut = format!("{whole}# Time: 2021-10-12T01:30:00.000000Z\n# User");
    fs::write(folder.path("slow.log.1"), cut).expect("written");
    fs::write(&log, slow_log(100, 5)).expect("written");
    let last = digest(&plan);
    assert_eq!(first + second + last.total.count, 35);
    assert_eq!(last.inputs.len(), 2);
    // It will not be written on.
    let unread: Vec<_> = last.inputs[0].unread.iter().map(|lines| lines.why).collect();
    assert_eq!(unread, [UnreadReason::Incomplete]);
    assert_eq!(digest(&plan).total.count, 0);
}

/// Statements that end in whole seconds by a clock two hours ahead of UTC, five seconds apart.
fn local_log(count: u64) -> String {
    let record = |number: u64| {
        let (at, given) = (5 * number, 1_634_000_400 + 5 * number);
        format!(
            "# Time: 211012  3:{:02}:{:02}\n# User@Host: u[u] @ h []\n# Query_time: 0.5  \
             Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1\nSET timestamp={given};\nSELECT \
             {number};\n",
            at / 60,
            at % 60,
        )
    };
    (0..count).map(record).collect()
}

#[test]
fn logs_with_and_without_a_zone_are_put_on_one_clock() {
    let folder = LogFolder::new();
    let slow = folder.write("slow.log", local_log(10).as_bytes());
    let line = "::1 - - [12/Oct/2021:01:00:30 +0000] \"GET /a HTTP/1.1\" 200 9 \"-\" \"c\" 0.700\n";
    let access = folder.write("access.log", line.as_bytes());
    let alone = digest(&plan_of(&[&slow]));
    assert!(alone.inputs[0].is_local_time && alone.inputs[0].notes.is_empty(), "{alone:?}");
    let both = digest(&plan_of(&[&access, &slow]));
    assert!(both.inputs.iter().all(|input| !input.is_local_time), "{both:?}");
    let length_us = both.last_us.zip(both.first_us).map(|(last, first)| last - first);
    assert!(length_us.is_some_and(|us| us < 60_000_000), "{length_us:?}");
    let of_slow = both.inputs.iter().find(|input| input.kind == InputKind::Slow).expect("read");
    assert!(of_slow.notes.iter().any(|note| note.contains("2:00 h ahead")), "{of_slow:?}");
    let local = "2021-10-12 01:00:31.000 CEST [12] LOG:  duration: 1.5 ms  statement: SELECT 1\n";
    let local = folder.write("postgres.log", local.as_bytes());
    let noted = digest(&plan_of(&[&access, &local])).inputs;
    assert!(noted.iter().any(|input| input.notes.join(" ").contains("taken for UTC")), "{noted:?}");
}

#[test]
fn an_instant_is_compared_by_the_clock_of_the_log() {
    let folder = LogFolder::new();
    let slow = folder.write("slow.log", local_log(10).as_bytes());
    let count = |since| digest(&LogPlan { since: Some(since), ..plan_of(&[&slow]) }).total.count;
    let utc_us = 1_634_000_425_000_000;
    assert_eq!(count(TimeBound::Instant { utc_us, local_us: 0 }), 5);
    assert_eq!(count(TimeBound::AsWritten(utc_us)), 10);
    assert_eq!(count(TimeBound::AsWritten(utc_us + 7_200_000_000)), 5);
}

#[test]
fn a_file_that_is_given_twice_is_read_once() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", slow_log(0, 10).as_bytes());
    let link = folder.path("link.log");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    let state = Some(folder.path("state"));
    for plan in [plan_of(&[&path, &link, &path]), LogPlan { state, ..plan_of(&[&path, &link]) }] {
        let digest = digest(&plan);
        assert_eq!((digest.total.count, digest.inputs.len()), (10, 1));
        let notes = &digest.inputs[0].notes;
        assert_eq!(notes.iter().filter(|note| note.contains("read once")).count(), 1, "{notes:?}");
    }
}

#[test]
fn a_log_given_with_its_rotations_is_counted_once() {
    let folder = LogFolder::new();
    let [log, older, oldest] = ["slow.log", "slow.log.1", "slow.log.2"].map(|n| folder.path(n));
    let state = Some(folder.path("state"));
    let count =
        |inputs: &[&Path]| digest(&LogPlan { state: state.clone(), ..plan_of(inputs) }).total.count;
    fs::write(&log, slow_log(100, 20)).expect("written");
    fs::write(&older, slow_log(0, 20)).expect("written");
    assert_eq!(count(&[&log, &older]), 40);
    fs::rename(&older, &oldest).expect("rotated");
    let rest = format!("{}{}", slow_log(100, 20), slow_log(200, 5));
    fs::write(&log, rest).expect("written on");
    fs::rename(&log, &older).expect("rotated");
    fs::write(&log, slow_log(300, 7)).expect("written");
    assert_eq!(count(&[&log, &older, &oldest]), 12);
    assert_eq!(count(&[&oldest, &older, &log]), 0);
}

#[test]
fn what_earlier_records_have_set_is_known_where_reading_goes_on() {
    let folder = LogFolder::new();
    let log = folder.path("slow.log");
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
    let text = slow_log(0, 20).replacen("SET timestamp", "use shop;\nSET timestamp", 1);
    let middle = text.match_indices("# Time").nth(10).expect("a record").0;
    fs::write(&log, &text[..middle]).expect("written");
    assert_eq!(digest(&plan).total.count, 10);
    fs::write(&log, &text).expect("written");
    let second = digest(&plan);
    assert_eq!(second.total.count, 10);
    let databases = second.classes.iter().flat_map(|class| &class.databases);
    assert_eq!(databases.filter(|database| database.name == "shop").count(), 3);
}

#[test]
fn reading_that_is_ended_early_is_noted() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", slow_log(0, 50).as_bytes());
    let other = folder.write("other.log", slow_log(0, 50).as_bytes());
    let plan = LogPlan { threads: Some(1), block_bytes: Some(1), ..plan_of(&[&path, &other]) };
    let mut seen = Vec::new();
    let mut stop = |progress: LogProgress| {
        seen.push(progress);
        if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let digest = digest_logs(&plan, &mut stop).expect("a digest");
    assert!(digest.total.count < 10, "{}", digest.total.count);
    assert_eq!(digest.inputs.len(), 1);
    let notes = digest.inputs[0].notes.join(" ");
    assert!(notes.contains("ended early at byte"), "{notes}");
    assert_eq!(digest.notes, ["Not reached: 1 further file."]);
    let size = slow_log(0, 50).len() as u64;
    assert!(seen.iter().all(|progress| progress.all_bytes == Some(2 * size)));
}

#[test]
fn what_cannot_be_digested_is_refused_with_a_remedy() {
    let folder = LogFolder::new();
    let odd = folder.write("odd.log", b"no log\nat all\n");
    assert!(refusal(&plan_of(&[])).contains("no log is given"));
    assert!(refusal(&plan_of(&[Path::new("-"), Path::new("-")])).contains("more than once"));
    assert!(refusal(&plan_of(&[&folder.path("none")])).contains("cannot open"));
    let text = refusal(&plan_of(&[&odd]));
    for part in ["odd.log", "MySQL slow log", "--read-as", "--access-format", "--prefix"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let routes = vec![("(".to_owned(), "name".to_owned())];
    assert!(refusal(&LogPlan { routes, ..plan_of(&[&odd]) }).contains("--route"));
    let plan = LogPlan { state: Some(odd.clone()), ..plan_of(&[&odd]) };
    assert!(refusal(&plan).contains("no state of"), "the log is no state");
}

#[test]
fn an_empty_log_is_no_error() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", b"");
    let digest = digest(&plan_of(&[&path]));
    assert_eq!((digest.total.count, digest.inputs.len()), (0, 1));
    assert!(digest.inputs[0].because.contains("empty"));
}

#[test]
fn figures_of_a_log_without_durations_are_counts() {
    let folder = LogFolder::new();
    let entry = "2021-10-12T01:13:38.132884Z\t    8 Query\tselect '\n# User@Host: a[a] @ b []\n\
                 # Query_time: 9.0\n'\n";
    let general = folder.write("general.log", entry.repeat(3).as_bytes());
    let counts = digest(&plan_of(&[&general]));
    assert_eq!((counts.inputs[0].kind, counts.total.count), (InputKind::General, 3));
    assert!(counts.basis.contains("none of them has a duration"), "{}", counts.basis);
    let slow = folder.write("slow.log", slow_log(0, 3).as_bytes());
    let both = digest(&plan_of(&[&general, &slow]));
    assert!(both.basis.starts_with("each statement's duration"), "{}", both.basis);
}

#[test]
fn an_empty_log_beside_others_does_not_change_what_figures_are_of() {
    let folder = LogFolder::new();
    let line = "10.0.0.1 - - [12/Oct/2021:01:00:00 +0000] \"GET /a HTTP/1.1\" 200 12\n";
    let access = folder.write("access.log", line.repeat(5).as_bytes());
    let empty = folder.write("empty.log", b"");
    let alone = digest(&plan_of(&[&access])).basis;
    assert_eq!(digest(&plan_of(&[&access, &empty])).basis, alone);
}

#[test]
fn a_kind_may_be_named() {
    let folder = LogFolder::new();
    let path = folder.write("slow.log", slow_log(0, 3).as_bytes());
    let choice = FormatChoice::Kind(InputKind::Slow);
    let digest = digest(&LogPlan { choice, ..plan_of(&[&path]) });
    assert!(digest.inputs[0].because.contains("--read-as slow"));
}

/// What fuzzing begins with are logs of each format behind a byte, which are found by themselves.
#[test]
fn the_seeds_for_fuzzing_are_logs() {
    let folder = LogFolder::new();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/log");
    for (name, kind) in [
        ("slow", InputKind::Slow),
        ("general", InputKind::General),
        ("postgres", InputKind::Postgres),
        ("csv", InputKind::PostgresCsv),
        ("json", InputKind::PostgresJson),
        ("access", InputKind::Access),
        ("lines", InputKind::JsonLines),
    ] {
        let seed = fs::read(seeds.join(name)).expect("a seed");
        let path = folder.write(name, &seed[1..]);
        let whole = digest(&plan_of(&[&path]));
        let input = &whole.inputs[0];
        assert_eq!((input.kind, input.records > 0), (kind, true), "{name}: {input:?}");
        for block_bytes in [1, 61, 1021].map(Some) {
            let plan = LogPlan { block_bytes, ..plan_of(&[&path]) };
            assert_eq!(digest(&plan), whole, "{name}, {block_bytes:?}");
        }
    }
}

#[test]
fn figures_of_an_access_log_are_named_as_what_they_are() {
    let folder = LogFolder::new();
    let line = "::1 - - [10/Oct/2000:20:55:36 +0000] \"GET /a HTTP/1.1\" 404 9";
    let timed = folder.write("timed.log", format!("{line} 4711 + 1500\n").as_bytes());
    let bare = folder.write("bare.log", format!("{line}\n").as_bytes());
    let basis = |path: &Path| digest(&plan_of(&[path])).basis;
    let failed = "; a request failed whose status is 400 or more";
    let of_timed = format!("each request's duration as the web server logged it{failed}");
    assert_eq!(basis(&timed), of_timed);
    let of_bare = basis(&bare);
    assert!(of_bare.contains("%D of Apache") && of_bare.ends_with(failed), "{of_bare}");
}
