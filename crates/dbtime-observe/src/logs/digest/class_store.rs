//! The classes by their texts, in bounded memory.

use super::class_sums::ClassSums;
use rustc_hash::FxHashMap;

/// The classes, of which the rarest are merged into one when there are too many: nothing is lost
/// but their names. A class that comes again after that is a new one.
#[derive(Debug)]
pub(super) struct ClassStore {
    /// Oldest first.
    sums: Vec<ClassSums>,
    /// Where each class is among them.
    places: FxHashMap<Box<str>, u32>,
    text_bytes: usize,
    next_serial: u32,
    max_classes: usize,
    max_text_bytes: usize,
    merged: MergedClasses,
}

/// The classes that were merged.
#[derive(Debug, Default)]
pub(super) struct MergedClasses {
    /// Their sums; `None`: there are none.
    pub(super) sums: Option<ClassSums>,
    /// How many there were.
    pub(super) count: u64,
}

impl ClassStore {
    pub(super) fn new(max_classes: usize, max_text_bytes: usize) -> Self {
        Self {
            sums: Vec::new(),
            places: FxHashMap::default(),
            text_bytes: 0,
            next_serial: 0,
            max_classes: max_classes.max(1),
            max_text_bytes,
            merged: MergedClasses::default(),
        }
    }

    /// Where the class with a text is, and whether it is new.
    pub(super) fn place(&mut self, text: &str) -> (usize, bool) {
        if let Some(place) = self.places.get(text) {
            return (*place as usize, false);
        }
        let place = self.sums.len();
        self.sums.push(ClassSums::new(self.next_serial));
        self.next_serial = self.next_serial.wrapping_add(1);
        self.places.insert(text.into(), place as u32);
        self.text_bytes += text.len();
        (place, true)
    }

    /// The class at a place.
    pub(super) fn class(&mut self, place: usize) -> &mut ClassSums {
        &mut self.sums[place]
    }

    /// The classes that are counted apart.
    pub(super) fn classes(&self) -> &[ClassSums] {
        &self.sums
    }

    /// Merges rare classes while there are too many or their texts are too long; returns whether
    /// any was merged. Places change.
    pub(super) fn shrink(&mut self) -> bool {
        let is_over = |store: &Self| {
            let is_long = store.text_bytes > store.max_text_bytes && store.sums.len() > 1;
            store.sums.len() > store.max_classes || is_long
        };
        let is_merged = is_over(self);
        while is_over(self) {
            self.merge_rare();
        }
        is_merged
    }

    /// Merges the rarer half of the older half: young classes had no time to become frequent.
    fn merge_rare(&mut self) {
        let older = (self.sums.len() / 2).max(1);
        let mut rare: Vec<usize> = (0..older).collect();
        rare.sort_by_key(|place| (self.sums[*place].count, *place));
        rare.truncate((older / 2).max(1));
        rare.sort_unstable();
        let mut moved = Vec::with_capacity(self.sums.len());
        let mut kept = Vec::with_capacity(self.sums.len());
        for (place, sums) in std::mem::take(&mut self.sums).into_iter().enumerate() {
            if rare.binary_search(&place).is_ok() {
                moved.push(None);
                self.merged.add(&sums);
            } else {
                moved.push(Some(kept.len() as u32));
                kept.push(sums);
            }
        }
        self.sums = kept;
        self.places.retain(|text, place| match moved[*place as usize] {
            Some(now) => {
                *place = now;
                true
            }
            None => {
                self.text_bytes -= text.len();
                false
            }
        });
    }

    /// The classes with their texts: largest total time first, then count, then text; and those
    /// that were merged. None is left.
    pub(super) fn finish(&mut self) -> (Vec<(Box<str>, ClassSums)>, MergedClasses) {
        let places = std::mem::take(&mut self.places);
        let mut texts: Vec<(u32, Box<str>)> =
            places.into_iter().map(|(text, place)| (place, text)).collect();
        texts.sort_unstable_by_key(|(place, _)| *place);
        let texts = texts.into_iter().map(|(_, text)| text);
        let sums = std::mem::take(&mut self.sums);
        let mut classes: Vec<(Box<str>, ClassSums)> = texts.zip(sums).collect();
        classes.sort_by(|(a_text, a), (b_text, b)| {
            let by_time = b.total_ns().cmp(&a.total_ns()).then(b.count.cmp(&a.count));
            by_time.then_with(|| a_text.cmp(b_text))
        });
        (classes, std::mem::take(&mut self.merged))
    }
}

impl MergedClasses {
    fn add(&mut self, sums: &ClassSums) {
        self.sums.get_or_insert_default().merge(sums);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use crate::logs::digest::seen::SeenRecord;

    fn add(store: &mut ClassStore, text: &str) -> bool {
        let (place, _) = store.place(text);
        store.class(place).add(&SeenRecord::of(&JoinedRecord::default(), 0), false);
        store.shrink()
    }

    #[test]
    fn rare_old_classes_are_merged_and_nothing_is_lost() {
        let mut store = ClassStore::new(100, usize::MAX);
        for at in 0..1000u32 {
            add(&mut store, "often");
            add(&mut store, &format!("class {at}"));
        }
        let (classes, merged) = store.finish();
        assert!(classes.len() <= 100, "{}", classes.len());
        assert_eq!((&*classes[0].0, classes[0].1.count), ("often", 1000));
        assert!(classes.iter().any(|(text, _)| **text == *"class 999"));
        let kept: u64 = classes.iter().map(|(_, sums)| sums.count).sum();
        let of_merged = merged.sums.map_or(0, |sums| sums.count);
        assert_eq!((kept + of_merged, of_merged), (2000, merged.count));
    }

    #[test]
    fn places_are_right_after_merging() {
        let mut store = ClassStore::new(4, usize::MAX);
        for text in ["a", "b", "b", "c", "c", "d", "d"] {
            assert!(!add(&mut store, text));
        }
        assert!(add(&mut store, "e"));
        assert_eq!(store.place("b"), (0, false));
        assert_eq!(store.place("e"), (3, false));
        assert_eq!(store.classes().len(), 4);
        assert_eq!(store.place("a"), (4, true));
    }

    #[test]
    fn long_texts_are_bounded() {
        let mut store = ClassStore::new(1000, 10_000);
        for at in 0..100 {
            add(&mut store, &format!("{at:0>1000}"));
            assert!(store.text_bytes <= 10_000);
        }
        let (classes, merged) = store.finish();
        assert_eq!(classes.len() as u64 + merged.count, 100);
    }
}
