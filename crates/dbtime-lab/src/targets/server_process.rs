//! The process of a server on this machine.

use dbtime_engines::server::Server;
use dbtime_engines::socket::{ExchangeBound, ServerAddress};
use dbtime_model::Nanos;
use dbtime_observe::process::{self, ProcessSelector, SeenClient};
use std::path::Path;

/// The process of a server that listens in this process's network. One in a container, or of
/// another user, may not be seen, and what only forwards to one is not it: then nothing is known.
pub(super) fn pid_of(server: &dyn Server) -> Option<u32> {
    let which = match server.address() {
        ServerAddress::Unix(path) => ProcessSelector::Socket(path.clone()),
        address @ ServerAddress::Tcp { port, .. } if address.is_local() => {
            ProcessSelector::Port(*port)
        }
        ServerAddress::Tcp { .. } => return None,
    };
    process::only(&which).ok().filter(|pid| !process::is_forwarder(*pid))
}

/// The same of a server to be traced. Where something else listens, or nobody who can be seen here
/// (a relay, a container whose port is forwarded), it is the server that answers, wherever on this
/// machine.
pub(crate) fn traced_pid_of(server: &dyn Server) -> Option<u32> {
    let listener = pid_of(server);
    let is_it = listener.is_some_and(process::is_server);
    if is_it { listener } else { answering(server).or(listener) }
}

/// How long a server is asked for what it has at hand.
const ANSWER_TIMEOUT: Nanos = Nanos::from_secs(2);

/// The server that answers, which two connections have to agree on: a client here of one may have
/// the name by which another, elsewhere, sees the one that asks.
fn answering(server: &dyn Server) -> Option<u32> {
    let found = other_end(server)?;
    (other_end(server) == Some(found)).then_some(found)
}

/// The server at the other end of the connection by which it is asked. One that is asked by a Unix
/// socket is known by its folder, which not every user may know.
fn other_end(server: &dyn Server) -> Option<u32> {
    let mut admin = server.connect(&ExchangeBound::within(ANSWER_TIMEOUT)).ok()?;
    let mut value = |query: &str| admin.query(query).ok()?.0.value().map(str::to_owned);
    let seen = value(server.dialect().client_address_query());
    match seen.and_then(|seen| seen.parse::<SeenClient>().ok()) {
        Some(client) => client.server(),
        None => process::server_of(Path::new(&value(server.dialect().data_folder_query())?)),
    }
}
