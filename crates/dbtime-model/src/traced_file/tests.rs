//! Tests of recordings.

use super::*;
use crate::traced::{Blocker, ErrorCode, Preemptor, QueryCache, RequestOutcome, TextState};
use crate::traced_files::{FileName, FileWait};
use crate::traced_totals::{
    Preemption, ReplacedStatements, StatementName, StatementTotals, TraceTotals,
};
use crate::{Part, Parts, ServerQueueParts, WireProtocol};
use proptest::prelude::*;

fn begin() -> TraceBegin {
    TraceBegin {
        version: VERSION,
        since: MonoNanos(1_234_567_890_123_456),
        clock: "2026-11-22 03:00:00".to_owned(),
        clock_id: Some("3f".to_owned()),
        servers: vec!["mariadbd, process 1".to_owned()],
        raw_sql: true,
        step: Nanos::ZERO,
    }
}

fn request(text: &str, nanos: u64) -> TracedRequest {
    TracedRequest {
        connection: 1,
        login: None,
        executes: 0,
        statements: Vec::new(),
        process: 2,
        thread: 3,
        start: MonoNanos(nanos),
        first_sent: Some(MonoNanos(nanos + 1)),
        end: MonoNanos(nanos + 2),
        protocol: WireProtocol::Postgres,
        command: b'Q',
        length: 9,
        text: text.into(),
        text_state: TextState::Whole,
        sent_bytes: 5,
        writes: 1,
        rows: None,
        error: Some(ErrorCode::SqlState("42601".to_owned())),
        outcome: RequestOutcome::Ended,
        server_queue: Some(Nanos(3)),
        queue_parts: Some(ServerQueueParts { runq_woken: Nanos(2), ..Default::default() }),
        parts: Parts::traced(|index| Nanos(u64::from(index == 3))),
        other_call: None,
        blocker: Some(Blocker {
            thread: Some(4),
            lock: Some("tuple".into()),
            statement: Some("COMMIT".into()),
            length: Nanos(1),
            ..Blocker::default()
        }),
        preemptors: vec![preemptor(5, "sh", 7), preemptor(6, "ls", 3)],
        files: vec![mapped()],
        cache: QueryCache::Hit,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

fn preemptor(thread: u32, name: &str, length: u64) -> Preemptor {
    Preemptor { thread, name: name.to_owned(), length: Nanos(length) }
}

fn mapped() -> FileWait {
    let part = Part::IoRead;
    FileWait { file: FileName::Mapped, part, count: 1, length: Nanos(5) }
}

fn end() -> TraceEnd {
    let (responses, files) = ([0, 1].into_iter().collect(), vec![mapped()]);
    let parts = Parts::traced(|_| Nanos::ZERO);
    let totals = TraceTotals { count: 1, parts, responses, files, ..TraceTotals::default() };
    TraceEnd {
        length: Nanos(99),
        added_up: None,
        clock: "2026-11-22 03:00:01".to_owned(),
        cost: Some(TraceCost { probe_hits: 7, ..TraceCost::default() }),
        ledger: TraceLedger { started: 1, ended: 1, streamed: 1, ..TraceLedger::default() },
        totals: TracedTotals {
            statements: vec![StatementTotals {
                was_preempted: true,
                totals,
                ..StatementTotals::nothing_of(StatementName::Text("SELECT".into()))
            }],
            lock_waits: Vec::new(),
            preemptors: vec![Preemption { name: None, count: 1, length: Nanos(5) }],
            replaced: Some(ReplacedStatements { rows: 1, most_calls: 2, most_time: Nanos(3) }),
        },
    }
}

/// A recording, with the places where it may end without being cut in two.
struct Written {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

fn blocks(requests: &[TracedRequest]) -> Written {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::begin(&mut bytes, &begin()).expect("memory");
    writer.requests(&mut requests.to_vec()).expect("memory");
    writer.end(&end()).expect("memory");
    let heading = bytes.iter().position(|byte| *byte == b'\n').expect("a line");
    let mut ends = vec![heading + 1];
    while let Some(length) = bytes[ends[ends.len() - 1]..].first_chunk() {
        ends.push(ends[ends.len() - 1] + 9 + u32::from_le_bytes(*length) as usize);
    }
    Written { bytes, ends }
}

fn lines(requests: &[TracedRequest]) -> Written {
    let mut writer = TraceLineWriter::begin(Vec::new(), &begin()).expect("memory");
    let mut ends = vec![writer.get_mut().len()];
    for request in requests {
        writer.request(request, "QUERY").expect("memory");
        ends.push(writer.get_mut().len());
    }
    writer.end(&end()).expect("memory");
    let bytes = std::mem::take(writer.get_mut());
    ends.push(bytes.len());
    Written { bytes, ends }
}

/// What is behind the beginning, up to its end or a fault, and whether it was cut.
fn read(bytes: &[u8]) -> Result<(Vec<RecordedPart>, bool), TraceFileError> {
    let (_, mut reader) = TraceReader::begin(bytes)?;
    let mut parts = Vec::new();
    while let Some(part) = reader.next()? {
        parts.push(part);
    }
    Ok((parts, reader.is_cut()))
}

#[test]
fn what_is_no_recording_says_so() {
    let refused = |bytes: &[u8]| read(bytes).expect_err("none").to_string();
    assert!(refused(b"").contains("no recording"));
    assert!(refused(b"SELECT 1\n").contains("no recording"));
    assert!(refused(b"{\"begin\":{\"version\":9}}\n").contains("format 9"));
    let Written { bytes, ends } = lines(&[request("SELECT", 5)]);
    assert!(refused(&[&bytes[..ends[0]], b"{}\n"].concat()).starts_with("line 2: "));
    let Written { mut bytes, ends } = blocks(&[request("SELECT", 5)]);
    bytes[ends[0] + 20] ^= 1;
    assert!(refused(&bytes).starts_with("block 1: "));
}

#[test]
fn times_that_no_clock_shows_are_refused_in_any_form() {
    let old = TracedRequest { end: MonoNanos(1 << 63), ..request("SELECT", 5) };
    let blocker = Blocker { length: Nanos(u64::MAX), ..Blocker::default() };
    let long_blocked = TracedRequest { blocker: Some(blocker), ..request("SELECT", 5) };
    for form in [blocks, lines] {
        let error = read(&form(std::slice::from_ref(&old)).bytes).expect_err("refused");
        assert!(error.to_string().contains("more than 73 years"), "{error}");
        read(&form(std::slice::from_ref(&long_blocked)).bytes).expect("nothing counts by it");
    }
    let text = String::from_utf8(lines(&[]).bytes).expect("JSON");
    let text = text.replace("1234567890123.456", "9223372036854775808");
    let error = read(text.as_bytes()).expect_err("refused").to_string();
    assert!(error.starts_with("line 1: it has a time of more than 73 years"), "{error}");
}

#[test]
fn a_line_without_an_end_is_not_kept_for_ever() {
    let endless = io::BufReader::new(io::repeat(b'{'));
    let error = TraceReader::begin(endless).expect_err("refused").to_string();
    assert!(error.contains("longer than 64 MiB"), "{error}");
}

#[test]
fn a_text_in_a_block_stands_for_so_many_requests_at_most() {
    let mut many = vec![request("SELECT", 5); BLOCK_REQUESTS + 1];
    let mut writer = crate::block_file::BlockWriter::begin(Vec::new(), &heading()).expect("memory");
    let batch = crate::traced_batch::RequestBatch::new(&mut many);
    let block = writer
        .block(REQUESTS_KIND, |block| postcard::to_extend(&batch, block).map_err(io::Error::other));
    block.expect("memory");
    let error = read(&writer.into_inner()).expect_err("refused").to_string();
    assert!(error.starts_with("block 1: it has 1025 requests, of at most 1024"), "{error}");
}

/// The first line of the recordings here.
fn heading() -> Vec<u8> {
    let Written { bytes, ends } = blocks(&[]);
    bytes[..ends[0]].to_vec()
}

#[test]
fn recordings_of_the_first_version_are_read() {
    let old = include_bytes!("../../../../fuzz/seeds/trace/recording");
    let (begin, mut reader) = TraceReader::begin(&old[..]).expect("a beginning");
    assert_eq!(begin.version, 1);
    let mut kinds = [0; 2];
    while let Some(part) = reader.next().expect("a line") {
        kinds[usize::from(matches!(part, RecordedPart::End(_)))] += 1;
    }
    assert!(kinds[0] > 0 && kinds[1] == 1, "{kinds:?}");
    // Timers had the number of an idle CPU's thread.
    let timer = r#"{"thread":0,"connection":null,"lock":null,"statement":null,"length_us":1}"#;
    let timer: Blocker = serde_json::from_str(timer).expect("a blocker");
    assert_eq!(timer.thread, None);
    let preempted = r#"{"thread":5,"name":"sh","length_us":0.007}"#;
    let preempted: Preemptor = serde_json::from_str(preempted).expect("a preemptor");
    assert_eq!(preempted, preemptor(5, "sh", 7));
}

/// They know nothing of what requests waited for in the socket, and of one pre-emptor.
#[test]
fn recordings_of_the_fourth_version_are_read() {
    let old = include_bytes!("../../../../fuzz/seeds/trace/recording_4");
    let (parts, is_cut) = read(old).expect("as it was written");
    let [RecordedPart::Requests(requests), RecordedPart::End(last)] = &parts[..] else {
        panic!("{parts:?}")
    };
    let of_then = |text: &str, nanos| TracedRequest {
        server_queue: None,
        queue_parts: None,
        preemptors: vec![preemptor(5, "sh", 7)],
        ..request(text, nanos)
    };
    assert_eq!(requests[..], [of_then("SELECT", 5), of_then("COMMIT", 9)]);
    assert_eq!((&**last, is_cut), (&end(), false));
}

/// Requests in a block have no names: another layout is another version.
#[test]
fn the_seed_for_fuzzing_is_a_recording_of_this_version() {
    let seed = include_bytes!("../../../../fuzz/seeds/trace/recording_5");
    let bytes = blocks(&[request("SELECT", 5), request("COMMIT", 9)]).bytes;
    assert!(seed[..] == bytes, "count VERSION up, and write the seed anew");
}

/// PostgreSQL's by a number that is not the process's in a container. Recordings of before that was
/// known have the process alone.
#[test]
fn a_connection_is_called_as_its_server_calls_it() {
    use crate::traced::SessionLogin;
    let login = |id| Some(std::sync::Arc::new(SessionLogin { id, ..SessionLogin::default() }));
    let of = |login| TracedRequest { login, ..request("DO 1", 5) };
    let ids = [None, login(None), login(Some(7))].map(|login| of(login).server_id());
    assert_eq!(ids, [None, Some(2), Some(7)]);
    let one = of(login(Some(7)));
    for form in [blocks, lines] {
        let Written { bytes, .. } = form(std::slice::from_ref(&one));
        let (parts, _) = read(&bytes).expect("as it was written");
        assert_eq!(parts[0], RecordedPart::Requests(vec![one.clone()]));
    }
}

/// The thread's waits may have begun a moment before the request was seen to come.
#[test]
fn no_line_tells_more_of_a_time_in_the_socket_than_there_was() {
    let queue_parts = ServerQueueParts { runq_woken: Nanos(5), ..ServerQueueParts::default() };
    let odd = TracedRequest { queue_parts: Some(queue_parts), ..request("DO 1", 5) };
    let (parts, _) = read(&lines(&[odd]).bytes).expect("as it was written");
    let within = ServerQueueParts { runq_woken: Nanos(3), ..queue_parts };
    let told = TracedRequest { queue_parts: Some(within), ..request("DO 1", 5) };
    assert_eq!(parts[0], RecordedPart::Requests(vec![told]));
}

#[test]
fn what_requests_share_is_there_once() {
    let login = std::sync::Arc::new(crate::traced::SessionLogin::default());
    let one = TracedRequest { login: Some(login), ..request(&"long ".repeat(99), 5) };
    let size = |count: usize| blocks(&vec![one.clone(); count]).bytes.len();
    assert!(size(11) - size(1) < 10 * 130, "{} bytes", size(11) - size(1));
}

proptest! {
    #[test]
    fn what_is_written_is_read_up_to_where_it_was_cut(
        text: String, nanos in 0u64..1 << 50, at: prop::sample::Index
    ) {
        let request = request(&text, nanos);
        for form in [blocks, lines] {
            let Written { bytes, ends } = form(std::slice::from_ref(&request));
            let (parts, is_cut) = read(&bytes).expect("as it was written");
            let expected = [
                RecordedPart::Requests(vec![request.clone()]),
                RecordedPart::End(Box::new(end())),
            ];
            prop_assert_eq!((&parts[..], is_cut), (&expected[..], false));
            let behind = [&bytes[..], text.as_bytes()].concat();
            prop_assert_eq!(read(&behind).expect("as it was written").0, expected.clone());
            let length = at.index(bytes.len());
            if let Ok((parts, is_cut)) = read(&bytes[..length]) {
                prop_assert!(expected.starts_with(&parts));
                prop_assert_eq!(is_cut, !ends.contains(&length));
            }
            // Of a line of which a single byte is left, too.
            prop_assert!(read(&bytes[..ends[0] + 1]).expect("a beginning").1);
        }
    }
}
