//! Drives a plan over the sockets of many shards.

use super::link::NetworkLink;
use super::protocol::Protocol;
use super::reactor::SocketReactor;
use super::settings::SocketSettings;
use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::{self, ConnectedShard, DriveError};
use std::sync::Arc;

/// Drives the plan and blocks until all shards have ended. Connections that were refused are tried
/// again when they are needed.
///
/// # Errors
/// As [`shard::drive`].
pub fn drive<P: Protocol>(
    plan: &LoadPlan,
    shared: &Arc<P::Shared>,
    settings: &Arc<SocketSettings>,
    observer: &dyn LoadObserver,
    stop: &RunStop,
) -> Result<LoadResult, DriveError> {
    let link = settings.network.rate.map(|rate| Arc::new(NetworkLink::new(rate)));
    let make = |connections| {
        let shared = Arc::clone(shared);
        let settings = Arc::clone(settings);
        let mut reactor = SocketReactor::<P>::new(shared, settings, connections)
            .map_err(|error| DriveError::System(error.into()))?
            .one_of(plan.shards)
            .behind(link.clone());
        let (up, failure) =
            if plan.connects_first() { reactor.connect_all(|| stop.is_set()) } else { (0, None) };
        Ok(ConnectedShard { reactor, up, failure })
    };
    shard::drive(plan, make, observer, stop)
}
