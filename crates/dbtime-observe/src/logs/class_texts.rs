//! The classes of a batch.

use rustc_hash::FxHashMap;

/// The texts of classes, each once. Shape: cleared and filled again.
#[derive(Debug, Default)]
pub(crate) struct ClassTexts {
    texts: Vec<Box<str>>,
    by_text: FxHashMap<Box<str>, u32>,
}

impl ClassTexts {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.by_text.clear();
    }

    /// The number of the class with this text, which is new where it was not seen yet.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        if let Some(class) = self.by_text.get(text) {
            return *class;
        }
        let class = self.texts.len() as u32;
        self.texts.push(text.into());
        self.by_text.insert(text.into(), class);
        class
    }

    /// The texts, by number.
    pub(crate) fn texts(&self) -> &[Box<str>] {
        &self.texts
    }
}

/// Names the class of a text: its fingerprint, or method and path of a request. One for each
/// worker; it may keep what it has named before.
pub(crate) trait ClassNamer: Send {
    /// Writes the name of the class of this text into `out`, which it clears first.
    fn name(&mut self, text: &[u8], out: &mut String);
}
