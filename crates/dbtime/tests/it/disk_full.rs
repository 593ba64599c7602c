//! A disk that fills up: while loading, while running, while recording.
//!
//! The disk is a small tmpfs in a mount namespace of its own, which takes root. Without it nothing
//! here is tested; that is said on the terminal, and fails where CI is set.

use crate::given_server::GivenServer;
use crate::sandbox::{Ran, Sandbox};
use dbtime_model::Product;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

/// Runs lines of `dbtime` in a folder `disk` of this size, then lists what is left there on stdout
/// after a line `left:`. `None` when no such disk can be made.
pub(crate) fn on_a_disk_of(size: &str, sandbox: &Sandbox, script: &str) -> Option<Ran> {
    std::fs::create_dir_all(sandbox.path("disk")).expect("a folder");
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_dbtime")]);
        sandbox.settle(&mut command);
        command.output()
    };
    let mount = format!("mount -t tmpfs -o size={size} disk disk");
    if !shell(&mount).is_ok_and(|made| made.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI must be able to mount a tmpfs");
        let told = b"\nNOT TESTED: a full disk (needs root, unshare and mount)\n";
        std::io::stderr().write_all(told).expect("a stderr");
        return None;
    }
    let script = format!(
        "{mount}; dbtime() {{ \"$0\" \"$@\"; }}; {script}; code=$?; \
         echo left:; cd disk; find . -type f | sort; exit $code"
    );
    Some(Ran::new(&script, &shell(&script).expect("it has started before")))
}

pub(crate) fn left(ran: &Ran) -> Vec<&str> {
    ran.out.split_once("left:\n").expect("a list").1.lines().collect()
}

#[test]
fn before_loading() {
    let sandbox = Sandbox::new();
    let script = "dbtime init atm --target sqlite:disk/t.db";
    let Some(ran) = on_a_disk_of("4m", &sandbox, script) else { return };
    ran.exits(3);
    let told = ["no room left for atm at scale 1", "needs about 12 MB, and 4 MB are free in disk"];
    let ran = ran.stderr_has(&told);
    assert!(left(&ran).is_empty(), "{ran:?}");
}

/// There is a little less room than it takes in the end.
#[test]
fn while_loading() {
    let sandbox = Sandbox::new();
    let script = "dbtime init atm --target sqlite:disk/t.db";
    let Some(ran) = on_a_disk_of("9200k", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["dbtime: no room left for disk/t.db", "free space"]);
    assert!(left(&ran).is_empty(), "{ran:?}");
}

#[test]
fn while_loading_a_temporary_target() {
    let sandbox = Sandbox::new();
    let script = "TMPDIR=disk dbtime run atm --warmup 0s --time 100ms --out r";
    let Some(ran) = on_a_disk_of("9200k", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["dbtime: no room left for ", "disk/dbtime-"]);
    assert!(left(&ran).is_empty(), "{ran:?}");
    assert_eq!(sandbox.left(), ["disk"]);
}

#[test]
fn while_running() {
    let sandbox = Sandbox::new();
    // Whoever has hardly any CPU takes a while to fill what is left.
    let script = "dbtime init atm --target sqlite:disk/t.db >&2 && \
                  dbtime run atm --target sqlite:disk/t.db --warmup 0s --time 2s --json --out r";
    let Some(ran) = on_a_disk_of("11m", &sandbox, script) else { return };
    // Transactions that fail are counted; most of the requested work did not happen.
    ran.unserved();
    let run = dbtime_model::record::read_run(&sandbox.path("r")).expect("a whole record");
    let counts = run.record.counts;
    assert!(counts.failed > 0, "{counts:?}");
    assert_eq!(
        counts.offered,
        counts.completed + counts.failed + counts.dropped + counts.unfinished
    );
    assert_eq!(run.record.errors.get("SQLITE_FULL"), Some(&counts.failed));
    let warned = run.record.validity.warnings.iter().any(|w| w.text.contains("SQLITE_FULL"));
    assert!(warned, "{:?}", run.record.validity);
}

/// What a script printed before the list of what is left.
fn printed(ran: &Ran) -> &str {
    ran.out.split_once("left:\n").expect("a list").0
}

#[test]
fn while_recording_the_report_is_printed() {
    let sandbox = Sandbox::new();
    let script = "dbtime run values1 --target null --transactions 500 --details --out disk/r";
    let Some(ran) = on_a_disk_of("24k", &sandbox, script) else { return };
    ran.exits(3);
    let ran =
        ran.stderr_has(&["dbtime: cannot write the record to disk/r", "No space left on device"]);
    assert_eq!(ran.err.matches("No space left").count(), 1, "{ran:?}");
    let ran = ran.prints(&["values1 on null", "Repeat it"]);
    assert!(!ran.out.contains("Record:"), "{ran:?}");
    assert!(left(&ran).is_empty(), "{ran:?}");
}

/// A write beyond it sends a signal that ends whoever does not catch it.
#[test]
fn a_limit_on_the_size_of_files_is_told_as_a_full_disk_is() {
    let sandbox = Sandbox::new();
    let script = "ulimit -f 8; exec \"$0\" run values1 --target null --transactions 500 --out r";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_dbtime")]);
    sandbox.settle(&mut command);
    let ran = Ran::new(script, &command.output().expect("a shell"));
    ran.exits(3);
    let ran =
        ran.stderr_has(&["dbtime: cannot write the record to r", "File too large", "ulimit -f"]);
    ran.prints(&["values1 on null"]);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    // A page that is made later has the same remedy.
    sandbox.run("run values1 --target null --transactions 500 --out r").fine();
    let script = "ulimit -f 8; exec \"$0\" report r --html page.html";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_dbtime")]);
    sandbox.settle(&mut command);
    let ran = Ran::new(script, &command.output().expect("a shell"));
    ran.exits(3);
    ran.stderr_has(&["cannot write page.html: File too large", "ulimit -f"]);
    assert_eq!(sandbox.left(), ["r"]);
}

/// SQLite has an index of the write-ahead log in memory that processes share: a file beside the
/// database, whose name is in no message of its.
#[test]
fn without_room_for_an_index_of_the_log_its_file_is_named() {
    let sandbox = Sandbox::loaded();
    let target = "sqlite:disk/t.db?journal_mode=wal";
    let script = format!(
        "dbtime init small.toml --target '{target}' >&2; cat /dev/zero >disk/others 2>/dev/null; \
         dbtime run small.toml --target '{target}' --time 300ms --no-record; code=$?; \
         rm -f disk/others; (exit $code)"
    );
    let Some(ran) = on_a_disk_of("4m", &sandbox, &script) else { return };
    ran.exits(3);
    ran.stderr_has(&["no room left for disk/t.db-shm", "free space on its file system"]);
}

/// The processes that initdb starts share memory, and what they crash with is removed with the data
/// folder. Memory and its names are of namespaces of their own here, in which other tests' folders
/// are not to be seen.
#[test]
fn while_a_data_folder_is_made_nothing_stays_in_shared_memory() {
    let sandbox = Sandbox::on_disk();
    sandbox.open_to_all();
    let inner = "mount -t tmpfs shm /dev/shm; \
                 \"$0\" run values1 --target postgres --server-data disk --time 1s --no-record; \
                 code=$?; tail -n +2 /proc/sysvipc/shm; ls /dev/shm; exit $code";
    for size in ["6m", "12m", "20m"] {
        let script = format!("unshare -i sh -c '{inner}' \"$0\"");
        let Some(ran) = on_a_disk_of(size, &sandbox, &script) else { return };
        ran.exits(3);
        let ran = ran.stderr_has(&["cannot make its data folder", "make room there"]);
        assert_eq!(printed(&ran), "", "of {size}: {ran:?}");
        assert!(left(&ran).is_empty(), "{ran:?}");
    }
}

#[test]
fn while_recording_the_document_is_printed() {
    let sandbox = Sandbox::new();
    let run = "run values1 --target null --transactions 500 --out disk/r --json";
    let lines = [
        run,
        &format!("{run} --sweep connections=1,2"),
        "pgbench --target sqlite --json -S -t 10 --out=disk/r",
    ];
    for line in lines {
        let Some(ran) = on_a_disk_of("24k", &sandbox, &format!("dbtime {line}")) else { return };
        ran.exits(3);
        let ran =
            ran.stderr_has(&["dbtime: cannot write the record to ", "disk/r", "No space left"]);
        let json: serde_json::Value = serde_json::from_str(printed(&ran)).expect("one document");
        assert!(crate::sandbox::count(&json, "/counts/completed") >= 10, "{json}");
        assert!(left(&ran).is_empty(), "{ran:?}");
    }
}

#[test]
fn while_the_interval_log_is_written() {
    let sandbox = Sandbox::new();
    // The log alone would fit, were it not for others on the disk. They come a second after it has
    // been begun.
    let script = "(until ls disk/.r.partial-*/latency.hlog; do sleep 0.1; done >/dev/null 2>&1; \
                  sleep 1; exec cat /dev/zero >disk/others 2>/dev/null) & others=$!; \
                  dbtime run values1 --target null --connections 9 --warmup 0s --time 5s \
                  --out disk/r; code=$?; kill $others 2>/dev/null; wait; rm -f disk/others; \
                  (exit $code)";
    let Some(ran) = on_a_disk_of("4m", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["dbtime: cannot write the record to disk/r", "No space left"]);
    let ran = ran.prints(&["values1 on null"]);
    assert!(left(&ran).is_empty(), "{ran:?}");
}

/// Whether it is a record or the journal for which there is no room.
#[test]
fn while_slices_of_a_study_are_recorded_no_half_of_one_is_left_and_no_target() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "slices.toml",
        "run = \"values1 --target null --time 400ms --warmup 0s\"\n[design]\nblocks = 3\n\
         slices = 2\n[gate]\nsteal = \"99%\"\nforeign-cpu = \"1000%\"\nwait = \"0s\"\n\
         steady = false\nrepeats = 99\n[factors]\nconnections = [1, 2]\n",
    );
    let script = "dbtime study run slices.toml --out disk/s --quiet";
    let Some(ran) = on_a_disk_of("300k", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["No space left"]);
    let files = left(&ran);
    assert!(files.contains(&"./s/journal.jsonl"), "{ran:?}");
    assert!(!files.iter().any(|file| file.contains(".partial-")), "{ran:?}");
    sandbox.wait_until_none_is_left();
}

#[test]
fn while_the_html_is_written_the_rest_is_kept() {
    let sandbox = Sandbox::new();
    let script = "dbtime run values1 --target null --transactions 500 --out disk/r; code=$?; \
                  dbtime report disk/r --text >/dev/null || exit 9; (exit $code)";
    let Some(ran) = on_a_disk_of("72k", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["cannot write disk/r/report.html", "No space left"]);
    let ran = ran.prints(&["values1 on null", "Record: disk/r\n"]);
    let wanted = ["latency.hlog", "run.json", "series.csv", "transactions.csv"];
    assert_eq!(left(&ran), wanted.map(|file| format!("./r/{file}")), "{ran:?}");
}

/// Records a trace of a server in a file `t.trace` on a disk of this size, while a client asks
/// `ask` what has a number again and again; checks what is told, and shows what is in the file.
/// `None` where no disk can be made or eBPF is not permitted.
fn recorded_on_a_disk_of(
    size: &str,
    server: &GivenServer,
    options: &str,
    ask: impl Fn(&mut crate::raw_client::RawClient, usize) + Sync,
) -> Option<(Ran, Ran)> {
    use std::sync::atomic::{AtomicBool, Ordering};

    let (sandbox, is_over) = (Sandbox::new(), AtomicBool::new(false));
    let line = format!(
        "dbtime trace -p {} --record disk/t.trace {options}; code=$?; \
         cp disk/t.trace kept.trace; (exit $code)",
        server.server.pid()
    );
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = crate::raw_client::RawClient::connect(server);
            (0..).take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(|number| {
                ask(&mut client, number);
            });
        });
        let ran = on_a_disk_of(size, &sandbox, &line);
        is_over.store(true, Ordering::Relaxed);
        ran
    });
    let ran = ran.filter(|ran| !ran.err.contains("CAP_BPF"))?;
    ran.exits(3);
    let ran = ran.stderr_has(&[
        "dbtime: recording in disk/t.trace: No space left",
        "free space",
        "can be read up to there",
    ]);
    assert_eq!(ran.err.matches("No space left").count(), 1, "{ran:?}");
    assert!(!ran.err.contains("requests recorded"), "{ran:?}");
    assert_eq!(left(&ran), ["./t.trace"]);
    let kept = sandbox.run("trace kept.trace --json");
    Some((ran, kept))
}

#[test]
fn while_recording_a_trace_the_ledger_is_printed() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    for (options, sums) in
        [("", ""), (" --summary", "By statement, the longest"), (" --histogram", "Distribution")]
    {
        let options = format!("--time 100s{options}");
        let traced = recorded_on_a_disk_of("256k", &server, &options, |client, number| {
            client.query("DO 1");
            // It has no need of a whole CPU until it is watched.
            if number.is_multiple_of(20) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let Some((ran, kept)) = traced else { return };
        let printed = printed(&ran);
        for wanted in [" started = ", "\ncost ", sums] {
            assert!(printed.contains(wanted), "{wanted} in {printed}");
        }
        assert!(!printed.contains("03:QUERY"), "single requests: {printed}");
        kept.exits(4);
        assert!(kept.out.lines().count() > 50, "{kept:?}");
    }
}

#[test]
fn where_a_trace_has_no_room_for_its_end_the_ledger_is_printed() {
    // Less than what is written at once comes before the end, and more than there is room for
    // with it.
    let server = GivenServer::start(Product::Mariadb, &[]);
    let traced = recorded_on_a_disk_of("4k", &server, "--time 1s --summary", |client, number| {
        client.query(&format!("DO 1{}", "+1".repeat(number % 9)));
        std::thread::sleep(Duration::from_millis(150));
    });
    let Some((ran, kept)) = traced else { return };
    let printed = printed(&ran);
    assert!(printed.contains(" started = ") && printed.contains("DO ?+?+?"), "{printed}");
    assert!(printed.contains("\ncost "), "{printed}");
    kept.exits(4);
    assert!(!kept.out.contains("ledger"), "{kept:?}");
}
