//! A request as it is shown: what the kernel has recorded of it, in the model's terms.

use crate::kernel_layout::numbers::{REQUEST_CUT, REQUEST_UNREAD};
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::traced::{AnswerTaking, SessionLogin, TextState, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, Parts, SqlDialect, WireProtocol};
use dbtime_sql::LexicalRules;
use std::sync::Arc;

/// A request with its shown text, who made it, and what the kernel has recorded of it but its
/// parts, those of its queue included.
pub(super) fn traced_request(
    raw: &RawRequest<'_>,
    login: Option<Arc<SessionLogin>>,
    text: Arc<str>,
    text_state: TextState,
) -> TracedRequest {
    let record = &raw.record;
    TracedRequest {
        connection: record.connection,
        login,
        process: record.tgid,
        thread: record.tid,
        start: MonoNanos(record.start),
        first_sent: (record.first_sent > 0).then_some(MonoNanos(record.first_sent)),
        end: MonoNanos(record.end.max(record.start)),
        command: record.command,
        executes: record.executes.into(),
        statements: Vec::new(),
        length: record.length,
        text,
        text_state,
        sent_bytes: record.sent_bytes,
        writes: record.writes,
        rows: rows(raw),
        error: raw.error(),
        protocol: raw.protocol,
        outcome: raw.outcome,
        server_queue: raw.server_queue(),
        queue_parts: None,
        parts: Parts::default(),
        other_call: raw.other_call(),
        blocker: raw.blocker.clone(),
        preemptors: raw.preemptors.clone(),
        files: raw.files.clone(),
        cache: raw.cache(),
        is_match: false,
        answer_arrived: (record.answer_arrived > 0).then_some(MonoNanos(record.answer_arrived)),
        taken: (record.taken_of > 0).then_some(AnswerTaking {
            arrived: MonoNanos(record.taken_of),
            runq: Nanos(record.taken_runq),
        }),
        stacks: Vec::new(),
    }
}

/// Of a text PostgreSQL tells of the last command alone: of what may be several nobody knows all
/// rows. Several executions the kernel's side has added up.
fn rows(raw: &RawRequest<'_>) -> Option<u64> {
    let is_end = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace();
    let may_be_several = || {
        let end = raw.text.iter().rposition(|byte| !is_end(byte)).unwrap_or(0);
        raw.has(REQUEST_CUT | REQUEST_UNREAD) || has_semicolon(&raw.text[..end])
    };
    let is_text = raw.protocol == WireProtocol::Postgres && raw.record.command == b'Q';
    raw.rows().filter(|_| !is_text || !may_be_several())
}

/// Whether there is one outside of literals and comments, or may be.
fn has_semicolon(text: &[u8]) -> bool {
    let rules = LexicalRules::unknown(SqlDialect::Postgres);
    text.contains(&b';') && dbtime_sql::may_have_several(text, &rules)
}
