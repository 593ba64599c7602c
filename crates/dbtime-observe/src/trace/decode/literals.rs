//! Literals are removed where requests leave the capture: nothing behind it can show what nobody
//! has wanted to see.

use super::fingerprint_cache::FingerprintCache;
use dbtime_model::traced::{BlockingTransaction, TracedRequest};
use dbtime_model::traced_totals::{StatementName, TracedTotals};
use std::sync::Arc;

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

    /// Removes the literals of a request, of whoever held its lock, and of what that had done.
    pub fn request(&mut self, request: &mut TracedRequest) {
        if let Some(pattern) = &self.pattern {
            request.is_match = request.text.to_ascii_lowercase().contains(pattern);
        }
        if self.keeps_literals {
            return;
        }
        request.text = self.fingerprints.of(&request.text);
        for one in &mut request.statements {
            one.text = self.fingerprints.of(&one.text);
        }
        let Some(blocker) = &mut request.blocker else { return };
        if let Some(text) = &mut blocker.statement {
            *text = self.fingerprints.of(text);
        }
        if let Some(transaction) = &mut blocker.transaction {
            self.transaction(Arc::make_mut(transaction));
        }
    }

    fn transaction(&mut self, transaction: &mut BlockingTransaction) {
        transaction.latest.iter_mut().for_each(|text| *text = self.fingerprints.of(text));
    }

    /// Removes those of sums.
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
            *text = self.fingerprints.of(text);
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
            ..TracedSessions::default().decode_unfinished(&raw)
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
