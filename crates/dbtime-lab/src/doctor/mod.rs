//! What spoils figures or production: the checks behind `dbtime doctor`.

mod servers;

pub(crate) use servers::{findings_of_server, findings_of_sqlite};
pub use servers::{PlannedServerUse, server_findings};
