//! What the line of a traced request costs. Budget: 1 µs. `cargo bench -p dbtime-report`

use dbtime_model::traced::{Preemptor, QueryCache, RequestOutcome, TextState, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts, WireProtocol};
use dbtime_report::terminal::request_line;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn request() -> TracedRequest {
    let parts = Parts::of(&[(Part::Cpu, 48_123), (Part::RunqPreempted, 12_456)]);
    TracedRequest {
        connection: 3,
        login: None,
        executes: 0,
        statements: Vec::new(),
        process: 4711,
        thread: 6487,
        start: MonoNanos(12_345_678_901),
        first_sent: None,
        end: MonoNanos(12_345_739_480),
        protocol: WireProtocol::Mysql,
        command: 0x17,
        length: 23,
        text: "SELECT c FROM sbtest1 WHERE id=?".into(),
        text_state: TextState::Whole,
        sent_bytes: 130,
        writes: 1,
        rows: None,
        error: None,
        outcome: RequestOutcome::Ended,
        server_queue: Some(Nanos(7_000)),
        queue_parts: Some(ServerQueueParts { runq_woken: Nanos(5_000), ..Default::default() }),
        parts,
        other_call: None,
        blocker: None,
        preemptors: vec![Preemptor { thread: 7, name: "sh".to_owned(), length: Nanos(12_456) }],
        files: Vec::new(),
        cache: QueryCache::NotAsked,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

#[divan::bench(sample_size = 1000)]
fn one_line(bencher: Bencher) {
    let request = request();
    let mut out = String::with_capacity(1 << 16);
    bencher.bench_local(|| {
        out.clear();
        request_line(black_box(&request), MonoNanos(0), "EXECUTE", None, &mut out);
        black_box(out.len())
    });
}
