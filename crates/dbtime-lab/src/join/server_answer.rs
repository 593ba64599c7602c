//! What the server was seen to answer to a statement, beside its parts.

use super::served_request::ServedRequest;
use dbtime_model::exemplar::ServedTimes;
use dbtime_model::traced::{Blocker, ErrorCode};
use std::sync::Arc;

/// What is known of a statement on the server, beside its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerAnswer {
    /// What the server calls the connection, where that is known.
    pub server_id: Option<u64>,
    /// Rows that it sent or changed, where the answer says, and says it of this statement alone.
    pub rows: Option<u64>,
    /// The server's error, where the answer begins with one.
    pub error: Option<ErrorCode>,
    /// Its longest wait for a lock; `None` also where one of several statements in one request
    /// waited.
    pub blocker: Option<Arc<Blocker>>,
    /// When and where the server dealt with it, from its first request to its last; `None`: it
    /// shared a request with others.
    pub served: Option<ServedTimes>,
    /// The name of the thread that had the CPU for longest while it could have run; likewise.
    pub preemptor: Option<Arc<str>>,
}

impl ServerAnswer {
    /// Of a statement that was alone on its connection: all these requests are its own.
    pub(super) fn of_all(requests: &[ServedRequest]) -> Self {
        let waits = requests.iter().filter_map(|request| request.waits.as_deref());
        let blockers = waits.clone().filter_map(|waits| waits.blocker.clone());
        let preemptors = waits.filter_map(|waits| waits.preemptors.first());
        let longest = preemptors.max_by_key(|preemptor| preemptor.length);
        Self {
            server_id: requests.iter().rev().find_map(|request| request.server_id),
            rows: requests.iter().rev().find_map(|request| request.rows),
            error: requests.iter().rev().find_map(|request| request.error.clone()),
            blocker: blockers.max_by_key(|blocker| blocker.length),
            served: served(requests),
            preemptor: longest.map(|preemptor| Arc::from(&*preemptor.name)),
        }
    }

    /// Of each statement of a request, in their order.
    pub(super) fn of_each(request: &ServedRequest) -> impl Iterator<Item = Self> {
        let answer = match request.slices() {
            1 => Self::of_all(std::slice::from_ref(request)),
            _ => Self { server_id: request.server_id, ..Self::default() },
        };
        std::iter::repeat_n(answer, request.slices())
    }
}

/// From the first request until the end of the last.
fn served(requests: &[ServedRequest]) -> Option<ServedTimes> {
    let (first, last) = (requests.first()?, requests.last()?);
    Some(ServedTimes {
        connection: first.connection,
        thread: last.thread,
        arrived: first.server_queue.map(|_| first.arrival()),
        start: first.start,
        end: last.end(),
    })
}
