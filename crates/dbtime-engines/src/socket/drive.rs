//! Drives a plan over the sockets of many shards.

use super::link::NetworkLink;
use super::protocol::Protocol;
use super::reactor::SocketReactor;
use super::settings::SocketSettings;
use crate::drive::observer::LoadObserver;
use crate::drive::plan::{LoadPlan, LoadResult, RunStop};
use crate::drive::shard::{self, ConnectedShard, DriveError};
use dbtime_model::LoginCount;
use std::sync::{Arc, Mutex, PoisonError};

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
    let tally = LoginTally::new(plan.concurrency);
    let link = settings.network.rate.map(|rate| Arc::new(NetworkLink::new(rate)));
    let make = |connections| {
        let shared = Arc::clone(shared);
        let settings = Arc::clone(settings);
        let mut reactor = SocketReactor::<P>::new(shared, settings, connections)
            .map_err(|error| DriveError::System(error.into()))?
            .one_of(plan.shards)
            .behind(link.clone());
        if !plan.connects_first() {
            return Ok(ConnectedShard { reactor, up: 0, failure: None });
        }
        let mut own = LoginCount::default();
        let counted = |count| observer.connecting(tally.advance(&mut own, count));
        let (up, failure) = reactor.connect_counted(|| stop.is_set(), counted);
        Ok(ConnectedShard { reactor, up, failure })
    };
    shard::drive(plan, make, observer, stop)
}

/// How far the connections of all shards are.
struct LoginTally(Mutex<LoginCount>);

impl LoginTally {
    fn new(all: u32) -> Self {
        Self(Mutex::new(LoginCount { all, ..LoginCount::default() }))
    }

    /// A shard's own have come to `count`. Returns how far all are.
    fn advance(&self, own: &mut LoginCount, count: LoginCount) -> LoginCount {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.up = all.up + count.up - own.up;
        all.refused = all.refused + count.refused - own.refused;
        *own = count;
        *all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connections_of_all_shards_are_counted_together() {
        let tally = LoginTally::new(8);
        let (mut one, mut other) = (LoginCount::default(), LoginCount::default());
        let count = |up, refused| LoginCount { up, refused, all: 4 };
        assert_eq!(tally.advance(&mut one, count(2, 0)), LoginCount { up: 2, refused: 0, all: 8 });
        assert_eq!(tally.advance(&mut other, count(1, 1)).waiting(), 4);
        // One that was let in is lost again.
        assert_eq!(tally.advance(&mut one, count(1, 1)), LoginCount { up: 2, refused: 2, all: 8 });
        tally.advance(&mut one, count(3, 1));
        assert_eq!(tally.advance(&mut other, count(3, 1)).waiting(), 0);
    }
}
