//! `log`: logs of each kind, what it refuses, what it writes, and two digests compared.

use crate::sandbox::{Ran, Sandbox, count, number};
use crate::stdout::{goes_unread, tells_of_a_full_disk};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;

/// Three selects that take a second together, and an update that takes half of one.
const SLOW: &str = "\
# Time: 2026-11-30T10:00:01.000000Z
# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    15
# Query_time: 0.500000  Lock_time: 0.400000 Rows_sent: 1  Rows_examined: 900
use orders;
SET timestamp=1796032800;
SELECT c FROM t1 WHERE id = 4711;
# Time: 2026-11-30T10:00:02.000000Z
# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    15
# Query_time: 0.250000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 900
SET timestamp=1796032801;
SELECT c FROM t1 WHERE id = 4712;
# Time: 2026-11-30T10:00:03.000000Z
# User@Host: admin[admin] @ web2 [10.0.0.8]  Id:    16
# Query_time: 0.500000  Lock_time: 0.100000 Rows_sent: 0  Rows_examined: 1
SET timestamp=1796032802;
UPDATE stock SET n = n - 1 WHERE id = 7;
# Time: 2026-11-30T10:00:04.000000Z
# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    15
# Query_time: 0.250000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 900
SET timestamp=1796032803;
SELECT c FROM t1 WHERE id = 4713;
";

/// Two more statements.
const MORE: &str = "\
# Time: 2026-11-30T10:00:05.000000Z
# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    15
# Query_time: 2.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 900
SET timestamp=1796032803;
SELECT c FROM t1 WHERE id = 4714;
# Time: 2026-11-30T10:00:06.000000Z
# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    15
# Query_time: 0.100000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1796032805;
DELETE FROM basket WHERE id = 9;
";

const GENERAL: &str = "\
2026-11-30T10:00:01.000000Z\t   15 Query\tSELECT c FROM t1 WHERE id = 4711
2026-11-30T10:00:02.000000Z\t   15 Query\tSELECT c FROM t1 WHERE id = 4712
";

const POSTGRES: &str = "\
2026-11-30 10:00:01.000 UTC [12] LOG:  duration: 1.500 ms  statement: SELECT 4711
2026-11-30 10:00:02.000 UTC [12] LOG:  duration: 2.500 ms  statement: SELECT 4712
";

const ACCESS: &str = "\
10.0.0.7 - - [30/Nov/2026:10:00:01 +0000] \"GET /item/4711 HTTP/1.1\" 200 512 \"-\" \"curl/8\"
10.0.0.8 - - [30/Nov/2026:10:00:02 +0000] \"GET /item/4712 HTTP/1.1\" 404 128 \"-\" \"curl/8\"
";

const JSON: &str = "\
{\"ts\":\"2026-11-30T10:00:01Z\",\"method\":\"GET\",\"uri\":\"/item/4711\",\"code\":200,\"took\":1.5}
{\"ts\":\"2026-11-30T10:00:02Z\",\"method\":\"GET\",\"uri\":\"/item/4712\",\"code\":200,\"took\":2.5}
";

/// A sandbox with a slow log.
fn logged() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("slow.log", SLOW);
    sandbox
}

/// What `log --json` prints.
fn digest(sandbox: &Sandbox, line: &str) -> Value {
    sandbox.run(&format!("log {line} --json")).fine().json()
}

#[test]
fn a_slow_log_is_summed_up_without_literals() {
    let sandbox = logged();
    let ran = sandbox.run("log slow.log").fine().prints(&[
        "2 classes of 4 statements that took 1.50 s; one class took 67 % of the time\n",
        "slow.log (MySQL slow log): 4 records",
        "1. SELECT c FROM t1 WHERE id = ?",
        "2. UPDATE stock SET n = n - ? WHERE id = ?",
    ]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    assert!(ran.out.lines().count() <= 45, "{ran:?}");
    let details = sandbox.run("log slow.log --details").fine();
    let parts = ["p99.9 ", "rows_examined", "shop (3)", "lock ", "slow.log at byte 0"];
    let details = details.prints(&parts);
    assert!(!details.out.contains("4711"), "{details:?}");
    sandbox.run("log slow.log --details --raw-sql").fine().prints(&["4711"]);
    let digest = digest(&sandbox, "slow.log");
    assert_eq!(count(&digest, "/total/count"), 4);
    assert!((number(&digest, "/total/times/total_us") - 1.5e6).abs() < 1.0, "{digest:#}");
    assert!((number(&digest, "/classes/0/parts_us/lock") - 0.4e6).abs() < 1.0, "{digest:#}");
    assert!(!digest.to_string().contains("4711"), "{digest:#}");
}

#[test]
fn logs_of_other_kinds_are_read_too() {
    let sandbox = Sandbox::new();
    for (text, flags, kind) in [
        (GENERAL, "--read-as general", "general"),
        (POSTGRES, "", "postgres"),
        (POSTGRES, "--prefix '%m [%p] '", "postgres"),
        (ACCESS, "", "access"),
        (ACCESS, "--access-format combined", "access"),
        (JSON, "", "json_lines"),
        (JSON, "--json-fields time=ts,duration=took:ms,path=uri,status=code", "json_lines"),
    ] {
        sandbox.write("it.log", text);
        let digest = digest(&sandbox, &format!("it.log {flags}"));
        assert_eq!(digest["inputs"][0]["kind"], kind, "{flags}: {digest:#}");
        assert_eq!(count(&digest, "/total/count"), 2, "{flags}: {digest:#}");
        assert_eq!(digest["classes"].as_array().expect("a list").len(), 1, "{flags}: {digest:#}");
        sandbox.run(&format!("log it.log --details {flags}")).fine().prints(&["1 class of 2 "]);
    }
    sandbox.write("it.log", ACCESS);
    let digest = digest(&sandbox, "it.log --route '/item/=item'");
    assert!(digest["classes"][0]["text"].as_str().is_some_and(|text| text.contains("item")));
    assert_eq!(count(&digest, "/total/errors"), 1, "{digest:#}");
}

#[test]
fn standard_input_and_several_files_are_read() {
    let sandbox = logged();
    sandbox.write("more.log", MORE);
    let stdin = File::open(sandbox.path("slow.log")).expect("a log");
    let output = sandbox.command("log -").stdin(stdin).output().expect("dbtime starts");
    Ran::new("log -", &output).fine().prints(&["2 classes of 4 statements"]);
    let both = digest(&sandbox, "more.log slow.log");
    assert_eq!(count(&both, "/total/count"), 6);
    assert_eq!(both["inputs"][0]["path"], "slow.log", "by their times: {both:#}");
}

#[test]
fn times_order_and_groups_are_those_that_were_named() {
    let sandbox = logged();
    let of = |flags: &str| digest(&sandbox, &format!("slow.log {flags}"));
    assert_eq!(count(&of("--since '2026-11-30 10:00:02.5'"), "/total/count"), 2);
    assert_eq!(count(&of("--until 2026-11-30T10:00:02.5Z"), "/total/count"), 2);
    assert_eq!(count(&of("--sample-rate 10%"), "/total/count"), 40);
    let users = of("--group-by user");
    assert_eq!(users["classes"].as_array().expect("a list").len(), 2, "{users:#}");
    let limited = sandbox.run("log slow.log --order-by max --limit 1").fine();
    limited.prints(&["Classes by longest record", "1 further class with "]);
    sandbox.run("log slow.log --sample-rate 10%").fine().prints(&["stands for 10"]);
}

#[test]
fn a_duration_back_from_now_is_by_the_clock_of_the_log() {
    let sandbox = Sandbox::new();
    let behind = jiff::SignedDuration::from_secs(5 * 3600);
    let ended = jiff::Timestamp::now().checked_sub(behind).expect("a time");
    let time = ended.strftime("%y%m%d %H:%M:%S");
    let record = "# User@Host: a[a] @ b []\n# Query_time: 0.5  Lock_time: 0.0\nselect 1;\n";
    sandbox.write("slow.log", &format!("# Time: {time}\n{record}"));
    let counted = |zone: &str| {
        let mut command = sandbox.command("log slow.log --since 1h --json");
        let output = command.env("TZ", zone).output().expect("dbtime starts");
        count(&Ran::new("log slow.log", &output).fine().json(), "/total/count")
    };
    assert_eq!(["EST5", "UTC0"].map(counted), [1, 0]);
}

#[test]
fn a_digest_does_not_depend_on_the_number_of_threads() {
    let sandbox = logged();
    sandbox.write("slow.log", &SLOW.repeat(500));
    let of = |threads: &str| {
        let mut digest = digest(&sandbox, &format!("slow.log --threads {threads}"));
        digest["command"] = Value::Null;
        digest
    };
    let one = of("1");
    assert_eq!(count(&one, "/total/count"), 2000);
    assert!(one == of("2") && one == of("7"));
}

#[test]
fn what_was_read_before_is_not_read_again() {
    let sandbox = logged();
    let next = || count(&digest(&sandbox, "slow.log --since-last state"), "/total/count");
    let first = next();
    assert!(first > 0);
    sandbox.write("slow.log", &[SLOW, MORE].concat());
    assert_eq!(first + next(), 6);
    assert_eq!(next(), 0);
}

#[test]
fn lines_that_cannot_be_read_are_counted_and_listed() {
    let sandbox = Sandbox::new();
    let good = ACCESS.repeat(20);
    sandbox.write("access.log", &format!("{good}no request\n{good}"));
    sandbox.run("log access.log").fine().prints(&["1 line could not be read", "--show-bad"]);
    let place = format!("access.log at byte {}: 1 line", good.len());
    sandbox.run("log access.log --show-bad").fine().prints(&[&place]);
}

#[test]
fn a_log_of_another_format_is_an_error_and_an_empty_one_is_none() {
    let sandbox = logged();
    sandbox.write("prose.txt", "It was a dark and stormy night.\nThe log was silent.\n");
    for (line, shown) in [
        ("prose.txt --read-as slow", "No record could be read in 2 lines"),
        ("prose.txt slow.log --access-format common", "2 classes of 4 statements"),
    ] {
        let ran = sandbox.run(&format!("log {line}")).with(3, &[shown]);
        ran.stderr_has(&["prose.txt: not one line has the form", "--read-as (", "--prefix"]);
    }
    sandbox.write("empty.log", "");
    sandbox.run("log empty.log --read-as slow").fine().prints(&["No record was read"]);
}

#[test]
fn reports_are_written_in_all_forms() {
    let sandbox = logged();
    sandbox.run("log slow.log --html page.html").fine().prints(&["Report: page.html\n"]);
    let page = fs::read_to_string(sandbox.path("page.html")).expect("a page");
    assert!(page.contains("SELECT c FROM t1") && page.contains("<svg"), "{page}");
    sandbox.run("log slow.log --markdown").fine().prints(&["## 2 classes of 4 statements"]);
    let ran = sandbox.run("log slow.log --parquet rows.parquet").fine();
    ran.prints(&["2 classes of 4", "Classes: rows.parquet\n"]);
    let rows = File::open(sandbox.path("rows.parquet")).expect("a file");
    let rows = SerializedFileReader::new(rows).expect("Parquet");
    assert_eq!(rows.metadata().file_metadata().num_rows(), 2);
    sandbox.run("log slow.log --format percona").fine().prints(&["# Files: slow.log\n"]);
}

#[test]
fn two_digests_are_compared() {
    let sandbox = logged();
    sandbox.write("more.log", &[SLOW, MORE].concat());
    for (log, json) in [("slow.log", "old.json"), ("more.log", "new.json")] {
        sandbox.write(json, &digest(&sandbox, log).to_string());
    }
    sandbox.run("compare old.json new.json").fine().prints(&[
        " of time per hour (",
        "1 new, 0 gone",
        "DELETE FROM basket WHERE id = ?",
    ]);
    let json = sandbox.run("compare old.json new.json --json").fine().json();
    assert_eq!(json["classes"].as_array().expect("a list").len(), 3, "{json:#}");
    sandbox.run("compare old.json new.json --html c.html").fine().prints(&["Report: c.html\n"]);
    sandbox.run("compare old.json new.json --gate").refused(2, &["do not have: leave them out"]);
    sandbox.run("compare old.json slow.log").refused(2, &["slow.log is none"]);
    sandbox.write("users.json", &digest(&sandbox, "slow.log --group-by user").to_string());
    let causes = ["old.json has classes of fingerprint, and users.json of user", "--group-by"];
    sandbox.run("compare old.json users.json").refused(2, &causes);
    let hostile = digest(&sandbox, "slow.log").to_string();
    let hostile = hostile.replacen("\"fingerprint\"", &format!("\"{}\"", "x".repeat(9999)), 1);
    sandbox.write("hostile.json", &hostile);
    let ran = sandbox.run("compare old.json hostile.json");
    assert!(ran.err.chars().count() < 600, "{ran:?}");
    let causes = ["hostile.json is no whole digest of logs: unknown variant", "more bytes read"];
    ran.refused(3, &causes);
    sandbox.run("compare old.json").refused(2, &["compared in pairs"]);
}

#[test]
fn what_cannot_be_digested_is_refused() {
    let sandbox = logged();
    sandbox.write("prose.txt", "It was a dark and stormy night.\nThe log was silent.\n");
    for (line, code, cause) in [
        ("log", 2, "<FILE>"),
        ("log absent.log", 3, "cannot open absent.log"),
        ("log .", 3, "is a folder"),
        ("log prose.txt", 3, "--read-as"),
        ("log - -", 2, "more than once"),
        ("log slow.log --read-as mysql", 2, "slow, general"),
        ("log slow.log --read-as slow --prefix '%m '", 2, "--prefix"),
        ("log prose.txt --json-fields path", 2, "--json-fields"),
        ("log slow.log --route '[=x'", 2, "--route"),
        ("log slow.log --format percona --group-by user", 2, "--group-by percona"),
        ("log slow.log --format percona --json", 2, "--json"),
        ("log slow.log --since tomorrow", 2, "such as 1h"),
        ("log slow.log --since 2026-11-30 --until 2026-11-29", 2, "exchange them"),
        ("log slow.log --html slow.log", 2, "reads: name another place"),
        ("log slow.log --since-last slow.log", 2, "reads: name another place"),
        ("log slow.log --parquet /dev/stdout", 2, "name a file"),
        ("log slow.log --html no/page.html", 3, "existing folder"),
        ("log slow.log --route item", 2, "REGEX=NAME"),
        ("log slow.log --sample-rate 2", 2, "such as 0.1"),
    ] {
        sandbox.run(line).refused(code, &[cause]);
    }
    assert_eq!(fs::read_to_string(sandbox.path("slow.log")).expect("a log"), SLOW);
}

#[test]
fn a_full_disk_is_an_error_and_a_reader_that_has_gone_is_none() {
    let sandbox = logged();
    for line in ["log slow.log", "log slow.log --json", "log slow.log --format percona"] {
        tells_of_a_full_disk(&sandbox, line);
        goes_unread(&sandbox, line);
    }
}

/// What the document shows is printed, but for what it leaves out with `…`.
#[test]
fn the_output_in_the_document_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/log.md");
    let text = fs::read_to_string(path).expect("a document");
    let blocks: Vec<&str> = text.split("```text\n").skip(1).collect();
    let block = |index: usize| blocks[index].split("```").next().expect("its text");
    let sandbox = Sandbox::new();
    sandbox.write("shop.log", block(0));
    let shown = block(1).strip_prefix("$ dbtime log shop.log\n").expect("the command");
    let ran = sandbox.run("log shop.log").fine();
    for line in shown.lines().filter(|line| !line.contains('…')) {
        assert!(ran.out.lines().any(|printed| printed == line), "{line:?} is not in {ran:?}");
    }
}
