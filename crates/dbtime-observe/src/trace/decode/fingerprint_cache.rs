//! Fingerprints of statements: their texts without literals.

use dbtime_sql::LexicalRules;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Texts of which the fingerprint is kept.
const MAX_KEPT: usize = 4096;

/// Where a text is, which stays there as long as it is kept here, and how it is read.
type TextPlace = (usize, LexicalRules);

/// Makes fingerprints. Those of texts that requests share, as executions of a prepared statement
/// do, are made once.
#[derive(Default)]
pub struct FingerprintCache {
    scratch: String,
    kept: HashMap<TextPlace, (Arc<[u8]>, Arc<str>)>,
}

/// Without the texts, which have their literals.
impl fmt::Debug for FingerprintCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FingerprintCache({} texts)", self.kept.len())
    }
}

impl FingerprintCache {
    /// The fingerprint of a request's text.
    pub fn of(&mut self, text: &Arc<str>, rules: &LexicalRules) -> Arc<str> {
        match Arc::strong_count(text) {
            1 => self.make(text.as_bytes(), rules),
            _ => self.keep(Arc::from(Arc::clone(text)), rules),
        }
    }

    /// The fingerprint of a request's text, which may be in any charset.
    pub(crate) fn of_bytes(&mut self, text: &Arc<[u8]>, rules: &LexicalRules) -> Arc<str> {
        match Arc::strong_count(text) {
            1 => self.make(text, rules),
            _ => self.keep(Arc::clone(text), rules),
        }
    }

    /// The fingerprint of a text.
    pub fn make(&mut self, text: &[u8], rules: &LexicalRules) -> Arc<str> {
        dbtime_sql::fingerprint(text, rules, &mut self.scratch);
        Arc::from(self.scratch.as_str())
    }

    /// The fingerprint of a text that comes again.
    fn keep(&mut self, text: Arc<[u8]>, rules: &LexicalRules) -> Arc<str> {
        let place = (Arc::as_ptr(&text).cast::<u8>() as usize, *rules);
        if let Some((_, made)) = self.kept.get(&place) {
            return Arc::clone(made);
        }
        let made = self.make(&text, rules);
        if self.kept.len() == MAX_KEPT {
            self.kept.clear();
        }
        self.kept.insert(place, (text, Arc::clone(&made)));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_made_once_and_what_is_not_is_not_kept() {
        let mut fingerprints = FingerprintCache::default();
        let shared: Arc<str> = "SELECT 1".into();
        let other = Arc::clone(&shared);
        let rules = LexicalRules::of_protocol(None);
        let made = fingerprints.of(&shared, &rules);
        assert_eq!(&*made, "SELECT ?");
        assert!(Arc::ptr_eq(&made, &fingerprints.of(&other, &rules)));
        assert!(Arc::ptr_eq(&made, &fingerprints.of_bytes(&other.into(), &rules)));
        drop(shared);
        for number in 0..2 * MAX_KEPT {
            let text: Arc<str> = format!("SELECT {number} FROM t{number}").into();
            let held = (number % 2 == 0).then(|| Arc::clone(&text));
            let made = fingerprints.of(&text, &rules);
            assert_eq!(*made, *format!("SELECT ? FROM t{number}"));
            drop(held);
        }
        assert!(fingerprints.kept.len() <= MAX_KEPT);
        let ends = |(text, made): &(Arc<[u8]>, Arc<str>)| text.ends_with(&made.as_bytes()[9..]);
        assert!(fingerprints.kept.values().all(ends));
    }
}
