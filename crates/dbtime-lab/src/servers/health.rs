//! Whether a server answers: one login over its socket.

use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{Server, ServerError};
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::Nanos;

/// How long one answer may take; a server that is still starting is tried again.
const PROBE_TIMEOUT: Nanos = Nanos::from_secs(2);

/// Codes of failures that a server has while it starts: nothing listens yet, or it says so itself.
const STARTING: [&str; 8] = [
    "ENOENT",
    "ECONNREFUSED",
    "ECONNRESET",
    "EPIPE",
    "closed",
    "timeout",
    "connect timeout",
    // PostgreSQL's "cannot connect now".
    "57P03",
];

/// What became of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HealthStatus {
    /// It is welcome.
    Ready,
    /// There is no answer, or that it is still starting.
    NotYet,
    /// It is not, for this reason.
    Refused(String),
}

/// Logs in to a server, and out again; `stop` ends it early.
pub(super) fn probe(server: &dyn Server, stop: &RunStop) -> HealthStatus {
    match server.connect(&ExchangeBound::within(PROBE_TIMEOUT).or_until(stop)) {
        Ok(_) => HealthStatus::Ready,
        Err(error) if error.is_interrupted() => HealthStatus::NotYet,
        Err(ServerError::Connect { failure, .. }) => {
            match STARTING.contains(&failure.code.as_str()) {
                true => HealthStatus::NotYet,
                false => HealthStatus::Refused(failure.message),
            }
        }
        Err(error) => HealthStatus::Refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::login::PrivateLogin;
    use super::super::product::package;
    use super::*;
    use dbtime_model::Product;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    /// What becomes of a login to a server that sends this, whatever it receives.
    fn answer(product: Product, sent: &'static [u8]) -> HealthStatus {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).expect("it listens");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            // Whoever waits for no longer than a probe does may have gone.
            let _ = stream.write_all(sent);
            // Who goes with something unread breaks the connection.
            let _ = stream.read(&mut [0; 4096]);
        });
        let login = PrivateLogin::new(package(product).expect("there is one")).expect("drawn");
        let answer = probe(&*login.server(&path), &RunStop::default());
        server.join().expect("no panic");
        answer
    }

    #[test]
    fn a_server_that_starts_is_not_ready_yet() {
        let login =
            PrivateLogin::new(package(Product::Mariadb).expect("there is one")).expect("drawn");
        let nowhere = login.server("/nowhere/s".as_ref());
        assert_eq!(probe(&*nowhere, &RunStop::default()), HealthStatus::NotYet);
        for product in Product::SERVERS {
            assert_eq!(answer(product, b""), HealthStatus::NotYet);
        }
        let starting = b"E\0\0\0\x1dSFATAL\0VFATAL\0C57P03\0Mx\0\0";
        assert_eq!(answer(Product::Postgres, starting), HealthStatus::NotYet);
    }

    /// Why it is refused. This process may stand still for longer than a probe waits.
    fn refusal(product: Product, sent: &'static [u8]) -> String {
        let why = |answer: HealthStatus| match answer {
            HealthStatus::Refused(why) => Some(why),
            HealthStatus::Ready | HealthStatus::NotYet => None,
        };
        (0..5).find_map(|_| why(answer(product, sent))).expect("refused")
    }

    #[test]
    fn a_server_that_refuses_gives_its_reason() {
        let full = b"\x0a\0\0\0\xff\x10\x04no room";
        let why = refusal(Product::Mysql, full);
        assert!(why.contains("no room"), "{why}");
        let gone = b"E\0\0\0\x20SFATAL\0VFATAL\0C3D000\0Mgone\0\0";
        let why = refusal(Product::Postgres, gone);
        assert!(why.contains("gone"), "{why}");
    }
}
