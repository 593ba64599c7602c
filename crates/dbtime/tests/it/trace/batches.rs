//! Several statements before a Sync, and portals of which rows are fetched bit by bit.

use super::*;
use crate::raw_postgres::RawPostgres;

const SLEEP: &str = "SELECT pg_sleep(0.05) FROM generate_series(1, 3)";

/// The texts of a request's statements.
pub(super) fn texts(request: &Value) -> Vec<&str> {
    let statements = request["statements"].as_array().expect("several");
    statements.iter().map(|one| one["text"].as_str().expect("a text")).collect()
}

/// Begins transactions until one is seen whose statements have a time each; returns how many. The
/// first sets the probes that tell, for which the kernel's grace periods may take a minute.
fn begin_until_timed(client: &mut RawPostgres, tracer: &Tracer<'_>) -> u64 {
    let begin = Instant::now();
    for nth in 1.. {
        client.begin_with(&format!("s_{nth}"), SLEEP);
        client.query("COMMIT");
        std::thread::sleep(Duration::from_millis(300));
        let printed = tracer.printed_so_far();
        let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut batches = lines.filter(|line| line["request"]["statements"].is_array());
        if batches.next_back().is_some_and(|last| figures(&last["request"], 0).1.is_some()) {
            return nth;
        }
        assert!(begin.elapsed() < PATIENCE, "no time of each: {printed}");
    }
    unreachable!("it counts on")
}

/// What is known of a statement of a request: its rows, and how long it took in milliseconds.
fn figures(request: &Value, index: usize) -> (Option<u64>, Option<f64>) {
    let one = &request["statements"][index];
    (one["rows"].as_u64(), one["length_us"].as_f64().map(|us| us / 1e3))
}

#[test]
fn each_of_several_statements_has_its_text_time_and_rows() {
    let sandbox = Sandbox::new();
    let server = GivenServer::start(Product::Postgres, &[]);
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut client = RawPostgres::connect(&server);
    let begun = begin_until_timed(&mut client, &tracer);
    let long = format!("SELECT 1 AS {}", "n".repeat(60));
    client.pipeline(&[SLEEP, &long]);
    client.both("s_1", "s_2");
    client.execute("s_2");
    assert!(client.pipeline(&["SELECT 1", "SELECT 1 / (random() * 0)::int", SLEEP]).contains('E'));
    client.terminate();
    let seen = tracer.end();
    seen.is_clean();
    parts_add_up(&seen.requests);
    let batches: Vec<&Value> =
        seen.requests.iter().filter(|request| !request["statements"].is_null()).collect();
    let [before, .., begin, long_one, both, failed] = &batches[..] else { panic!("{batches:?}") };
    for request in [before, begin] {
        assert_eq!(texts(request), ["BEGIN", SLEEP]);
        assert_eq!((&request["text"], &request["rows"]), (&SLEEP.into(), &3.into()), "{request}");
        assert_eq!((figures(request, 0).0, figures(request, 1).0), (None, Some(3)), "{request}");
    }
    // Nobody was there to see when the server turned to the second.
    assert_eq!((figures(before, 0).1, figures(before, 1).1), (None, None), "{before}");
    let (first, second) = (figures(begin, 0).1.expect("seen"), figures(begin, 1).1.expect("seen"));
    // On a busy machine the first takes a while too, in which it has no CPU.
    assert!(first < 0.5 * second + runq_ms(begin) && second >= 150.0, "{begin}");
    let response = begin["response_us"].as_f64().expect("a time") / 1e3;
    // It may lose the CPU as it sends; what is left out or counts twice is 150 ms or more.
    let apart = (first + second - response).abs();
    assert!(apart < 50.0 + runq_ms(begin), "{begin}");
    assert_eq!(long_one["text"], SLEEP, "the time counts, not the text");
    // That of the first is 150 ms and more.
    let most = 100.0 + runq_ms(long_one);
    assert!(figures(long_one, 1).1.is_some_and(|ms| ms < most), "{long_one}");
    assert_eq!(texts(both), [SLEEP, SLEEP]);
    assert_eq!((figures(both, 0).0, figures(both, 1).0), (Some(3), Some(3)), "{both}");
    assert!([0, 1].iter().all(|i| figures(both, *i).1.is_some_and(|ms| ms >= 150.0)), "{both}");
    assert_eq!(failed["error"], "22012", "{failed}");
    let rows = [0, 1, 2].map(|index| figures(failed, index).0);
    assert_eq!(rows, [Some(1), None, None], "{failed}");
    assert_eq!(figures(failed, 2).1, None, "it was not executed: {failed}");
    // A name that a later statement of a batch was given is known, too.
    assert_eq!(seen.count("E:EXECUTE", SLEEP), begun + 3, "{:?}", seen.requests);
}

#[test]
fn a_request_with_several_statements_is_added_up_under_the_longest() {
    let sandbox = Sandbox::new();
    let server = GivenServer::start(Product::Postgres, &[]);
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    let mut client = RawPostgres::connect(&server);
    for name in ["s_1", "s_2", "s_3"] {
        client.begin_with(name, SLEEP);
        client.query("COMMIT");
    }
    client.execute("s_2");
    client.terminate();
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert_eq!(sums::calls(&out, "SELECT pg_sleep(?) FROM generate_series(?, ?)"), 4, "{out}");
    assert!(!out.contains("prepared before") && !out.contains("several"), "{out}");
}

#[test]
fn what_is_fetched_of_a_portal_has_its_statement() {
    let sandbox = Sandbox::new();
    let server = GivenServer::start(Product::Postgres, &[]);
    let sql = "SELECT n FROM generate_series(1, 5) AS n";
    let talk = || {
        let mut client = RawPostgres::connect(&server);
        client.query("BEGIN");
        assert_eq!(client.open_portal("C_1", sql, 2), "12DDsZ");
        assert_eq!(client.fetch("C_1", 2), "DDsZ");
        assert_eq!(client.fetch("C_1", 2), "DCZ");
        client.terminate();
    };
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    talk();
    let seen = tracer.end();
    seen.is_clean();
    let fetches = seen.requests.iter().filter(|one| one["text"] == sql);
    let rows: Vec<_> = fetches.map(|one| (one["command"].as_str(), one["rows"].as_u64())).collect();
    assert_eq!(rows, [2, 2, 1].map(|rows| (Some("E:EXECUTE"), Some(rows))), "{:?}", seen.requests);
    let tracer = Tracer::start(&sandbox, &server, "--summary").expect("as before");
    talk();
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert_eq!(sums::calls(&out, "SELECT n FROM generate_series(?, ?) AS n"), 3, "{out}");
}
