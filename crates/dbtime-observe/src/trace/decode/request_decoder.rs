//! What the kernel's side hands over, put together into requests.

use super::blockers::BlockerTracker;
use super::naming::ServerNaming;
use super::sessions::TracedSessions;
use super::stack_collector::StackCollector;
use crate::kernel_layout::numbers::REQUEST_LOCKS;
use crate::trace::error::TraceError;
use crate::trace::kernel::layout::RawRequest;
use crate::trace::kernel::loading::map;
use crate::trace::kernel::logins::login;
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::stack_records::stack_event;
use dbtime_model::traced::TracedRequest;
use libbpf_rs::{Object, RingBuffer, RingBufferBuilder};
use std::cell::RefCell;
use std::rc::Rc;

/// Where the ring puts what it hands over.
#[derive(Default)]
pub(crate) struct RequestDecoder {
    pub(crate) sessions: TracedSessions,
    pub(crate) blockers: BlockerTracker,
    pub(crate) naming: ServerNaming,
    pub(crate) stacks: StackCollector,
    /// What nobody has taken yet.
    pub(crate) requests: Vec<TracedRequest>,
    /// Records of the kernel's side that are no request of this version.
    pub(crate) unreadable: u64,
}

impl RequestDecoder {
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        match login(bytes) {
            Some((connection, login, true)) => return self.sessions.logged_in(connection, login),
            Some((connection, login, false)) => return self.sessions.found(connection, login),
            None => {}
        }
        if let Some(event) = stack_event(bytes) {
            return self.stacks.put(event);
        }
        let Some(mut raw) = RawRequest::read(bytes) else {
            self.unreadable += 1;
            return;
        };
        self.naming.name(&mut raw);
        self.sessions.identify(&raw, &mut self.naming, false);
        let request = if raw.has(REQUEST_LOCKS) {
            self.sessions.decode_unfinished(&raw)
        } else {
            let stacks = self.stacks.take(raw.record.connection, raw.record.start, raw.record.end);
            TracedRequest { stacks, ..self.sessions.take(&raw) }
        };
        self.blockers.take(&raw, request, &mut self.requests);
    }

    /// What has come to an end, in the order of that; at the end of all everything.
    pub(crate) fn drain(&mut self, is_end: bool) -> Vec<TracedRequest> {
        self.blockers.settle(is_end, &self.sessions, &mut self.requests);
        // They are long: each is moved once.
        self.requests.sort_by_cached_key(|request| request.end);
        // The next time brings about as many: a list that grows moves all of them again and again.
        let next = Vec::with_capacity(self.requests.len());
        std::mem::replace(&mut self.requests, next)
    }
}

/// The stream of the kernel's side, which goes to `decoder` whenever it is consumed.
///
/// # Errors
/// The stream cannot be mapped.
pub(crate) fn ring(
    object: &Object,
    decoder: &Rc<RefCell<RequestDecoder>>,
) -> Result<RingBuffer<'static>, TraceError> {
    let decoder = Rc::clone(decoder);
    let stream = map(object, "stream")?;
    let mut builder = RingBufferBuilder::new();
    let added = builder.add(&stream, move |bytes| {
        decoder.borrow_mut().put(bytes);
        0
    });
    added.map_err(kernel_error)?;
    builder.build().map_err(kernel_error)
}
