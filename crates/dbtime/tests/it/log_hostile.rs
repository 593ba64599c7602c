//! `log` over logs that are cut, have binary rubbish in them or lines without end: what cannot be
//! read is counted, and no number of threads makes a difference.

use crate::sandbox::{Sandbox, count};
use serde_json::Value;
use std::fs;

/// Records of a log, and how many files of one are made.
const RECORDS: usize = 40;
const FILES: usize = 200;

/// The length of a line that is too long for a record.
const LONG: usize = 20_000_000;

/// A format: how it is read, what begins a record, and one of number `i`.
struct LogForm {
    flags: &'static str,
    head: &'static [u8],
    record: fn(usize) -> String,
    /// Whether a line that is cut in its head belongs to the record before it.
    has_continuations: bool,
}

const FORMS: [LogForm; 7] = [
    LogForm { flags: "--read-as slow", head: b"# Time", record: slow, has_continuations: true },
    LogForm { flags: "--read-as general", head: b"2026", record: general, has_continuations: true },
    LogForm {
        flags: "--prefix '%m [%p] '",
        head: b"2026",
        record: postgres,
        has_continuations: false,
    },
    LogForm {
        flags: "--read-as postgres_csv",
        head: b"2026",
        record: csv,
        has_continuations: false,
    },
    LogForm {
        flags: "--read-as postgres_json",
        head: b"{",
        record: json,
        has_continuations: false,
    },
    LogForm {
        flags: "--access-format combined",
        head: b"10.0.0.7",
        record: access,
        has_continuations: false,
    },
    LogForm { flags: "--read-as json_lines", head: b"{", record: span, has_continuations: false },
];

fn slow(i: usize) -> String {
    format!(
        "# Time: 2026-11-30T10:00:{i:02}.000000Z\n\
         # User@Host: shop[shop] @ web1 [10.0.0.7]  Id: 15\n\
         # Query_time: 0.500000  Lock_time: 0.400000 Rows_sent: 1  Rows_examined: 900\n\
         SET timestamp={};\nSELECT c FROM t1 WHERE id = {i};\n",
        1_796_032_800 + i
    )
}

fn general(i: usize) -> String {
    format!("2026-11-30T10:00:{i:02}.000000Z\t   15 Query\tSELECT c FROM t1 WHERE id = {i}\n")
}

fn postgres(i: usize) -> String {
    format!(
        "2026-11-30 10:00:{i:02}.000 UTC [12] LOG:  duration: 1.500 ms  statement: SELECT {i}\n"
    )
}

fn csv(i: usize) -> String {
    format!(
        "2026-11-30 10:00:{i:02}.000 UTC,\"postgres\",\"d\",12,\"127.0.0.1:5\",6a.c,{i},\
         \"SELECT\",2026-11-30 10:00:00 UTC,3/2,0,LOG,00000,\
         \"duration: 1.500 ms  statement: SELECT {i}\",,,,,,,,,\"app\",\"client backend\",,0\n"
    )
}

fn json(i: usize) -> String {
    format!(
        "{{\"timestamp\":\"2026-11-30 10:00:{i:02}.000 UTC\",\"user\":\"postgres\",\
         \"dbname\":\"d\",\"pid\":12,\"session_id\":\"6a.c\",\"line_num\":{i},\
         \"error_severity\":\"LOG\",\"message\":\"duration: 1.500 ms  statement: SELECT {i}\"}}\n"
    )
}

fn access(i: usize) -> String {
    format!(
        "10.0.0.7 - - [30/Nov/2026:10:00:{i:02} +0000] \"GET /item/{i} HTTP/1.1\" 200 512 \"-\" \
         \"curl/8\"\n"
    )
}

fn span(i: usize) -> String {
    format!(
        "{{\"time\":\"2026-11-30T10:00:{i:02}.000Z\",\"method\":\"GET\",\"path\":\"/item/{i}\",\
         \"status\":200,\"bytes\":512,\"duration_ms\":1.5}}\n"
    )
}

/// Numbers that are the same in every run (SplitMix64).
struct Places(u64);

impl Places {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

impl LogForm {
    fn whole(&self) -> Vec<u8> {
        (0..RECORDS).map(self.record).collect::<String>().into_bytes()
    }

    /// The records that begin in a text, a cut one included.
    fn begun(&self, text: &[u8]) -> u64 {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let is_head = |line: &&[u8]| line.starts_with(self.head) || self.head.starts_with(line);
        lines.filter(is_head).count() as u64
    }

    /// The digest of files: one thread and two make the same, to the byte but for the command.
    fn digest(&self, sandbox: &Sandbox, files: &str) -> Value {
        let of = |threads: u8| {
            let line = format!("log {files} {} --threads {threads} --json", self.flags);
            let ran = sandbox.run(&line).fine();
            let mut digest = ran.json();
            digest["command"] = Value::Null;
            (digest.to_string(), digest)
        };
        let ((one, digest), (two, _)) = (of(1), of(2));
        assert!(one == two, "{}: {files}: threads make a difference", self.flags);
        digest
    }
}

/// Records and lines that could not be read, together.
fn accounted(input: &Value) -> u64 {
    count(input, "/records") + unread(input).iter().map(|lines| count(lines, "/count")).sum::<u64>()
}

fn unread(input: &Value) -> &[Value] {
    input["unread"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Writes the files of one form, and hands each to `check` with its part of the digest.
fn each(form: &LogForm, texts: &[Vec<u8>], check: impl Fn(&Value, &[u8])) {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..texts.len()).map(|index| format!("{index}.log")).collect();
    for (name, text) in names.iter().zip(texts) {
        fs::write(sandbox.path(name), text).expect("a log");
    }
    let digest = form.digest(&sandbox, &names.join(" "));
    let inputs = digest["inputs"].as_array().expect("inputs");
    assert_eq!(inputs.len(), texts.len(), "{}", form.flags);
    for input in inputs {
        let path = input["path"].as_str().expect("a path");
        let index = names.iter().position(|name| name == path).expect("one of them");
        assert_eq!(count(input, "/bytes"), texts[index].len() as u64, "{}", form.flags);
        check(input, &texts[index]);
    }
}

#[test]
fn a_log_that_is_cut_is_read_up_to_there() {
    for form in &FORMS {
        let (whole, mut places) = (form.whole(), Places(45));
        // Not in the first record, by which the format is known.
        let first = (form.record)(0).len() + 1;
        let cut = |_: usize| whole[..first + places.below(whole.len() - first)].to_vec();
        let texts: Vec<Vec<u8>> = (0..FILES).map(cut).collect();
        each(form, &texts, |input, text| {
            let (begun, accounted) = (form.begun(text), accounted(input));
            let fewest = begun - u64::from(form.has_continuations);
            let what = format!("{}: {input}, {begun} begun", form.flags);
            assert!((fewest..=begun).contains(&accounted), "{what}");
            assert!(count(input, "/records") + 2 >= begun, "{what}");
        });
    }
}

#[test]
fn rubbish_costs_the_records_that_it_lies_in() {
    for form in &FORMS {
        let (whole, mut places) = (form.whole(), Places(46));
        let first = (form.record)(0).len();
        let mut spoil = |_: usize| {
            let at = first + places.below(whole.len() - first);
            // Neither ends of lines nor quotes, which would belong together with others.
            let rubbish: Vec<u8> = (0..=places.below(300))
                .map(|_| places.below(256) as u8)
                .filter(|byte| !matches!(byte, b'\n' | b'"'))
                .collect();
            [&whole[..at], &rubbish[..], &whole[at..]].concat()
        };
        let texts: Vec<Vec<u8>> = (0..FILES).map(&mut spoil).collect();
        each(form, &texts, |input, _| {
            // It may spoil the end of one and the beginning of the next.
            let (records, all) = (count(input, "/records"), accounted(input));
            let most = RECORDS as u64;
            assert!((most - 2..=most + 1).contains(&all), "{}: {input}", form.flags);
            assert!((most - 2..=most).contains(&records), "{}: {input}", form.flags);
        });
    }
}

#[test]
fn a_line_without_end_is_counted_and_those_behind_it_are_read() {
    for form in &FORMS {
        let mut long = (form.record)(RECORDS);
        long.insert_str(long.len() - 14, &"x".repeat(LONG));
        let behind = (form.record)(RECORDS + 1);
        let text = [form.whole(), long.into_bytes(), behind.into_bytes()].concat();
        each(form, &[text], |input, _| {
            assert_eq!(count(input, "/records"), RECORDS as u64 + 1, "{}", form.flags);
            let too_long = unread(input).iter().map(|lines| (&lines["why"], &lines["count"]));
            let too_long: Vec<String> = too_long.map(|(why, n)| format!("{why} {n}")).collect();
            assert_eq!(too_long, ["\"too_long\" 1"], "{}", form.flags);
        });
    }
}
