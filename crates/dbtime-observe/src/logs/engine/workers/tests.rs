//! Neither the size of blocks nor the number of workers changes what is read.

use super::*;
use crate::logs::JoinedRecord;
use crate::logs::engine::test_lines::TestLines;

/// Everything that was handed on.
#[derive(Debug, Default, PartialEq, Eq)]
struct TakenRecords {
    records: Vec<(u64, String)>,
    classes: Vec<String>,
    unread: Vec<(UnreadReason, u64)>,
    ends: usize,
}

impl RecordSink for TakenRecords {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        let text = String::from_utf8_lossy(record.text).into_owned();
        self.records.push((record.offset, text));
        self.classes.push(record.class.to_owned());
    }

    fn count_event(&mut self, _: &str, _: Option<i64>) {
        self.ends += 1;
    }

    fn count_unread(&mut self, why: UnreadReason, offset: u64) {
        self.unread.push((why, offset));
    }
}

/// Names a record by its length, so that its class shows which text was named.
struct LengthNamer;

impl ClassNamer for LengthNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        *out = text.len().to_string();
    }
}

/// The longest record of these tests.
const LONGEST: usize = 64;

fn plan(block: usize, workers: usize) -> BlockPlan<'static> {
    BlockPlan {
        reader: &TestLines,
        namers: (0..workers).map(|_| -> Box<dyn ClassNamer> { Box::new(LengthNamer) }).collect(),
        joiner: TestLines.joiner(),
        sizes: BlockSizes { block, longest: LONGEST },
        leaves_open_end: false,
        header: Vec::new(),
    }
}

fn read(text: &[u8], plan: BlockPlan<'_>) -> (TakenRecords, ReadEnd) {
    let mut sink = TakenRecords::default();
    let mut go_on = |_: u64| ControlFlow::Continue(());
    let read = read_blocks(text, 1000, plan, &mut sink, &mut go_on);
    let (end, mut joiner) = read.expect("in memory");
    joiner.end(&mut sink);
    assert_eq!(sink.ends, 1);
    (sink, end)
}

/// What is read with any size of blocks and any number of workers.
fn read_anyhow(text: &[u8]) -> TakenRecords {
    let (expected, end) = read(text, plan(LONGEST, 1));
    assert_eq!((end.offset, end.is_stopped), (1000 + text.len() as u64, false));
    for block in 1..=LONGEST {
        for workers in [1, 2, 7] {
            let found = read(text, plan(block, workers));
            let shown = String::from_utf8_lossy(text);
            assert_eq!(found.0, expected, "{block} bytes, {workers} workers: {shown}");
            assert_eq!(found.1, end, "{block} bytes, {workers} workers: {shown}");
        }
    }
    expected
}

/// The records of a text, by their offsets in it.
fn records(text: &str, expected: &[(usize, &str)]) {
    let found = read_anyhow(text.as_bytes()).records;
    let expected: Vec<_> =
        expected.iter().map(|(at, text)| (1000 + *at as u64, (*text).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_record_is_read_once_whatever_the_blocks() {
    records("", &[]);
    records("R a\n", &[(0, "R a\n")]);
    records("R a\nb\nR c\n\nR d\n", &[(0, "R a\nb\n"), (6, "R c\n\n"), (11, "R d\n")]);
    records("R a\\\nR b\nR c\n", &[(0, "R a\\\nR b\n"), (9, "R c\n")]);
}

#[test]
fn whether_any_line_has_the_form_is_known() {
    for (text, has_form) in [("rubbish\nmore\n", false), ("", false), ("rubbish\nR a\n", true)] {
        for block in [1, LONGEST] {
            assert_eq!(read(text.as_bytes(), plan(block, 2)).1.has_form, has_form, "{text}");
        }
    }
}

#[test]
fn many_records_keep_their_order_and_classes() {
    let lines = |number: usize| format!("R {number}{}\n", "\nx".repeat(number % 7));
    let text: String = (0..200).map(lines).collect();
    let found = read_anyhow(text.as_bytes());
    assert_eq!(found.records.len(), 200);
    for (number, (_, record)) in found.records.iter().enumerate() {
        assert_eq!((record, &found.classes[number]), (&lines(number), &record.len().to_string()));
    }
}

#[test]
fn what_cannot_be_read_is_counted_where_it_is() {
    let found = read_anyhow(b"rubbish\nmore\nR a\nR ?\nR b\n");
    assert_eq!(found.unread, [(UnreadReason::Form, 1000), (UnreadReason::Form, 1017)]);
    assert_eq!(found.records.len(), 2);
}

#[test]
fn a_record_that_is_too_long_is_counted_once() {
    let (line, lines) = ("x".repeat(300), "x\n".repeat(150));
    for long in [format!("R {line}\n"), format!("R \n{lines}"), format!("R y\n{line}\n{lines}")] {
        let text = format!("R a\n{long}R b\n{long}{long}R c\n");
        let found = read_anyhow(text.as_bytes());
        let texts: Vec<&str> = found.records.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["R a\n", "R b\n", "R c\n"], "{long}");
        let second = 1000 + 4 + long.len() as u64 + 4;
        let at = [1004, second, second + long.len() as u64];
        assert_eq!(found.unread, at.map(|at| (UnreadReason::TooLong, at)), "{long}");
    }
}

#[test]
fn the_longest_record_is_read_and_one_byte_more_is_not() {
    for (length, expected) in [(LONGEST, 2), (LONGEST + 1, 1)] {
        let text = format!("R {}\nR b\n", "x".repeat(length - 3));
        let found = read_anyhow(text.as_bytes());
        assert_eq!((found.records.len(), found.unread.len()), (expected, 2 - expected));
    }
}

#[test]
fn a_log_may_end_within_a_record_that_is_too_long() {
    for end in ["", "\n", "\nx", "\nR"] {
        let text = format!("R a\nR {}{end}", "x".repeat(700));
        let found = read_anyhow(text.as_bytes());
        assert_eq!(found.unread, [(UnreadReason::TooLong, 1004)], "{end:?}");
        let last = usize::from(end.ends_with('R'));
        assert_eq!(found.records.len(), 1 + last, "{end:?}");
    }
}

#[test]
fn a_last_line_without_its_end_counts_if_it_reads_as_a_whole() {
    let found = read_anyhow(b"R a\nR b");
    assert_eq!((found.records.len(), found.unread.len()), (2, 0));
    let found = read_anyhow(b"R ?\nR ?");
    let unread = [(UnreadReason::Form, 1000), (UnreadReason::Incomplete, 1004)];
    assert_eq!((found.records.len(), found.unread.as_slice()), (0, unread.as_slice()));
}

#[test]
fn a_record_that_is_being_written_is_left_for_the_next_time() {
    for (text, left, count) in [("R a\nR b\n", 8, 2), ("R a\nR b", 4, 1), ("R a\nR b\nc", 4, 1)] {
        for block in [1, LONGEST] {
            let plan = BlockPlan { leaves_open_end: true, ..plan(block, 2) };
            let (found, end) = read(text.as_bytes(), plan);
            assert_eq!((end.offset, found.records.len()), (1000 + left, count), "{text}");
            assert!(found.unread.is_empty(), "{text}");
        }
    }
}

#[test]
fn a_block_has_a_bounded_number_of_lines() {
    let text = "R\n".repeat(200_000);
    let sizes = BlockSizes { block: text.len(), longest: text.len() };
    let mut divider = BlockDivider::new(text.as_bytes(), 0, &TestLines, sizes);
    let (mut lines, mut most) = (0usize, 0usize);
    while let Some(block) = divider.next(Vec::new()).expect("in memory") {
        assert_eq!(block.offset, lines as u64 * 2);
        (lines, most) = (lines + block.bytes.len() / 2, most.max(block.bytes.len() / 2));
    }
    assert_eq!((lines, most), (200_000, 1 << 16));
    let one = format!("R {}R b\n", "\n".repeat(100_000));
    let sizes = BlockSizes { block: 2 * one.len(), longest: 2 * one.len() };
    let mut divider = BlockDivider::new(one.as_bytes(), 0, &TestLines, sizes);
    let first = divider.next(Vec::new()).expect("in memory").expect("a block");
    assert_eq!(first.bytes.len(), one.len() - 4, "a record is not cut");
}

#[test]
fn reading_stops_behind_a_block() {
    for workers in [1, 2] {
        let mut sink = TakenRecords::default();
        let mut stop = |offset: u64| {
            assert_eq!(offset, 1004);
            ControlFlow::Break(())
        };
        let text = &b"R a\nR b\nR c\n"[..];
        let read = read_blocks(text, 1000, plan(5, workers), &mut sink, &mut stop);
        let (end, mut joiner) = read.expect("in memory");
        joiner.end(&mut sink);
        let expected = ReadEnd { offset: 1004, is_stopped: true, has_form: true };
        assert_eq!(end, expected);
        assert_eq!((sink.records.len(), sink.ends), (1, 1));
    }
}

#[test]
#[should_panic(expected = "a reader that panics")]
fn the_panic_of_a_worker_is_the_callers() {
    read(b"R a\nR b\nR panic\nR c\n", plan(4, 2));
}
