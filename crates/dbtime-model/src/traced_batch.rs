//! Requests on their way between processes and into recordings, some at once: what they share is
//! there once.

use crate::traced::{SessionLogin, TracedRequest};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::hash::Hash;
use std::sync::Arc;

/// Some requests, whose logins and texts are beside them.
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
}

impl<'a> RequestBatch<&'a [TracedRequest]> {
    /// These requests, which lose their logins and texts.
    pub fn new(requests: &'a mut [TracedRequest]) -> Self {
        let (mut logins, mut texts) = (SharedValues::default(), SharedValues::default());
        let places = requests.iter_mut().map(|request| {
            let login = request.login.take().map(|login| logins.place(login));
            (login, texts.place(std::mem::take(&mut request.text)))
        });
        let places = places.collect();
        Self { logins: logins.values, texts: texts.values, places, requests }
    }
}

impl RequestBatch<Vec<TracedRequest>> {
    /// The requests, each with its login and text. In a batch of another form they have none.
    pub fn into_requests(self) -> Vec<TracedRequest> {
        let Self { logins, texts, places, mut requests } = self;
        for (request, (login, text)) in requests.iter_mut().zip(places) {
            request.login = login.and_then(|place| logins.get(place as usize).cloned());
            request.text = texts.get(text as usize).cloned().unwrap_or_default();
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
