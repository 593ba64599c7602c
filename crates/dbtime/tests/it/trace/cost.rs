//! What watching takes, and less of it.

use super::*;
use crate::running::Running;

/// Two seconds of it, once watching was reduced step by step: what it takes is judged each second,
/// and the last step has to stay the last.
const STATEMENTS: u64 = 1000;

/// The last step.
const LAST: &str = "no more than it has to";

/// Asks for so many statements a second, until it is ended; it has begun when this returns.
fn load(sandbox: &Sandbox, server: &GivenServer) -> Running {
    let before = status(server, "Com_do");
    let running = sandbox.start(&format!(
        "run --query 'DO 1' --rate 500/s --time 300s --warmup 0s --connections 2 \
         --protocol text --target '{}' --no-record",
        server.target()
    ));
    let begun = Instant::now();
    while status(server, "Com_do") <= before + 50 {
        assert!(begun.elapsed() < PATIENCE, "the load does not begin");
        std::thread::sleep(Duration::from_millis(100));
    }
    running
}

/// Ends it after so many more statements; returns how many there were since `before`.
fn end_after(statements: u64, before: u64, running: Running, server: &GivenServer) -> u64 {
    let begun = Instant::now();
    while status(server, "Com_do") < before + statements {
        assert!(begun.elapsed() < PATIENCE, "the load does not go on");
        std::thread::sleep(Duration::from_millis(200));
    }
    running.interrupt();
    running.end();
    status(server, "Com_do") - before
}

#[test]
fn what_costs_too_much_is_added_up_and_then_counted() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let running = load(&sandbox, &server);
    let options = "--max-cost 0.001%";
    let Some(mut tracer) = Tracer::attach(&sandbox, &server, options) else { return };
    let before = status(&server, "Com_do");
    let mut told = lines_until(&mut tracer, LAST, PATIENCE).concat();
    let reduced = status(&server, "Com_do");
    let counted = end_after(STATEMENTS, reduced, running, &server);
    let done = reduced - before + counted;
    let (rest, printed) = tracer.interrupted();
    told += &rest;
    let end: Value =
        printed.lines().last().and_then(|line| serde_json::from_str(line).ok()).expect("JSON");
    let of = |name: &str| end["end"]["ledger"][name].as_u64().expect("a count");
    for what in ["only added up", "only counted", LAST] {
        assert_eq!(told.matches(what).count(), 1, "{what}: {told}");
    }
    // Those that came behind the last step, and others.
    assert!(of("streamed") > 0 && of("not_streamed") >= counted, "{counted}: {end}");
    assert_eq!(of("streamed") + of("not_streamed") + of("dropped"), of("ended"), "{end}");
    assert!(of("ended") >= done, "{done}: {end}");
}

#[test]
fn what_is_not_dear_is_handed_on_and_sums_end_where_counting_begins() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::start(&sandbox, &server, "--max-cost 10000%") else { return };
    RawClient::connect(&server).query("DO 1");
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert!(!out.contains("not streamed") && !out.contains("\nStatements\n"), "{out}");
    for options in ["--summary", ""] {
        let options = format!("{options} --max-cost 0.001%");
        let running = load(&sandbox, &server);
        let mut tracer = Tracer::start(&sandbox, &server, &options).expect("as before");
        lines_until(&mut tracer, LAST, PATIENCE);
        let reduced = status(&server, "Com_do");
        end_after(STATEMENTS, reduced, running, &server);
        tracer.interrupt();
        let (_, out) = tracer.printed();
        assert!(out.contains("s after that requests were only counted"), "{out}");
        // Of the second before that; there is less of it where the load stood still.
        assert!(sums::calls(&out, "DO ?") > 10, "{out}");
        assert!(options.contains("summary") || out.contains(" not streamed\n"), "{out}");
    }
    sandbox.run("trace --max-cost 2").refused(2, &["--max-cost", "2%"]);
}
