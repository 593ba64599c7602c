//! Between client and server: on the way, and unread in the server's socket.

use crate::advice::case::{AdviceCase, trips_per_transaction};
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::us;
use dbtime_model::Part;
use dbtime_model::record::ConnectionCipher;

pub(super) const RULE: AdviceRule =
    AdviceRule::new("round_trips", &[Part::Wire, Part::ServerQueue], advise);

/// Between processes of one machine a way is shorter than this, both ways together; wake-ups by
/// themselves take tens of microseconds. Unit: microseconds.
const MIN_LONG_WAY_US: f64 = 300.0;

/// What makes up most of it: the length of the way, its number, or the server that does not read.
fn cause(case: &AdviceCase<'_>, trips: Option<f64>, unread: f64, whole: f64) -> String {
    let wire = case.sum(&[Part::Wire]);
    let load = &case.record.load;
    let is_simulated = load.network_delay_us.is_some() || load.network_bits_per_s.is_some();
    let each = trips.map(|trips| wire / trips).filter(|each| *each >= MIN_LONG_WAY_US);
    if unread > 0.5 * whole {
        return "the server was slow to read requests: its thread slept, was busy with others or \
                had no CPU"
            .to_owned();
    }
    match (is_simulated, each, trips) {
        (true, ..) => "the simulated network (--network-delay, --network-rate)".to_owned(),
        (false, Some(each), _) => {
            format!("the network, a relay or a proxy: the round trip takes {}", us(each))
        }
        (false, None, Some(trips)) if trips >= 2.0 => format!(
            "{}: each statement waits for the answer to the one before",
            trips_per_transaction(trips)
        ),
        _ => "the round trip to the server, on which the other side has to wake up".to_owned(),
    }
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let trips = case.round_trips().filter(|trips| *trips > 0.0);
    let unread = case.sum(&[Part::ServerQueue]);
    advice.because(cause(case, trips, unread, advice.mean.at_most_us));
    if let Some(trips) = trips {
        let each = us(advice.mean.at_most_us / trips);
        advice.figure(format!("{}, {each} each", trips_per_transaction(trips)));
    }
    let protocol = case.record.target.protocol.as_deref().unwrap_or_default();
    // All but one can be saved.
    let saved = trips.map(|trips| 1.0 - 1.0 / trips).filter(|saved| *saved > 0.3);
    if let Some(saved) = saved.filter(|_| !protocol.contains("pipelined")) {
        advice.bounded_step(
            "--pipeline: send statements before earlier answers come",
            saved,
            Some("the application has to do so too, and must not need an answer for the next"),
        );
    }
    if let Some(saved) = saved {
        advice.bounded_step(
            "put several rows or statements into one, or all into a procedure",
            saved,
            Some("logic moves into the database"),
        );
    }
    if is_tcp(&case.record.target.url) {
        let wire = case.sum(&[Part::Wire]) / advice.mean.at_most_us.max(1e-9);
        advice.bounded_step("use a Unix socket instead of TCP, on this one machine", wire, None);
    }
    if matches!(&case.record.target.tls, Some(tls) if *tls != ConnectionCipher::Off) {
        advice.step_at_price(
            "turn TLS off on this one machine",
            "the traffic can be read on its way",
        );
    }
    case.simulated_network(advice);
    advice.step(
        "use CPUs that are free and wake fast (shallow idle states): on one machine most of this \
         is the wake-up of the other side",
    );
    advice.figures.extend(case.foreign());
    if unread > 0.5 * advice.mean.at_most_us {
        // Not "of it": where the wire is less than nothing this is more than both.
        advice.figure(format!(
            "server_queue, {}: unread in the server's socket, because its thread was busy with \
             another request or not yet awake, or a pool had no free thread (waits of the thread \
             for a CPU are in runq)",
            us(unread)
        ));
    }
}

/// Whether the URL of a target names a host: a private server and one at a socket do not.
fn is_tcp(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let names_socket = rest.contains("socket=") || rest.contains("host=/");
    !host.is_empty() && !host.starts_with("%2F") && !host.starts_with("%2f") && !names_socket
}

#[cfg(test)]
mod tests {
    use super::is_tcp;

    #[test]
    fn sockets_are_no_hosts() {
        assert!(is_tcp("mysql://app@127.0.0.1:3306/shop"));
        assert!(is_tcp("postgres://app@db1.example/shop"));
        for url in
            ["mariadb", "mysql://app@/shop?socket=/run/mysqld.sock", "postgres://u@%2Frun/shop"]
        {
            assert!(!is_tcp(url), "{url}");
        }
    }
}
