//! Connections of watched servers as they are at some instant.

use crate::traced::TracedRequest;
use crate::{MonoNanos, Nanos, Part};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a connection is at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveConnection {
    /// When that was seen.
    pub at: MonoNanos,
    /// The server's process, which is not always the request's; `None`: of several servers it is
    /// not known yet which one it is.
    pub server: Option<u32>,
    /// The request that is under way, with its parts so far, and `at` for its end; or its last.
    pub request: TracedRequest,
    /// Which of the two it is, and what it does now.
    pub activity: ConnectionActivity,
}

/// What a connection does now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConnectionActivity {
    /// Nothing: its last request is over.
    Idle,
    /// The request is under way, and this part of its response goes on.
    In(Part),
    /// It waits for a lock which the server calls so.
    Waiting(Cow<'static, str>),
    /// The request is under way, and that is all that is known.
    AtWork,
}

impl LiveConnection {
    /// What is not measured where nothing is known of any connection, in words.
    pub const ACTIVITIES: &str = "what connections are at";

    /// Whether a request is under way.
    pub fn is_at_work(&self) -> bool {
        self.activity != ConnectionActivity::Idle
    }

    /// Whether it waits for a lock.
    pub fn waits_for_lock(&self) -> bool {
        matches!(self.activity, ConnectionActivity::Waiting(_) | ConnectionActivity::In(Part::Lock))
    }

    /// How long its request has waited for locks, this one and those before; `None`: it waits for
    /// none now.
    pub fn lock_wait(&self) -> Option<Nanos> {
        self.waits_for_lock().then(|| self.request.parts.duration(Part::Lock))
    }
}
