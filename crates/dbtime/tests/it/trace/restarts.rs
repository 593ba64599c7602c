//! Servers that end and come back while they are watched.

use super::rights::pid;
use super::*;
use crate::given_server::PRODUCTS;
use dbtime_engines::drive::plan::RunStop;
use dbtime_observe::process::{ProcessSelector, is_server, only};
use rustix::process::{Signal, kill_process};

/// Whoever is meant by a place is whoever listens there, also after a restart.
#[test]
fn a_server_that_is_watched_by_its_port_or_its_socket_may_be_restarted() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let mut given = GivenServer::start(product, &[]);
        let (first, socket) = (given.server.pid(), given.server.socket().to_owned());
        let place = match product {
            Product::Postgres => socket.display().to_string(),
            _ => format!(":{}", given.server.port()),
        };
        let command = sandbox.command(&format!("trace -p {place} --json --raw-sql --strict"));
        let Some((mut tracer, _)) = Tracer::of(&sandbox, first, command) else { return };
        given.sql("SELECT 'before'");
        // A request is over when its server reads on, which one that is killed before does not.
        tracer.until_printed("SELECT 'before'", 1);
        given.server.kill();
        let waits = format!("process {first}, has ended; dbtime waits for the next on {place}");
        lines_until(&mut tracer, &waits, PATIENCE);
        given.server.restart(&|_| {}, &RunStop::default()).expect("it comes back");
        let second = only(&ProcessSelector::Socket(socket)).expect("it listens");
        assert!(second != first && is_server(second));
        let told = lines_until(&mut tracer, "which listens there now", PATIENCE).concat();
        assert!(told.contains(&format!("process {second},")), "{told}");
        let missing = ["; what it served in the ", "s before may be missing"];
        assert!(missing.iter().all(|words| told.contains(words)), "{told}");
        given.sql("SELECT 'after'");
        tracer.server = second;
        let seen = tracer.end();
        // What a client may have asked of it before it was found nobody knows.
        assert_eq!((seen.code, seen.counted("restarts")), (Some(4), 1), "{}", seen.ledger);
        assert!(seen.ledger["unwatched_us"].as_f64().is_some_and(|gap| gap > 0.0));
        for text in ["SELECT 'before'", "SELECT 'after'"] {
            seen.one(text);
        }
    }
}

/// Its number is still there: it is another's once somebody has.
#[test]
fn one_whose_end_nobody_has_asked_for_has_ended() {
    let (sandbox, given) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &given, "") else { return };
    kill_process(pid(given.server.pid()), Signal::KILL).expect("it is there");
    assert_eq!(tracer.ended().code, Some(0));
}

/// One that is meant by its number is not there any more: there is none to wait for.
#[test]
fn the_end_of_a_server_that_is_watched_by_its_number_is_the_end_of_the_trace() {
    let (sandbox, given) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut tracer) = Tracer::attach(&sandbox, &given, "") else { return };
    given.server.kill();
    let told = lines_until(&mut tracer, "every server that was watched has ended", PATIENCE);
    assert!(told.concat().contains(&format!("process {}, has ended\n", given.server.pid())));
    assert_eq!(tracer.ended().code, Some(0));
}
