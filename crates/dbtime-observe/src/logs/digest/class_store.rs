//! The classes by their texts, in bounded memory.

use super::class_sums::ClassSums;
use super::seen::SeenRecord;
use super::stored_class::StoredClass;
use rustc_hash::FxHashMap;

/// One in so many classes may have sums, which take several times as much memory as the records of
/// a class without.
const SUMMED_SHARE: usize = 4;

/// The classes, of which the rarest are merged into one when there are too many: nothing is lost
/// but their names. A class that comes again after that is a new one.
#[derive(Debug)]
pub(super) struct ClassStore {
    /// Oldest first.
    classes: Vec<StoredClass>,
    /// How many of them have sums.
    summed: usize,
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
            classes: Vec::new(),
            summed: 0,
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
        let place = self.classes.len();
        self.classes.push(StoredClass::new(self.next_serial));
        self.next_serial = self.next_serial.wrapping_add(1);
        self.places.insert(text.into(), place as u32);
        self.text_bytes += text.len();
        (place, true)
    }

    /// The class at a place.
    pub(super) fn class(&mut self, place: usize) -> &mut StoredClass {
        &mut self.classes[place]
    }

    /// Adds a record to the class at a place; with `is_raw`, samples have its text.
    pub(super) fn add(&mut self, place: usize, seen: &SeenRecord<'_>, is_raw: bool) {
        self.summed += usize::from(self.classes[place].add(seen, is_raw));
    }

    /// The classes that are counted apart.
    pub(super) fn classes(&self) -> &[StoredClass] {
        &self.classes
    }

    /// Merges rare classes while there are too many, too many with sums, or their texts are too
    /// long; returns whether any was merged. Places change.
    pub(super) fn shrink(&mut self) -> bool {
        let count = self.classes.len();
        while self.is_over() {
            let rare = self.rare(|_| true);
            self.merge(&rare);
        }
        while self.summed > (self.max_classes / SUMMED_SHARE).max(1) {
            let rare = self.rare(StoredClass::is_summed);
            self.merge(&rare);
        }
        self.classes.len() < count
    }

    fn is_over(&self) -> bool {
        let is_long = self.text_bytes > self.max_text_bytes && self.classes.len() > 1;
        self.classes.len() > self.max_classes || is_long
    }

    /// The places, in their order, of the rarer half of the older half of such classes, at least
    /// one: young classes had no time to become frequent.
    fn rare(&self, is_such: fn(&StoredClass) -> bool) -> Vec<usize> {
        let places = 0..self.classes.len();
        let mut rare: Vec<usize> = places.filter(|at| is_such(&self.classes[*at])).collect();
        rare.truncate((rare.len() / 2).max(1));
        rare.sort_by_key(|place| (self.classes[*place].count(), *place));
        rare.truncate((rare.len() / 2).max(1));
        rare.sort_unstable();
        rare
    }

    /// Merges the classes at these places, which are in their order.
    fn merge(&mut self, rare: &[usize]) {
        let mut moved = Vec::with_capacity(self.classes.len());
        let mut kept = Vec::with_capacity(self.classes.len());
        for (place, class) in std::mem::take(&mut self.classes).into_iter().enumerate() {
            if rare.binary_search(&place).is_ok() {
                moved.push(None);
                self.summed -= usize::from(class.is_summed());
                self.merged.add(class);
            } else {
                moved.push(Some(kept.len() as u32));
                kept.push(class);
            }
        }
        self.classes = kept;
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
    pub(super) fn finish(&mut self) -> (Vec<(Box<str>, StoredClass)>, MergedClasses) {
        let places = std::mem::take(&mut self.places);
        let mut texts: Vec<(u32, Box<str>)> =
            places.into_iter().map(|(text, place)| (place, text)).collect();
        texts.sort_unstable_by_key(|(place, _)| *place);
        let texts = texts.into_iter().map(|(_, text)| text);
        let stored = std::mem::take(&mut self.classes);
        self.summed = 0;
        let mut classes: Vec<(Box<str>, StoredClass)> = texts.zip(stored).collect();
        classes.sort_by(|(a_text, a), (b_text, b)| {
            let by_time = b.total_ns().cmp(&a.total_ns()).then(b.count().cmp(&a.count()));
            by_time.then_with(|| a_text.cmp(b_text))
        });
        (classes, std::mem::take(&mut self.merged))
    }
}

impl MergedClasses {
    fn add(&mut self, class: StoredClass) {
        self.sums.get_or_insert_default().merge(&class.into_sums());
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;

    fn add(store: &mut ClassStore, text: &str) -> bool {
        let (place, _) = store.place(text);
        store.add(place, &SeenRecord::of(&JoinedRecord::default(), 0), false);
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
        assert_eq!((&*classes[0].0, classes[0].1.count()), ("often", 1000));
        assert!(classes.iter().any(|(text, _)| **text == *"class 999"));
        let kept: u64 = classes.iter().map(|(_, class)| class.count()).sum();
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
    fn classes_with_sums_are_bounded_and_the_others_stay() {
        let mut store = ClassStore::new(100, usize::MAX);
        for at in 0..40u32 {
            add(&mut store, &format!("once {at}"));
            for _ in 0..10 + at {
                add(&mut store, &format!("often {at}"));
                assert!(store.summed <= 25, "{}", store.summed);
            }
        }
        let (classes, merged) = store.finish();
        let of = |name: &str| classes.iter().filter(|(text, _)| text.starts_with(name)).count();
        assert!(of("once") == 40 && (1..=25).contains(&of("often")), "{}", of("often"));
        let kept: u64 = classes.iter().map(|(_, class)| class.count()).sum();
        let of_merged = merged.sums.map_or(0, |sums| sums.count);
        assert_eq!(kept + of_merged, 40 + (10..50).sum::<u64>());
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
