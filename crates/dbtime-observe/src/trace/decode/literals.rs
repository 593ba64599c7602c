//! Literals are removed where bytes become texts: a text as its client sent it is a [`RawSql`],
//! which only a [`LiteralFilter`] opens. Nothing can show what `--raw-sql` has not permitted.

use super::fingerprint_cache::FingerprintCache;
use dbtime_model::traced::{BlockingTransaction, TracedRequest};
use dbtime_model::traced_totals::{StatementName, TracedTotals};
use dbtime_sql::LexicalRules;
use std::fmt;
use std::sync::Arc;

/// The text of a statement as its client sent it, literals included, with what is known of how its
/// server reads it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct RawSql {
    text: RawText,
    rules: LexicalRules,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum RawText {
    Unicode(Arc<str>),
    /// In another charset, by which alone it can be told what bytes are quotes.
    Bytes(Arc<[u8]>),
}

impl RawSql {
    /// What a client has sent.
    pub(crate) fn new(bytes: &[u8], rules: LexicalRules) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => RawText::Unicode(Arc::from(text)),
            Err(_) => RawText::Bytes(Arc::from(bytes)),
        };
        Self { text, rules }
    }

    /// No text.
    pub(crate) fn nothing() -> Self {
        Self::new(&[], LexicalRules::of_protocol(None))
    }

    /// Unit: bytes.
    pub(crate) fn len(&self) -> usize {
        match &self.text {
            RawText::Unicode(text) => text.len(),
            RawText::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether somebody else has it too.
    pub(crate) fn is_shared(&self) -> bool {
        let holders = match &self.text {
            RawText::Unicode(text) => Arc::strong_count(text),
            RawText::Bytes(bytes) => Arc::strong_count(bytes),
        };
        holders > 1
    }

    /// With its literals; what is no UTF-8 in it is replaced.
    fn reveal(&self) -> Arc<str> {
        match &self.text {
            RawText::Unicode(text) => Arc::clone(text),
            RawText::Bytes(bytes) => Arc::from(String::from_utf8_lossy(bytes)),
        }
    }
}

/// Without the text.
impl fmt::Debug for RawSql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawSql({} bytes)", self.len())
    }
}

/// What becomes of texts on their way out.
#[derive(Debug, Default)]
pub struct LiteralFilter {
    /// Whether literals stay: somebody has asked for them (`--raw-sql`).
    keeps_literals: bool,
    /// What a request's text is searched for, in small letters.
    pattern: Option<String>,
    fingerprints: FingerprintCache,
}

impl LiteralFilter {
    /// A filter that marks requests whose text holds `pattern`, however it is written.
    pub fn new(keeps_literals: bool, pattern: Option<&str>) -> Self {
        let pattern = pattern.map(str::to_ascii_lowercase);
        Self { keeps_literals, pattern, fingerprints: FingerprintCache::default() }
    }

    /// A text as it may be shown.
    pub(crate) fn open(&mut self, text: &RawSql) -> Arc<str> {
        match self.keeps_literals {
            true => text.reveal(),
            false => self.fingerprint(text),
        }
    }

    /// A text without its literals, whoever wants them: sums are those of fingerprints.
    pub(crate) fn fingerprint(&mut self, text: &RawSql) -> Arc<str> {
        match &text.text {
            RawText::Unicode(unicode) => self.fingerprints.of(unicode, &text.rules),
            RawText::Bytes(bytes) => self.fingerprints.of_bytes(bytes, &text.rules),
        }
    }

    /// Whether a text, literals included, holds what is searched for.
    pub(crate) fn is_match(&self, text: &RawSql) -> bool {
        let pattern = self.pattern.as_ref();
        pattern.is_some_and(|pattern| text.reveal().to_ascii_lowercase().contains(pattern))
    }

    /// Removes the literals of a request that was recorded with them, of whoever held its lock, and
    /// of what that had done.
    pub fn request(&mut self, request: &mut TracedRequest) {
        if let Some(pattern) = &self.pattern {
            request.is_match = request.text.to_ascii_lowercase().contains(pattern);
        }
        if self.keeps_literals {
            return;
        }
        let rules = LexicalRules::of_protocol(Some(request.protocol));
        request.text = self.fingerprints.of(&request.text, &rules);
        for one in &mut request.statements {
            one.text = self.fingerprints.of(&one.text, &rules);
        }
        let Some(blocker) = &mut request.blocker else { return };
        if let Some(text) = &mut blocker.statement {
            *text = self.fingerprints.of(text, &rules);
        }
        if let Some(transaction) = &mut blocker.transaction {
            self.transaction(Arc::make_mut(transaction), &rules);
        }
    }

    fn transaction(&mut self, transaction: &mut BlockingTransaction, rules: &LexicalRules) {
        transaction.latest.iter_mut().for_each(|text| *text = self.fingerprints.of(text, rules));
    }

    /// Removes those of sums that were recorded with them.
    pub fn totals(&mut self, totals: &mut TracedTotals) {
        if self.keeps_literals {
            return;
        }
        totals.statements.iter_mut().for_each(|row| self.name(&mut row.name));
        for row in &mut totals.lock_waits {
            self.name(&mut row.statement);
            if let Some(holder) = &mut row.holder {
                self.name(&mut holder.statement);
            }
        }
    }

    fn name(&mut self, name: &mut StatementName) {
        if let StatementName::Text(text) = name {
            *text = self.fingerprints.of(text, &LexicalRules::of_protocol(None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sessions::TracedSessions;
    use super::*;
    use crate::trace::kernel::layout::RawRequest;
    use crate::trace::kernel::layout::tests::written;
    use dbtime_model::traced::Blocker;
    use dbtime_model::traced_totals::{LockWaitTotals, StatementTotals, TracedLockHolder};
    use dbtime_wire::mysql::command::STMT_PREPARE;

    const SECRET: &str = "UPDATE t SET n = 4711 WHERE name = 'secret'";
    const SHOWN: &str = "UPDATE t SET n = ? WHERE name = ?";

    fn request() -> TracedRequest {
        let bytes = written(1, 3, SECRET.as_bytes(), |_| {});
        let raw = RawRequest::read(&bytes).expect("one of this version");
        let transaction =
            BlockingTransaction { latest: vec![SECRET.into()], ..BlockingTransaction::default() };
        let blocker = Blocker {
            statement: Some(SECRET.into()),
            transaction: Some(Arc::new(transaction)),
            ..Blocker::default()
        };
        TracedRequest {
            blocker: Some(blocker),
            ..TracedSessions::keeping_literals().decode_unfinished(&raw)
        }
    }

    fn totals() -> TracedTotals {
        let name = || StatementName::Text(SECRET.into());
        let holder =
            TracedLockHolder { connection: 1, server_id: None, has_left: false, statement: name() };
        let wait = LockWaitTotals {
            statement: name(),
            lock: None,
            holder: Some(holder),
            count: 1,
            length: dbtime_model::Nanos::ZERO,
            longest: dbtime_model::Nanos::ZERO,
        };
        let statements = vec![StatementTotals::nothing_of(name())];
        TracedTotals { statements, lock_waits: vec![wait], ..TracedTotals::default() }
    }

    #[test]
    fn a_raw_text_is_opened_by_a_filter_alone() {
        let raw = RawSql::new(SECRET.as_bytes(), LexicalRules::of_protocol(None));
        assert_eq!(format!("{raw:?}"), "RawSql(43 bytes)");
        let mut filter = LiteralFilter::new(false, Some("SECRET"));
        assert!(filter.is_match(&raw) && !filter.is_match(&RawSql::nothing()));
        assert_eq!(&*filter.open(&raw), SHOWN);
        assert_eq!(&*LiteralFilter::new(true, None).open(&raw), SECRET);
        let prepare = written(1, STMT_PREPARE, SECRET.as_bytes(), |record| record.writes = 1);
        let prepare = RawRequest::read(&prepare).expect("one of this version");
        let mut sessions = TracedSessions::new(filter, false);
        let request = sessions.take(&prepare);
        assert_eq!((&*request.text, request.is_match), (SHOWN, true));
        let kept = format!("{sessions:?}");
        assert!(kept.contains("RawSql(43 bytes)") && !kept.contains("4711"), "{kept}");
    }

    #[test]
    fn no_literal_leaves_unless_somebody_wants_it() {
        let (mut request, mut totals) = (request(), totals());
        let mut filter = LiteralFilter::new(false, Some("SECRET"));
        filter.request(&mut request);
        filter.totals(&mut totals);
        assert_eq!((&*request.text, request.is_match), (SHOWN, true), "searched before");
        let all = format!("{request:?} {totals:?}");
        assert!(!all.contains("secret") && !all.contains("4711"), "{all}");
        assert_eq!(all.matches(SHOWN).count(), 6, "{all}");
    }

    #[test]
    fn whoever_wants_them_has_them() {
        let (mut request, mut totals) = (request(), totals());
        let mut filter = LiteralFilter::new(true, Some("nothing of it"));
        filter.request(&mut request);
        filter.totals(&mut totals);
        assert!(!request.is_match);
        assert_eq!(format!("{request:?} {totals:?}").matches(SECRET).count(), 6);
    }
}
