//! The process of a server on this machine.

use dbtime_engines::server::Server;
use dbtime_engines::socket::{ExchangeBound, ServerAddress};
use dbtime_model::Nanos;
use dbtime_observe::process::{self, ProcessSelector};
use std::path::Path;

/// The process of a server on this machine. One in a container, or of another user, may not be
/// seen: then nothing is known.
pub(super) fn pid_of(server: &dyn Server) -> Option<u32> {
    let which = match server.address() {
        ServerAddress::Unix(path) => ProcessSelector::Socket(path.clone()),
        address @ ServerAddress::Tcp { port, .. } if address.is_local() => {
            ProcessSelector::Port(*port)
        }
        ServerAddress::Tcp { .. } => return None,
    };
    process::only(&which).ok()
}

/// The same of a server to be traced: where something else listens, such as a relay, it is the
/// server whose data are in the folder that it names itself.
pub(super) fn traced_pid_of(server: &dyn Server) -> Option<u32> {
    let listener = pid_of(server)?;
    if process::is_server(listener) { Some(listener) } else { behind(server).or(Some(listener)) }
}

/// How long a server is asked for its folder, which it has at hand.
const FOLDER_TIMEOUT: Nanos = Nanos::from_secs(2);

/// The server behind whatever listens. Not every user may know its folder.
fn behind(server: &dyn Server) -> Option<u32> {
    let mut admin = server.connect(&ExchangeBound::within(FOLDER_TIMEOUT)).ok()?;
    let (rows, _) = admin.query(server.dialect().data_folder_query()).ok()?;
    process::server_of(Path::new(rows.value()?))
}
