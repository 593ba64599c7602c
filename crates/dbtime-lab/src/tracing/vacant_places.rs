//! Ports and sockets on which watched servers listened that have ended: who restarts a server has
//! it listen there again, under another process number.

use dbtime_observe::process::ProcessSelector;
use dbtime_observe::trace::TracedServer;
use std::time::{Duration, Instant};

/// So often it is looked who listens there, while nobody does: a look goes through all processes.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// A place, and since when nobody may be there.
#[derive(Debug)]
struct VacantPlace {
    place: ProcessSelector,
    since: Instant,
}

/// The places.
#[derive(Debug, Default)]
pub(super) struct VacantPlaces {
    places: Vec<VacantPlace>,
    /// When it was looked last.
    searched_at: Option<Instant>,
}

impl VacantPlaces {
    /// Whether every server that was sought by its place is there.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A server has ended that was sought by this place, if by any, and was there at this moment.
    pub(super) fn extend(&mut self, place: Option<ProcessSelector>, since: Instant) {
        self.places.extend(place.map(|place| VacantPlace { place, since }));
    }

    /// Looks with `find` who is at each place, where that was not done a moment ago. Returns those
    /// who are, and since when nobody may have been; their places are vacant no more.
    pub(super) fn search(
        &mut self,
        mut find: impl FnMut(&ProcessSelector) -> Vec<TracedServer>,
    ) -> Vec<(TracedServer, Instant)> {
        let is_due = self.searched_at.is_none_or(|at| at.elapsed() >= SEARCH_INTERVAL);
        if self.places.is_empty() || !is_due {
            return Vec::new();
        }
        self.searched_at = Some(Instant::now());
        let mut found = Vec::new();
        self.places.retain(|VacantPlace { place, since }| {
            let servers = find(place);
            let is_vacant = servers.is_empty();
            found.extend(servers.into_iter().map(|server| (server, *since)));
            is_vacant
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::WireProtocol;

    fn server(process: u32, place: &ProcessSelector) -> TracedServer {
        TracedServer {
            process,
            program: "postgres".to_owned(),
            protocol: WireProtocol::Postgres,
            processes: vec![process],
            ports: vec![5432],
            inner_process: None,
            place: Some(place.clone()),
        }
    }

    #[test]
    fn a_place_is_vacant_until_somebody_listens_there() {
        let mut vacant = VacantPlaces::default();
        let since = Instant::now();
        vacant.extend(None, since);
        assert!(vacant.is_empty() && vacant.search(|_| panic!("nothing is sought")).is_empty());
        let port = ProcessSelector::Port(5432);
        vacant.extend(Some(port.clone()), since);
        assert!(!vacant.is_empty() && vacant.search(|_| Vec::new()).is_empty());
        vacant.searched_at = None;
        let found = vacant.search(|place| vec![server(7, place)]);
        assert!(vacant.is_empty(), "it is not sought any more");
        assert_eq!(found, [(server(7, &port), since)], "as long as it may have been");
    }

    #[test]
    fn a_place_is_not_looked_at_all_the_time() {
        let mut vacant = VacantPlaces::default();
        vacant.extend(Some(ProcessSelector::Port(5432)), Instant::now());
        vacant.searched_at = Some(Instant::now() + SEARCH_INTERVAL);
        assert!(vacant.search(|_| panic!("a moment ago")).is_empty());
        assert!(!vacant.is_empty());
    }
}
