//! Where a request was: waits, samples, and what is none of it.

use super::parts::{ANSWER, QUERY};
use super::server::{WatchedServer, streamed};
use dbtime_model::traced_stacks::TracedStack;
use dbtime_model::{Nanos, Part, WireProtocol};
use dbtime_observe::trace::CaptureConfig;

/// It sleeps, until it is woken.
const INTERRUPTIBLE: u32 = 1;

fn server(stacks: bool) -> WatchedServer {
    WatchedServer::new(WireProtocol::Postgres, &CaptureConfig { stacks, ..streamed() })
}

/// Its thread sleeps so long, and runs again at once.
fn sleeps(server: &mut WatchedServer, time: u64) {
    let (task, idle) = (server.task, server.idle);
    server.capture.switch(&mut server.machine, (task, idle), INTERRUPTIBLE, false);
    server.passes(time);
    server.machine.run(idle, 0);
    server.capture.waking(&mut server.machine, task, false);
    server.capture.switch(&mut server.machine, (idle, task), 0, false);
    server.machine.run(task, 0);
}

/// What each stack was, so often and so long, in the order of first sight.
fn shown(server: &mut WatchedServer) -> Vec<(Part, u64, Nanos)> {
    let [request] = &server.requests()[..] else { panic!("one request") };
    let shown = |stack: &TracedStack| (stack.part, stack.count, stack.length);
    request.stacks.iter().map(shown).collect()
}

#[test]
fn a_request_has_its_waits_and_its_samples() {
    let mut server = server(true);
    server.capture.sample(&mut server.machine);
    server.reads(QUERY);
    server.passes(10);
    server.capture.sample(&mut server.machine);
    sleeps(&mut server, 300);
    server.capture.sample(&mut server.machine);
    sleeps(&mut server, 50);
    server.sends(ANSWER);
    server.passes(10);
    // Behind its answer, and before the server reads on.
    server.capture.sample(&mut server.machine);
    sleeps(&mut server, 1000);
    server.finds_nothing();
    server.capture.sample(&mut server.machine);
    let [(Part::Cpu, 2, Nanos(0)), (_, 2, Nanos(350))] = shown(&mut server)[..] else {
        panic!("{:?}", shown(&mut server))
    };
    assert_eq!(server.machine.rows("stacks", 0).len(), 2);
}

#[test]
fn nothing_is_kept_where_nobody_wants_stacks() {
    let mut server = server(false);
    server.reads(QUERY);
    sleeps(&mut server, 300);
    server.sends(ANSWER);
    server.finds_nothing();
    assert_eq!(shown(&mut server), []);
    assert_eq!(server.machine.rows("stacks", 0).len(), 0);
}
