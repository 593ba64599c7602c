//! Tests of what goes between session and reader.

use super::*;
use dbtime_model::traced::{
    AnswerTaking, Blocker, BlockingTransaction, ErrorCode, ExecutedStatement, Preemptor,
    QueryCache, RequestOutcome, SessionLogin, TextState, TracedRequest,
};
use dbtime_model::traced_batch::RequestBatch;
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::traced_stacks::TracedStack;
use dbtime_model::traced_totals::{StatementName, StatementTotals};
use dbtime_model::{Part, Parts, ServerQueueParts, WireProtocol};
use proptest::prelude::*;
use std::io::Cursor;
use std::num::NonZeroU64;
use std::sync::Arc;

/// What is written to it, to be read from its beginning.
fn written(message: &impl Serialize) -> FrameStream<Cursor<Vec<u8>>> {
    let mut stream = FrameStream::new(Cursor::new(Vec::new()));
    stream.send(message).expect("room");
    stream.flush().expect("room");
    stream.stream.get_mut().set_position(0);
    stream
}

fn stack() -> TracedStack {
    let (part, length) = (Part::Sync, Nanos(98));
    TracedStack { part, user: u64::MAX, kernel: 0, count: 1, length }
}

/// A request of which nothing is left out.
pub(in crate::tracing) fn request() -> TracedRequest {
    let statement = ExecutedStatement {
        text: "COMMIT".into(),
        text_state: TextState::Whole,
        executes: 1,
        rows: None,
        length: Some(Nanos(1_001)),
        has_others: true,
    };
    let transaction = BlockingTransaction {
        statements: 2,
        latest: vec!["UPDATE t SET n = ?".into()],
        length: Nanos(7),
        idle: Nanos(3),
    };
    let blocker = Blocker {
        thread: Some(3),
        connection: Some(4),
        server_id: Some(5),
        has_left: true,
        transaction: Some(Arc::new(transaction)),
        lock: Some("row lock".into()),
        statement: Some("COMMIT".into()),
        length: Nanos(12_345),
    };
    let login = SessionLogin {
        user: "app".to_owned(),
        database: String::new(),
        id: Some(77),
        client: Some(([127, 0, 0, 1], 4000).into()),
        client_cookie: NonZeroU64::new(12),
    };
    TracedRequest {
        connection: 1,
        process: 2,
        thread: 3,
        start: MonoNanos(u64::MAX / 3),
        first_sent: None,
        end: MonoNanos(u64::MAX / 3 + 5_000_001),
        login: Some(Arc::new(login)),
        protocol: WireProtocol::Postgres,
        command: b'Q',
        executes: 2,
        statements: vec![statement],
        length: 40,
        text: "SELECT \u{7f} ?".into(),
        text_state: TextState::Cut,
        sent_bytes: 1 << 40,
        writes: 2,
        rows: Some(3),
        error: Some(ErrorCode::SqlState("40001".to_owned())),
        outcome: RequestOutcome::Ended,
        server_queue: Some(Nanos(1)),
        queue_parts: Some(ServerQueueParts { stopped: Nanos(1), ..Default::default() }),
        parts: Parts::of(&[(Part::Cpu, 4_000_000), (Part::Other, -3)]),
        other_call: Some(23),
        blocker: Some(blocker),
        preemptors: vec![Preemptor { thread: 9, name: "kworker".to_owned(), length: Nanos(8) }],
        files: vec![FileWait {
            file: FileName::Named("ibdata1".to_owned()),
            part: Part::Sync,
            count: 1,
            length: Nanos(99),
        }],
        cache: QueryCache::Miss,
        is_match: true,
        answer_arrived: Some(MonoNanos(2_600)),
        taken: Some(AnswerTaking { arrived: MonoNanos(1_700), runq: Nanos(40) }),
        stacks: vec![stack()],
    }
}

#[test]
fn requests_arrive_as_they_were_to_the_nanosecond() {
    let mut numbered = TracedRequest { error: Some(ErrorCode::Number(1213)), ..request() };
    numbered.login = None;
    let requests = vec![request(), numbered, request()];
    let mut sent = requests.clone();
    let batch = RequestBatch::new(&mut sent);
    let received = written(&batch).receive::<RequestBatch<Vec<TracedRequest>>>();
    let received = received.expect("a message").expect("one").into_requests();
    assert_eq!(received, requests);
}

/// What fuzzing begins with are messages of today.
#[test]
fn the_seeds_for_fuzzing_are_messages() {
    let control = ErrorCode::SqlState("42\u{9b}01".to_owned());
    let with_control = TracedRequest { error: Some(control), ..request() };
    let seeds = [
        (&include_bytes!("../../../../../fuzz/seeds/reader/requests")[..], request()),
        (include_bytes!("../../../../../fuzz/seeds/reader/control_in_error"), with_control),
    ];
    for (seed, request) in seeds {
        let message = postcard::to_allocvec(&RequestBatch::new(&mut [request])).expect("room");
        assert!(*seed == message, "write it anew");
    }
}

#[test]
fn connections_and_sums_arrive_as_they_were() {
    let live = vec![LiveConnection {
        at: MonoNanos(5),
        server: Some(4711),
        // Of what is under way nobody asks for them.
        request: TracedRequest { queue_parts: None, ..request() },
        activity: ConnectionActivity::Waiting("transactionid".into()),
    }];
    let received: Option<Vec<LiveConnection>> = written(&live).receive().expect("a message");
    assert_eq!(received, Some(live));
    let mut statement = StatementTotals::nothing_of(StatementName::Text("DO ?".into()));
    statement.row = RowNumber { statement: 7, since: 9 };
    statement.totals.responses.add(300, 4);
    let totals = TracedTotals { statements: vec![statement], ..TracedTotals::default() };
    let message = TotalsMessage::from(totals.clone());
    let received: Option<TotalsMessage> = written(&message).receive().expect("a message");
    assert_eq!(received.map(TracedTotals::from), Some(totals));
}

#[test]
fn errors_keep_what_they_are() {
    let error = ReaderError::from(LabError::Trace(TraceError::NothingFound));
    let received: Option<Result<(), ReaderError>> =
        written(&Err::<(), _>(error)).receive().expect("a message");
    let error = received.expect("one").expect_err("an error");
    assert!(matches!(LabError::from(error), LabError::Trace(TraceError::NothingFound)));
}

#[test]
fn an_end_between_messages_is_one_and_within_them_is_a_fault() {
    let mut stream = written(&vec![1u32, 2, 3]);
    let whole = stream.stream.get_ref().get_ref().clone();
    assert_eq!(stream.receive::<Vec<u32>>().expect("a message"), Some(vec![1, 2, 3]));
    assert_eq!(stream.receive::<Vec<u32>>().expect("an end"), None);
    let mut cut = FrameStream::new(Cursor::new(whole[..whole.len() - 1].to_vec()));
    let error = cut.receive::<Vec<u32>>().expect_err("cut");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    let mut long = FrameStream::new(Cursor::new(vec![0xff; 9]));
    let error = long.receive::<Vec<u32>>().expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

proptest! {
    #[test]
    fn no_bytes_are_more_than_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut framed = (bytes.len() as u32).to_le_bytes().to_vec();
        framed.extend(&bytes);
        let stream = || FrameStream::new(Cursor::new(framed.clone()));
        let _ = stream().receive::<RequestBatch<Vec<TracedRequest>>>();
        let _ = stream().receive::<Result<ReaderOutcome, ReaderError>>();
        let _ = stream().receive::<Result<Vec<LiveConnection>, ReaderError>>();
        let _ = stream().receive::<ReaderCommand>();
        let _ = FrameStream::new(Cursor::new(bytes)).receive::<ReaderBegin>();
    }
}
