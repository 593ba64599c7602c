//! Requests on their way between processes and into recordings, some at once: what they share is
//! there once.

use crate::ServerQueueParts;
use crate::traced::{SessionLogin, TracedRequest};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::hash::Hash;
use std::sync::Arc;

/// Some requests, whose logins, texts and parts of their queues are beside them.
///
/// Many requests come from few connections and are of few statements. The requests stay where they
/// are: moving one takes longer than writing it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestBatch<T> {
    logins: Vec<Arc<SessionLogin>>,
    texts: Vec<Arc<str>>,
    /// The places of each request's login, where it has one, and of its text.
    places: Vec<(Option<u32>, u32)>,
    requests: T,
    /// Those of each request. In recordings before version 5 there are none.
    queue_parts: Vec<Option<ServerQueueParts>>,
}

impl<'a> RequestBatch<&'a [TracedRequest]> {
    /// These requests, which lose their logins, texts and parts of their queues.
    pub fn new(requests: &'a mut [TracedRequest]) -> Self {
        let (mut logins, mut texts) = (SharedValues::default(), SharedValues::default());
        let places = requests.iter_mut().map(|request| {
            let login = request.login.take().map(|login| logins.place(login));
            (login, texts.place(std::mem::take(&mut request.text)))
        });
        let places = places.collect();
        let queue_parts = requests.iter_mut().map(|request| request.queue_parts.take()).collect();
        Self { logins: logins.values, texts: texts.values, places, requests, queue_parts }
    }
}

impl RequestBatch<Vec<TracedRequest>> {
    /// The requests, each with its login, its text and what its queue was. In a batch of another
    /// form they have none.
    pub fn into_requests(self) -> Vec<TracedRequest> {
        let Self { logins, texts, places, mut requests, queue_parts } = self;
        for (request, (login, text)) in requests.iter_mut().zip(places) {
            request.login = login.and_then(|place| logins.get(place as usize).cloned());
            request.text = texts.get(text as usize).cloned().unwrap_or_default();
        }
        for (request, parts) in requests.iter_mut().zip(queue_parts) {
            request.queue_parts = parts;
        }
        requests
    }
}

/// Values by their places, each once.
struct SharedValues<T: ?Sized> {
    values: Vec<Arc<T>>,
    places: FxHashMap<Arc<T>, u32>,
}

impl<T: ?Sized> Default for SharedValues<T> {
    fn default() -> Self {
        Self { values: Vec::new(), places: FxHashMap::default() }
    }
}

impl<T: Hash + Eq + ?Sized> SharedValues<T> {
    fn place(&mut self, value: Arc<T>) -> u32 {
        *self.places.entry(value).or_insert_with_key(|value| {
            self.values.push(Arc::clone(value));
            self.values.len() as u32 - 1
        })
    }
}
