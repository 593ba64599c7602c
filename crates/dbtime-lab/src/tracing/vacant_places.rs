//! Ports and sockets on which watched servers listened that have ended: who restarts a server has
//! it listen there again, under another process number.

use dbtime_observe::process::{ProcessError, ProcessSelector};
use dbtime_observe::trace::{TraceError, TracedServer};
use std::time::{Duration, Instant};

/// So often it is looked who listens there, at first.
const EAGER_INTERVAL: Duration = Duration::from_millis(40);

/// For so long: servers are mostly back by then.
const EAGER_WINDOW: Duration = Duration::from_secs(30);

/// So often later.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// A look goes through all processes: no sooner than after so many times as long as it took.
const REST_FACTOR: u32 = 10;

#[derive(Debug)]
struct VacantPlace {
    place: ProcessSelector,
    /// When its server was found to have ended.
    vacated: Instant,
    /// When nobody was there for the last time who may not have been seen.
    since: Instant,
}

#[derive(Debug, Default)]
pub(super) struct VacantPlaces {
    places: Vec<VacantPlace>,
    /// When it is looked again; `None`: at once.
    due: Option<Instant>,
}

impl VacantPlaces {
    /// Whether every server that was sought by its place is there.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A server has ended that was sought by this place, if by any, and was there at this moment.
    pub(super) fn extend(&mut self, place: Option<ProcessSelector>, since: Instant) {
        let Some(place) = place else { return };
        self.places.push(VacantPlace { place, vacated: Instant::now(), since });
        self.due = None;
    }

    /// Looks with `find` who is at each place, where that was not done a moment ago. Returns those
    /// who are, and when nobody was for the last time; their places are vacant no more.
    pub(super) fn search(
        &mut self,
        mut find: impl FnMut(&ProcessSelector) -> Result<Vec<TracedServer>, TraceError>,
    ) -> Vec<(TracedServer, Instant)> {
        let begun = Instant::now();
        if self.places.is_empty() || self.due.is_some_and(|due| begun < due) {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.places.retain_mut(|VacantPlace { place, since, .. }| {
            let looked = Instant::now();
            match find(place) {
                Ok(servers) => {
                    let is_vacant = servers.is_empty();
                    found.extend(servers.into_iter().map(|server| (server, *since)));
                    is_vacant
                }
                // Whoever is none that is meant may hand on, or be about to become it.
                Err(error) => {
                    if is_nobody(&error) {
                        *since = looked;
                    }
                    true
                }
            }
        });
        self.due = Some(Instant::now() + self.rest(begun.elapsed()));
        found
    }

    /// How long nobody looks, after a look that took so long.
    fn rest(&self, took: Duration) -> Duration {
        let is_new = |place: &VacantPlace| place.vacated.elapsed() < EAGER_WINDOW;
        let interval =
            if self.places.iter().any(is_new) { EAGER_INTERVAL } else { SEARCH_INTERVAL };
        interval.max(took.saturating_mul(REST_FACTOR))
    }
}

/// Whether nobody listens there at all.
fn is_nobody(error: &TraceError) -> bool {
    let TraceError::Process(error) = error else { return false };
    matches!(error, ProcessError::NoListener(_) | ProcessError::NoSocket(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::WireProtocol;

    const PORT: ProcessSelector = ProcessSelector::Port(5432);

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

    fn nobody<T>(_: &ProcessSelector) -> Result<T, TraceError> {
        Err(ProcessError::NoListener(5432).into())
    }

    #[test]
    fn a_place_is_vacant_until_somebody_listens_there() {
        let mut vacant = VacantPlaces::default();
        let since = Instant::now();
        vacant.extend(None, since);
        assert!(vacant.is_empty() && vacant.search(|_| panic!("nothing is sought")).is_empty());
        vacant.extend(Some(PORT), since);
        let unclear = |_: &ProcessSelector| Err(TraceError::NoServer { process: 7 });
        assert!(!vacant.is_empty() && vacant.search(unclear).is_empty());
        vacant.due = None;
        let found = vacant.search(|place| Ok(vec![server(7, place)]));
        assert!(vacant.is_empty(), "it is not sought any more");
        assert_eq!(found, [(server(7, &PORT), since)], "as long as it may have been");
    }

    #[test]
    fn who_is_found_was_not_there_when_nobody_was_seen() {
        let mut vacant = VacantPlaces::default();
        vacant.extend(Some(PORT), Instant::now());
        let looked = Instant::now();
        assert!(vacant.search(nobody).is_empty());
        vacant.due = None;
        let found = vacant.search(|place| Ok(vec![server(7, place)]));
        assert!(found.iter().all(|(_, since)| *since >= looked) && found.len() == 1);
    }

    #[test]
    fn a_place_is_not_looked_at_all_the_time() {
        let mut vacant = VacantPlaces::default();
        vacant.extend(Some(PORT), Instant::now());
        assert_eq!(vacant.rest(Duration::ZERO), EAGER_INTERVAL);
        assert_eq!(vacant.rest(EAGER_INTERVAL), EAGER_INTERVAL * REST_FACTOR);
        // Longer than this may stand still.
        vacant.due = Some(Instant::now() + 100 * SEARCH_INTERVAL);
        assert!(vacant.search(|_| panic!("a moment ago")).is_empty());
        assert!(!vacant.is_empty());
        // Another one has just ended.
        vacant.extend(Some(ProcessSelector::Port(5433)), Instant::now());
        let mut looks = 0;
        vacant.search(|place| {
            looks += 1;
            nobody(place)
        });
        assert_eq!(looks, 2);
    }
}
