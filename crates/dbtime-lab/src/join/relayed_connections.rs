//! Connections whose ends have different names, for a relay, a proxy or a translation of addresses
//! lies between: the server's own number of a connection says which belong together.

use super::connection_timeline::ConnectionTimeline;
use dbtime_model::exchange::{ConnectionKey, StatementExchange};
use rustc_hash::FxHashMap;

/// All connections, by name.
pub(super) type ConnectionTimelines = FxHashMap<ConnectionKey, ConnectionTimeline>;

/// The names of the connections that have so far been seen at one end only, by the server's number.
#[derive(Debug, Default)]
pub(super) struct RelayedConnections {
    /// At the driver's end.
    driven: FxHashMap<u64, ConnectionKey>,
    /// At the server's end.
    served: FxHashMap<u64, ConnectionKey>,
}

impl RelayedConnections {
    /// A statement comes, on a connection of this name: moves the requests there that the server
    /// has served on the same connection under another name.
    pub(super) fn note_exchange(
        &mut self,
        key: ConnectionKey,
        exchange: &StatementExchange,
        timelines: &mut ConnectionTimelines,
    ) {
        let Some(id) = exchange.server_id.map(u64::from) else { return };
        if timelines.get(&key).is_some_and(ConnectionTimeline::is_direct) {
            return;
        }
        if self.driven.insert(id, key) == Some(key) {
            return;
        }
        let Some(other) = self.served.get(&id).filter(|other| **other != key) else { return };
        if timelines.get(other).is_none_or(ConnectionTimeline::is_drivers) {
            return;
        }
        if let Some(moved) = timelines.remove(other) {
            timelines.entry(key).or_default().take_requests(moved);
        }
    }

    /// On which connection a request is that the server has served on one of this name and number.
    pub(super) fn key_of(
        &mut self,
        key: ConnectionKey,
        server_id: Option<u64>,
        timelines: &ConnectionTimelines,
    ) -> ConnectionKey {
        let Some(id) = server_id else { return key };
        let driven = self.driven.get(&id).copied().unwrap_or(key);
        // In a network of its own what passes on to the server may have a name that the driver has.
        let is_own =
            |one: &ConnectionTimeline| one.is_drivers() && (driven == key || one.is_direct());
        if timelines.get(&key).is_some_and(is_own) {
            return key;
        }
        self.served.insert(id, key);
        let is_direct = timelines.get(&driven).is_some_and(ConnectionTimeline::is_direct);
        if is_direct { key } else { driven }
    }

    /// Forgets connections of which nothing is kept.
    pub(super) fn forget(&mut self, timelines: &ConnectionTimelines) {
        for names in [&mut self.driven, &mut self.served] {
            names.retain(|_, key| timelines.contains_key(key));
        }
    }
}
