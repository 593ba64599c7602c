//! Fingerprints of statements: their texts without literals.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Texts of which the fingerprint is kept.
const MAX_KEPT: usize = 4096;

/// Makes fingerprints. Those of texts that requests share, as executions of a prepared statement
/// do, are made once.
#[derive(Default)]
pub struct FingerprintCache {
    scratch: String,
    /// By where the text is, which stays there as long as it is kept here.
    kept: HashMap<usize, (Arc<str>, Arc<str>)>,
}

/// Without the texts, which have their literals.
impl fmt::Debug for FingerprintCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FingerprintCache({} texts)", self.kept.len())
    }
}

impl FingerprintCache {
    /// The fingerprint of a request's text.
    pub fn of(&mut self, text: &Arc<str>) -> Arc<str> {
        if Arc::strong_count(text) == 1 {
            return self.make(text);
        }
        let place = Arc::as_ptr(text).cast::<u8>() as usize;
        if let Some((_, made)) = self.kept.get(&place) {
            return Arc::clone(made);
        }
        let made = self.make(text);
        if self.kept.len() == MAX_KEPT {
            self.kept.clear();
        }
        self.kept.insert(place, (Arc::clone(text), Arc::clone(&made)));
        made
    }

    /// That of a text.
    pub fn make(&mut self, text: &str) -> Arc<str> {
        dbtime_sql::fingerprint(text, &mut self.scratch);
        Arc::from(self.scratch.as_str())
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
        let made = fingerprints.of(&shared);
        assert_eq!(&*made, "SELECT ?");
        assert!(Arc::ptr_eq(&made, &fingerprints.of(&other)));
        drop((shared, other));
        for number in 0..2 * MAX_KEPT {
            let text: Arc<str> = format!("SELECT {number} FROM t{number}").into();
            let held = (number % 2 == 0).then(|| Arc::clone(&text));
            assert_eq!(*fingerprints.of(&text), *format!("SELECT ? FROM t{number}"));
            drop(held);
        }
        assert!(fingerprints.kept.len() <= MAX_KEPT);
        assert!(fingerprints.kept.values().all(|(text, made)| text.ends_with(&made[9..])));
    }
}
